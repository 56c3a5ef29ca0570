// Our client against servers in the official TypeScript SDKs, over Streamable HTTP, also with `andon gateway` between
// them: they are stopped, timed out, cut off and left.
#include <andon/client/client.hpp>
#include <atomic>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <optional>

#include "built_programs.hpp"
#include "core/named_case.hpp"
#include "interop/listening_server.hpp"
#include "interop/stopped_calls.hpp"
#include "own_folder.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

struct http_server_case {
    std::string name;
    std::string program;
    std::vector<revision> revisions;
    revision expected;
    bool events;    ///< it answers in events, and tells of progress
    bool sessions;  ///< without them a posted cancel finds nothing: what stops the handler is the end of its connection
    bool behind_gateway = false;  ///< which has events and sessions of its own, and the server on stdio

    [[nodiscard]] bool asks() const {
        const bool translated = program == "v1_server.mjs" && era_of(expected) == era::modern;
        return !translated && (sessions || era_of(expected) == era::modern);
    }
};

class typescript_http_server : public testing::TestWithParam<http_server_case> {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(peers + "/node_modules")) {
            GTEST_SKIP() << "left out: peers/typescript is not installed (peers/typescript/install.sh)";
        }
        const std::string events = GetParam().events ? "1" : "0";
        std::vector<std::string> argv{"node", peers + '/' + GetParam().program};
        if (GetParam().behind_gateway) {
            argv.insert(argv.begin(),
                        {built_program("andon"), "gateway", "--port", "0", "--log-format", "human", "--"});
        } else {
            argv.insert(argv.end(), {"--http", "0"});
        }
        server_.emplace(command{.argv = argv,
                                .environment = {{"ANDON_MARKS", "1"},
                                                {"ANDON_EVENTS", events},
                                                {"ANDON_RUNTIME_DIR", folder_ / "run"},
                                                {"ANDON_STATE_DIR", folder_ / "state"}}},
                        marks_);
        url_ = server_->url();
        ASSERT_FALSE(url_.empty());
    }
    [[nodiscard]] client connect(client_options options = {}) {
        options.revisions = GetParam().revisions;
        options.log = {};
        options.probe_timeout = patience;  // what is behind a gateway may have to start first
        return client::connect_http(url_, {}, options);
    }
    [[nodiscard]] bool progresses() const { return GetParam().events || GetParam().program == "v2_server.mjs"; }

    own_folder folder_;
    marks marks_;

    std::optional<listening_server> server_;

private:
    std::string url_;
};

TEST_P(typescript_http_server, is_found_to_speak_its_revision_and_answers) {
    auto client = connect();
    EXPECT_EQ(client.speaks(), GetParam().expected);
    EXPECT_GE(client.list_tools().size(), 7U);
    for (int i = 0; i < 20; ++i) {
        const auto pending = client.call_tool("echo", {{"text", "Grüße"}});
        ASSERT_EQ(pending.get().status, call_status::completed) << pending.get().message;
        EXPECT_EQ(text_of(pending.get()), "Grüße");
    }
}

TEST_P(typescript_http_server, tells_of_progress) {
    auto client = connect();
    int seen = 0;
    const auto pending = client.call_tool("wait", {{"ms", 100}, {"tick_ms", 10}, {"key", "w"}},
                                          {.on_progress = [&](const progress_update&) { ++seen; }});
    EXPECT_EQ(text_of(pending.get()), "waited 100 ms");
    EXPECT_EQ(seen, progresses() ? 10 : 0);
}

TEST_P(typescript_http_server, SND_2_SND_4_SND_5_a_cancel_reaches_the_handler_and_the_caller_does_not_wait) {
    auto client = connect();
    expect_a_cancel_reaches_the_handler(client, marks_);
}

TEST_P(typescript_http_server, TIME_2_a_timeout_reaches_the_handler) {
    auto client = connect();
    expect_a_timeout_reaches_the_handler(client, marks_);
}

TEST_P(typescript_http_server, TIME_3_TIME_4_progress_keeps_a_call_alive_until_its_maximum) {
    auto client = connect();
    const int seen = expect_the_maximum_to_hold(client, marks_);
    EXPECT_EQ(seen > 0, progresses());
}

TEST_P(typescript_http_server, SND_1_what_a_handler_sends_after_its_cancel_is_dropped) {
    auto client = connect();
    auto pending = client.call_tool("wait_ignore", {{"ms", 200}, {"tick_ms", 5}, {"key", "i"}});
    ASSERT_TRUE(marks_.wait_for("@start i"));
    pending.cancel();
    // The handler of one that has no sessions fails at its next progress: there is no connection any more.
    if (GetParam().sessions) {
        EXPECT_TRUE(marks_.wait_for("@end i"));
    }
    EXPECT_EQ(client.call_tool("echo", {{"text", "on"}}).get().status, call_status::completed);
    EXPECT_EQ(pending.get().status, call_status::cancelled);
}

TEST_P(typescript_http_server, a_dropped_call_is_cancelled) {
    auto client = connect();
    expect_a_dropped_call_is_cancelled(client, marks_);
}

TEST_P(typescript_http_server, SND_4_SND_5_many_cancels_at_once_reach_their_handlers) {
    auto client = connect();
    std::vector<pending_call> calls;
    for (int i = 0; i < 20; ++i) calls.push_back(client.call_tool("park", {{"key", "k" + std::to_string(i)}}));
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(marks_.wait_for("@start k" + std::to_string(i)));
    for (auto& each : calls) each.cancel("Stop");
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(marks_.wait_for("@cancel k" + std::to_string(i)));
    EXPECT_EQ(client.call_tool("echo", {{"text", "on"}}).get().status, call_status::completed);
}

TEST_P(typescript_http_server, asks_and_is_answered) {
    if (!GetParam().asks()) GTEST_SKIP() << "it has no way to ask";
    client_options options;
    options.on_sampling = [&](const json::object&, const cancel_token&) -> json::object {
        return {{"role", "assistant"}, {"model", "none"}, {"content", {{"type", "text"}, {"text", "blue"}}}};
    };
    auto client = connect(options);
    EXPECT_EQ(text_of(client.call_tool("ask", {{"key", "a"}}).get()), "blue");
}

TEST_P(typescript_http_server, HTTP_2_a_stream_that_it_cuts_is_gone_on_with) {
    const http_server_case& server = GetParam();
    if (!server.events || server.behind_gateway || server.expected < revision::v2025_11_25)
        GTEST_SKIP() << "it does not";
    auto client = connect();
    const auto pending = client.call_tool("cut", {{"ms", 100}});
    ASSERT_EQ(pending.get().status, call_status::completed) << pending.get().message;
    EXPECT_EQ(text_of(pending.get()), "after the cut");
}

TEST_P(typescript_http_server, SND_2_its_death_is_told_apart_from_a_cancel) {
    auto client = connect();
    auto pending = client.call_tool("park", {{"key", "x"}});
    ASSERT_TRUE(marks_.wait_for("@start x"));
    server_->kill();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
}

INSTANTIATE_TEST_SUITE_P(
    interop, typescript_http_server,
    testing::Values(
        http_server_case{
            "v1", "v1_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_legacy, false, true},
        http_server_case{"v1_events", "v1_server.mjs", {newest_legacy}, newest_legacy, true, true},
        http_server_case{"v1_2025_03_26", "v1_server.mjs", {revision::v2025_03_26}, revision::v2025_03_26, true, true},
        http_server_case{
            "v2", "v2_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_modern, false, false},
        http_server_case{"v2_legacy", "v2_server.mjs", {newest_legacy}, newest_legacy, false, false},
        http_server_case{"v1_behind_gateway", "v1_server.mjs", {newest_legacy}, newest_legacy, true, true, true},
        http_server_case{"v1_translated", "v1_server.mjs", {newest_modern}, newest_modern, true, true, true},
        http_server_case{"v2_behind_gateway", "v2_server.mjs", {newest_modern}, newest_modern, true, true, true},
        http_server_case{
            "v2_legacy_behind_gateway", "v2_server.mjs", {newest_legacy}, newest_legacy, true, true, true}),
    by_name());

}  // namespace
}  // namespace andon
