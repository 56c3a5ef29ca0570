// Our client against servers in the official TypeScript SDKs, also with `andon wrap` between them: they are stopped,
// timed out and left.
#include <andon/client/client.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>

#include "built_programs.hpp"
#include "core/named_case.hpp"
#include "interop/stopped_calls.hpp"
#include "own_folder.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

struct server_case {
    std::string name;
    std::string program;
    std::vector<revision> revisions;
    revision expected;
    bool wrapped = false;
};

class typescript_server : public testing::TestWithParam<server_case> {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(peers + "/node_modules")) {
            GTEST_SKIP() << "left out: peers/typescript is not installed (peers/typescript/install.sh)";
        }
    }
    [[nodiscard]] client start(client_options options = {}) {
        options.revisions = GetParam().revisions;
        options.on_stderr = [this](std::string_view piece) { marks_.add(piece); };
        std::vector<std::string> argv{"node", peers + '/' + GetParam().program};
        if (GetParam().wrapped) argv.insert(argv.begin(), {built_program("andon"), "wrap", "--"});
        return client::spawn({.argv = argv,
                              .environment = {{"ANDON_MARKS", "1"},
                                              {"ANDON_RUNTIME_DIR", folder_ / "run"},
                                              {"ANDON_STATE_DIR", folder_ / "state"}}},
                             options);
    }
    own_folder folder_;
    marks marks_;
};

TEST_P(typescript_server, is_found_to_speak_its_revision_and_answers) {
    auto client = start();
    EXPECT_EQ(client.speaks(), GetParam().expected);
    EXPECT_GE(client.list_tools().size(), 7U);
    const auto pending = client.call_tool("echo", {{"text", "Grüße"}});
    ASSERT_EQ(pending.get().status, call_status::completed) << pending.get().message;
    EXPECT_EQ(text_of(pending.get()), "Grüße");
}

TEST_P(typescript_server, SND_2_SND_3_a_cancel_reaches_the_handler_and_the_caller_does_not_wait) {
    auto client = start();
    expect_a_cancel_reaches_the_handler(client, marks_);
}

TEST_P(typescript_server, TIME_2_a_timeout_reaches_the_handler) {
    auto client = start();
    expect_a_timeout_reaches_the_handler(client, marks_);
}

TEST_P(typescript_server, TIME_3_TIME_4_progress_keeps_a_call_alive_until_its_maximum) {
    auto client = start();
    const int seen = expect_the_maximum_to_hold(client, marks_);
    EXPECT_GT(seen, 0);
}

TEST_P(typescript_server, SND_1_what_a_handler_sends_after_its_cancel_is_dropped) {
    auto client = start();
    std::promise<void> first;
    auto pending = client.call_tool("wait_ignore", {{"ms", 200}, {"tick_ms", 5}, {"key", "i"}},
                                    {.on_progress = [&, told = false](const progress_update&) mutable {
                                        if (!std::exchange(told, true)) first.set_value();
                                    }});
    ASSERT_EQ(first.get_future().wait_for(patience), std::future_status::ready);
    pending.cancel();
    EXPECT_TRUE(marks_.wait_for("@end i"));
    EXPECT_EQ(client.call_tool("echo", {{"text", "on"}}).get().status, call_status::completed);
    EXPECT_EQ(pending.get().status, call_status::cancelled);
}

TEST_P(typescript_server, a_dropped_call_is_cancelled) {
    auto client = start();
    expect_a_dropped_call_is_cancelled(client, marks_);
}

TEST_P(typescript_server, asks_and_its_question_goes_with_the_call) {
    std::promise<void> asked;
    std::promise<cancel_cause> taken_back;
    client_options options;
    options.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set_value();
        token.wait();
        taken_back.set_value(token.cause());
        token.throw_if_cancelled();
        return {};
    };
    auto client = start(options);
    auto pending = client.call_tool("ask", {{"key", "a"}});
    ASSERT_EQ(asked.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(taken_back.get_future().wait_for(patience), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(
    interop, typescript_server,
    testing::Values(
        server_case{"v1", "v1_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_legacy},
        server_case{"v1_2025_03_26", "v1_server.mjs", {revision::v2025_03_26}, revision::v2025_03_26},
        server_case{"v2", "v2_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_modern},
        server_case{"v2_legacy", "v2_server.mjs", {newest_legacy}, newest_legacy},
        server_case{"v1_wrapped", "v1_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_legacy, true},
        server_case{"v2_wrapped", "v2_server.mjs", {all_revisions.begin(), all_revisions.end()}, newest_modern, true},
        server_case{"v2_legacy_wrapped", "v2_server.mjs", {newest_legacy}, newest_legacy, true}),
    by_name());

TEST(server_everything, runs_a_long_operation_until_it_is_stopped) {
    const std::string program = peers + "/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    if (!std::filesystem::exists(program)) GTEST_SKIP() << "left out: peers/typescript is not installed";
    auto client = client::spawn({.argv = {"node", program, "stdio"}}, {.on_stderr = [](std::string_view) {}});
    const json::array tools = client.list_tools();
    std::string name;
    for (const json::value& tool : tools) {
        const std::string each(tool.at("name").as_string());
        if (each.find("ong") != std::string::npos && each.find("unning") != std::string::npos) name = each;
    }
    ASSERT_FALSE(name.empty()) << json::serialize(tools);
    std::promise<void> first;
    auto pending = client.call_tool(name, {{"duration", 60}, {"steps", 600}},
                                    {.on_progress = [&, told = false](const progress_update&) mutable {
                                        if (!std::exchange(told, true)) first.set_value();
                                    }});
    ASSERT_EQ(first.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_EQ(client.call_tool("echo", {{"message", "on"}}).get().status, call_status::completed);
}

}  // namespace
}  // namespace andon
