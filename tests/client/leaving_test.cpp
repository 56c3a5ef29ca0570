// How a client begins and ends: with servers that are strange, slow, dying, or not willing to leave.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "built_programs.hpp"
#include "client/raw_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The beginning.

TEST(beginning, a_server_that_never_answers_the_probe_is_a_legacy_one) {
    raw_server raw;
    client_options options = quiet_client();
    options.probe_timeout = 50ms;
    auto server = std::async(std::launch::async, [&] {
        EXPECT_EQ(raw.read().at("method"), "server/discover");
        raw.shake(newest_legacy);
    });
    auto client = client::connect(raw.theirs(), options);
    server.get();
    EXPECT_EQ(client.speaks(), newest_legacy);
    EXPECT_EQ(client.server_info().at("name"), "raw");
}

struct refusal_case {
    std::string name;
    std::vector<revision> ours;
    json::object answer;  // to the first request: `result` or `error`
    std::string expected;
};

class no_session : public testing::TestWithParam<refusal_case> {};

TEST_P(no_session, is_an_error_that_says_why) {
    raw_server raw;
    auto server = std::async(std::launch::async, [&] {
        json::object message = GetParam().answer;
        message["jsonrpc"] = "2.0";
        message["id"] = raw.read().at("id");
        raw.write(message);
        EXPECT_TRUE(raw.read().is_null()) << "the client leaves, and asks nothing more";
    });
    try {
        static_cast<void>(client::connect(raw.theirs(), quiet_client(GetParam().ours)));
        ADD_FAILURE() << "a session that there is not";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("no session with the server: "));
        EXPECT_THAT(error.what(), HasSubstr(GetParam().expected));
    }
    server.get();
}

INSTANTIATE_TEST_SUITE_P(client, no_session,
                         testing::Values(refusal_case{"only_a_revision_of_the_future",
                                                      {newest_legacy, newest_modern},
                                                      {{"result", {{"supportedVersions", {"2031-01-01"}}}}},
                                                      R"(speaks no revision that we speak: ["2031-01-01"])"},
                                         refusal_case{"legacy_and_we_are_modern_only",
                                                      {newest_modern},
                                                      {{"error", {{"code", -32601}, {"message", "what?"}}}},
                                                      "did not answer server/discover"},
                                         refusal_case{"another_legacy_revision",
                                                      {newest_legacy},
                                                      {{"result", {{"protocolVersion", "2020-01-01"}}}},
                                                      "speaks a revision that we do not: 2020-01-01"},
                                         refusal_case{"initialize_is_refused",
                                                      {newest_legacy},
                                                      {{"error", {{"code", -32603}, {"message", "not today"}}}},
                                                      "refused initialize: not today"}),
                         by_name());

TEST(beginning, a_server_that_answers_nothing_is_given_up) {
    raw_server raw;
    client_options options = quiet_client();
    options.probe_timeout = options.connect_timeout = 20ms;
    try {
        static_cast<void>(client::connect(raw.theirs(), options));
        ADD_FAILURE() << "a session that there is not";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did not answer initialize in time"));
    }
}

struct command_case {
    std::string name;
    std::vector<std::string> argv;
    std::string expected;
};

class no_server : public testing::TestWithParam<command_case> {};

TEST_P(no_server, is_an_error_that_names_it) {
    try {
        static_cast<void>(client::spawn({.argv = GetParam().argv}, quiet_client()));
        ADD_FAILURE() << "a session that there is not";
    } catch (const std::exception& error) {
        EXPECT_THAT(error.what(), HasSubstr(GetParam().expected));
    }
    EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(client, no_server,
                         testing::Values(command_case{"not_there", {"/no/such/server"}, "/no/such/server"},
                                         command_case{"not_in_the_path", {"no-such-server"}, "no-such-server"},
                                         command_case{"exits_at_once", {"false"}, "no session with the server"},
                                         command_case{"says_nothing_of_use", {"echo", "hello"}, "no session"}),
                         by_name());

// The end.

class client_end : public testing::TestWithParam<revision> {
protected:
    raw_server raw_;
};

INSTANTIATE_TEST_SUITE_P(client, client_end, testing::Values(newest_legacy, newest_modern),
                         [](const auto& each) { return era_of(each.param) == era::legacy ? "legacy" : "modern"; });

TEST_P(client_end, SND_2_a_server_that_dies_is_told_apart_from_a_cancel) {
    auto client = raw_.connect(quiet_client({GetParam()}));
    const auto pending = client.call_tool("work");
    static_cast<void>(raw_.read());
    raw_.die();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    EXPECT_THROW(static_cast<void>(pending.value()), std::runtime_error);
    EXPECT_EQ(client.call_tool("work").get().status, call_status::disconnected);
    EXPECT_THROW(static_cast<void>(client.list_tools()), std::runtime_error);
}

TEST_P(client_end, the_last_answers_of_a_server_that_leaves_are_not_lost) {
    for (int i = 0; i < 20; ++i) {
        raw_server raw;
        auto client = raw.connect(quiet_client({GetParam()}));
        const auto first = client.call_tool("work");
        const auto second = client.call_tool("work");
        const json::value one = raw.read().at("id");
        const json::value two = raw.read().at("id");
        raw.answer_text(one, "one");
        raw.answer_text(two, "two");
        raw.die();
        EXPECT_EQ(text_of(first.get()), "one");
        EXPECT_EQ(text_of(second.get()), "two");
    }
}

TEST(client_end, the_last_answer_of_a_process_that_leaves_is_not_lost) {
    // It reads one line more than the handshake has, answers it, and is gone.
    const std::string line = R"(read a; printf '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25"}}\n';
        read b; read c; printf '{"jsonrpc":"2.0","id":16,"result":{"content":[{"text":"last words"}]}}\n')";
    for (int i = 0; i < 20; ++i) {
        auto client = client::spawn(command::shell(line), quiet_client({newest_legacy}));
        EXPECT_EQ(text_of(client.call_tool("work").get()), "last words");
    }
}

TEST_P(client_end, calls_that_are_pending_when_the_client_goes_are_over) {
    recorded<call_status> woken;
    std::optional<client> leaving = raw_.connect(quiet_client({GetParam()}));
    std::vector<std::thread> waiting;
    std::vector<pending_call> calls;
    for (int i = 0; i < 4; ++i) calls.push_back(leaving->call_tool("work"));
    for (const auto& call : calls) waiting.emplace_back([&] { woken.add(call.get().status); });
    leaving.reset();
    for (std::thread& each : waiting) each.join();
    EXPECT_THAT(woken.all(), testing::Each(call_status::cancelled));
    EXPECT_EQ(woken.all().size(), 4U);
}

TEST(client_end, close_in_a_callback_of_its_own_is_refused_and_nothing_is_lost) {
    auto [here, there] = transport_pair();
    server server({.name = "s", .log = {}});
    server.tool("tell", "", [](call& call) { call.progress(1); });
    server.serve(std::move(there));
    auto client = client::connect(std::move(here), {.log = {}});
    std::string refused;
    const auto pending = client.call_tool("tell", {}, {.on_progress = [&](const progress_update&) {
                                              try {
                                                  client.close();
                                              } catch (const std::logic_error& error) {
                                                  refused = error.what();
                                              }
                                          }});
    EXPECT_EQ(pending.get().status, call_status::completed);
    EXPECT_THAT(refused, testing::HasSubstr("cannot be called from the client's own callbacks"));
}

TEST(client_end, a_client_dropped_in_a_callback_of_its_own_is_closed_by_another_thread) {
    auto [here, there] = transport_pair();
    server server({.name = "s", .log = {}});
    server.tool("tell", "", [](call& call) {
        call.progress(1);
        call.sleep_for(std::chrono::hours(1));
    });
    server.serve(std::move(there));
    auto dropped = std::make_unique<client>(client::connect(std::move(here), {.log = {}}));
    const auto pending =
        dropped->call_tool("tell", {}, {.on_progress = [&](const progress_update&) { dropped.reset(); }});
    EXPECT_NE(pending.get().status, call_status::completed);
}

TEST_P(client_end, a_call_after_close_is_over_before_it_began) {
    auto client = raw_.connect(quiet_client({GetParam()}));
    client.close();
    client.close();
    auto pending = client.call_tool("work");
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    EXPECT_FALSE(pending.cancel());
}

TEST_P(client_end, a_call_that_outlives_its_client_can_still_be_asked_and_dropped) {
    std::optional<pending_call> pending;
    {
        auto client = raw_.connect(quiet_client({GetParam()}));
        pending = client.call_tool("work");
    }
    EXPECT_EQ(pending->get().status, call_status::cancelled);
    EXPECT_EQ(pending->get().message, "the client is leaving");
    EXPECT_FALSE(pending->cancel());
}

// Real processes.

/// Lines that a server writes to standard error.
class error_lines {
public:
    [[nodiscard]] client_options options() {
        client_options with = quiet_client({newest_legacy});
        with.on_stderr = [this](std::string_view piece) {
            const std::lock_guard lock(mutex_);
            text_ += piece;
        };
        return with;
    }
    [[nodiscard]] std::string text() {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    std::mutex mutex_;
    std::string text_;
};

/// A server that shakes hands, and then does as it is told.
std::string server_that(const std::string& does) {
    return R"(read a; printf '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25"}}\n'; read b
        )" +
           does;
}

struct stubborn_case {
    std::string name;
    std::string does;
    bool asked;  // it hears of SIGTERM
};

class a_stubborn_server : public testing::TestWithParam<stubborn_case> {};

TEST_P(a_stubborn_server, RCV_2_goes_with_its_tree_when_the_client_leaves) {
    error_lines errors;
    std::vector<process_watch> tree;
    {
        auto options = errors.options();
        options.leave_within = 50ms;
        command what = command::shell(server_that(GetParam().does));
        what.grace = GetParam().asked ? duration(patience) : duration(100ms);
        auto client = client::spawn(what, options);
        ASSERT_TRUE(eventually([&] { return errors.text().find("ready") != std::string::npos; }));
        std::istringstream pids(errors.text());
        for (pid_t pid = 0; pids >> pid;) tree.emplace_back(pid);
        ASSERT_EQ(tree.size(), 2U);
    }
    for (const auto& each : tree) EXPECT_TRUE(each.ended()) << each.pid();
    EXPECT_FALSE(has_children());
    EXPECT_EQ(errors.text().find("asked") != std::string::npos, GetParam().asked);
}

INSTANTIATE_TEST_SUITE_P(
    client, a_stubborn_server,
    testing::Values(
        stubborn_case{
            "that_waits_for_sigterm",
            "trap 'echo asked >&2; exit 0' TERM; setsid sleep 600 & echo $! $$ ready >&2; while :; do wait; done",
            true},
        stubborn_case{"that_ignores_sigterm",
                      "trap '' TERM; setsid sleep 600 & echo $! $$ ready >&2; while :; do wait; sleep 600; done",
                      false}),
    by_name());

TEST(a_killed_server, SND_2_its_calls_are_disconnected_and_its_tree_is_gone) {
    error_lines errors;
    auto client = client::spawn(
        command::shell(server_that("setsid sleep 600 & echo $! ready >&2; read c; kill -KILL $$")), errors.options());
    ASSERT_TRUE(eventually([&] { return errors.text().find("ready") != std::string::npos; }));
    const process_watch child(static_cast<pid_t>(std::stol(errors.text())));
    EXPECT_EQ(client.call_tool("work").get().status, call_status::disconnected);
    EXPECT_TRUE(child.wait_for_end());
    client.close();
    EXPECT_FALSE(has_children());
}

std::size_t descriptors_of_ours() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

TEST(fifty_rounds, RCV_2_leave_no_descriptor_and_no_zombie) {
    const command what{.argv = {built_program("everything_server")}, .environment = {{"ANDON_LOG", "off"}}};
    const auto round = [&](int number) {
        auto client = client::spawn(what, quiet_client({number % 2 == 0 ? newest_legacy : newest_modern}));
        EXPECT_EQ(text_of(client.call_tool("echo", {{"text", "on"}}).get()), "on");
        const auto pending = client.call_tool("park");
    };
    round(0);
    const std::size_t before = descriptors_of_ours();
    for (int i = 0; i < 50; ++i) round(i);
    EXPECT_EQ(descriptors_of_ours(), before);
    EXPECT_FALSE(has_children());
}

}  // namespace
}  // namespace andon
