// Servers that crash, or never start: their calls get a clear error, and they are started again, but not endlessly.
#include <csignal>
#include <gmock/gmock.h>

#include "apps/andon_process.hpp"
#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class crashed : public testing::TestWithParam<hosted> {};

TEST_P(crashed, calls_in_flight_are_answered_with_how_it_ended) {
    in_front front(GetParam(), {.keys = "restart_first = \"10ms\""});
    front.open();
    front.call("1", "sleep", with_key("k"));
    const auto begun = front.began("k");
    front.call("2", "crash", R"({"code":3})");
    for (const char* const id : {"1", "2"}) {
        const json::object said = front.answer(id);
        EXPECT_EQ(code_of(said), -32603);
        EXPECT_EQ(message_of(said), "the server exited with status 3");
    }
    EXPECT_EQ(front.entry("sleep").at("end").as_string(), "crashed");
    EXPECT_NE(front.asked("pid"), std::to_string(begun.pid));
    front.call("3", "crash", R"({"signal":9})");
    EXPECT_EQ(message_of(front.answer("3")), "the server was ended by signal 9");
    if (front.how() == hosted::wrap) return;
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_THAT(front.figures(), HasSubstr("\nandon_restarts_total{server=\"s\"} 2\n"));
    EXPECT_THAT(front.figures(), HasSubstr("\nandon_request_ends_total{server=\"s\",end=\"crashed\"} 3\n"));
}

TEST_P(crashed, calls_that_come_meanwhile_wait_and_are_served) {
    in_front front(GetParam(), {.keys = "restart_first = \"300ms\""});
    front.open();
    front.call("1", "crash");
    EXPECT_NE(code_of(front.answer("1")), 0);
    const auto since = std::chrono::steady_clock::now();
    for (const char* const id : {"2", "3", "4"}) front.call(id, "echo", with_key(id));
    front.cancel("3");
    EXPECT_EQ(text_of(front.answer("2")), "done");
    EXPECT_EQ(text_of(front.answer("4")), "done");
    EXPECT_GE(std::chrono::steady_clock::now() - since, 200ms);
    front.expect_silence("3");
    EXPECT_FALSE(front.andon().marked("began", "3"));
}

TEST_P(crashed, the_pauses_grow) {
    in_front front(GetParam(), {.keys = "restart_first = \"50ms\"\nrestart_most = \"200ms\""});
    front.open();
    const auto since = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
        front.call("1", "crash");
        EXPECT_NE(code_of(front.answer("1")), 0);
    }
    EXPECT_GE(std::chrono::steady_clock::now() - since, 50ms + 100ms + 200ms + 200ms);
    EXPECT_EQ(front.asked("echo"), "done");
}

TEST_P(crashed, a_child_that_holds_the_output_open_does_not_hold_up_the_answer) {
    in_front front(GetParam(), {.keys = "restart_first = \"10ms\""});
    front.open();
    front.call("0", "fork", with_key("k"));
    const auto left = front.children("k");
    front.call("1", "crash", R"({"code":9})");
    const auto since = std::chrono::steady_clock::now();
    EXPECT_EQ(message_of(front.answer("1")), "the server exited with status 9");
    EXPECT_LT(std::chrono::steady_clock::now() - since, promptly);
    for (const auto& each : left) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.asked("echo"), "done");
}

TEST_P(crashed, RCV_9_an_answer_that_was_written_before_the_end_is_passed_on) {
    in_front front(GetParam(), {.keys = "restart_first = \"1ms\"\nrestart_most = \"1ms\""});
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");
    for (int i = 0; i < 20; ++i) {
        const int started = front.processes_started();
        EXPECT_EQ(front.asked("answer_and_exit"), "the last words");
        // The next call is not for this one, which is about to go.
        EXPECT_TRUE(eventually([&] { return front.processes_started() > started; }));
    }
}

/// More than is read at once, and the end is reported before it is read: andon stands still meanwhile, and nothing but
/// the report tells it.
TEST_P(crashed, RCV_9_however_much_of_it_is_still_to_be_read) {
    in_front front(GetParam(), {.keys = "restart_first = \"1ms\""});
    front.open();
    constexpr std::size_t more = 60'000;  // a pipe holds that much
    front.call("1", "answer_and_exit", with_key("k", R"("ms":200,"more":)" + std::to_string(more)));
    const pid_t server = front.began("k").pid;
    ::kill(front.andon().pid(), SIGSTOP);
    EXPECT_TRUE(eventually([&] { return state_and_parent(server).first == '-'; })) << "it was not waited for";
    ::kill(front.andon().pid(), SIGCONT);
    EXPECT_EQ(text_of(front.answer("1")).size(), more + std::string_view("the last words").size());
}

INSTANTIATE_TEST_SUITE_P(gateway, crashed, testing::ValuesIn(all_hosts), hosted_name());

// Servers that cannot be started, or cannot be started again.

struct start_case {
    const char* name;
    hosted how;
    std::vector<std::string> arguments;
    const char* words;
};

void PrintTo(const start_case& which, std::ostream* to) { *to << which.name; }

class never_starts : public testing::TestWithParam<start_case> {};

std::string hello(in_front& front) {
    if (front.modern()) {
        front.call("1", "echo");
        return message_of(front.answer("1"));
    }
    front.request("1", "initialize",
                  R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"})");
    return message_of(front.answer("1"));
}

TEST_P(never_starts, the_host_gets_a_clear_error_in_time_and_nothing_is_left_of_its_session) {
    in_front front(GetParam().how, {.arguments = GetParam().arguments, .keys = "start_timeout = \"500ms\""});
    for (int again = 0; again < 2; ++again) {
        const auto since = std::chrono::steady_clock::now();
        EXPECT_THAT(hello(front), HasSubstr(GetParam().words));
        EXPECT_LT(std::chrono::steady_clock::now() - since, 500ms + promptly);
    }
    if (front.how() != hosted::legacy_gateway) return;
    EXPECT_EQ(front.processes_started(), 2) << "one for each session that was to be";
    // What has ended cannot start anything: there is only what modern clients would share.
    EXPECT_TRUE(eventually([&] { return front.servers().size() == 1; }));
    EXPECT_EQ(front.servers().at(0).at("state").as_string(), "not started");
}

const start_case all_starts[] = {
    {"wrap_exits", hosted::wrap, {"--exit-at-start", "4"}, "exited with status 4"},
    {"wrap_says_nothing", hosted::wrap, {"--mute"}, "did not answer initialize"},
    {"legacy_exits", hosted::legacy_gateway, {"--exit-at-start", "4"}, "exited with status 4"},
    {"legacy_says_nothing", hosted::legacy_gateway, {"--mute"}, "did not answer initialize"},
    {"modern_exits", hosted::modern_gateway, {"--exit-at-start", "4"}, "exited with status 4"},
    {"modern_says_nothing", hosted::modern_gateway, {"--mute"}, "did not answer initialize"},
};
INSTANTIATE_TEST_SUITE_P(gateway, never_starts, testing::ValuesIn(all_starts),
                         [](const auto& each) { return each.param.name; });

TEST(crashes, a_server_that_never_starts_is_tried_with_growing_pauses) {
    const auto since = std::chrono::steady_clock::now();
    in_front front(hosted::wrap, {.arguments = {"--exit-at-start", "4"}, .keys = "restart_first = \"100ms\""});
    EXPECT_THAT(hello(front), HasSubstr("exited with status 4"));
    EXPECT_TRUE(eventually([&] { return front.processes_started() >= 4; }));
    EXPECT_GE(std::chrono::steady_clock::now() - since, 100ms + 200ms + 400ms);
}

TEST(crashes, a_program_that_is_not_there_is_exit_3_of_wrap) {
    const own_folder folder;
    const andon_run end = run_andon({"wrap", "--", "/no/such/program"}, {}, at_home_in(folder));
    EXPECT_EQ(end.status, 3);
    EXPECT_THAT(end.err, HasSubstr("the server cannot be started"));
    EXPECT_THAT(end.err, HasSubstr("/no/such/program"));
    EXPECT_EQ(end.out, "");
}

TEST(crashes, a_program_that_is_not_there_is_an_error_for_hosts_of_the_gateway) {
    for (const hosted how : {hosted::legacy_gateway, hosted::modern_gateway}) {
        in_front front(how, {.command = "/no/such/program"});
        EXPECT_THAT(hello(front), HasSubstr("could not be started"));
    }
}

/// It crashes once, and does not agree to its handshake again: each try would be a kill and another try, at once.
TEST(crashes, a_server_that_refuses_its_repeated_handshake_is_tried_with_pauses) {
    const own_folder folder;
    in_front front(hosted::wrap, {.arguments = {"--agrees-once", folder / "agreed"},
                                  .keys = "start_timeout = \"700ms\"\nrestart_first = \"100ms\""});
    front.open();
    front.call("1", "crash");
    EXPECT_NE(code_of(front.answer("1")), 0);
    front.call("2", "echo");
    const json::object said = front.answer("2");
    EXPECT_THAT(message_of(said), HasSubstr("did not agree to its handshake again"));
    EXPECT_LE(front.processes_started(), 5);  // at 0, 100, 300 and 700 ms
}

/// As many as wait can be cancelled, and then others can wait in their place.
TEST(crashes, calls_that_wait_for_a_restart_are_not_without_number) {
    constexpr int most = 65'536;
    in_front front(hosted::wrap, {.keys = "start_timeout = \"1m\"\nrestart_first = \"1m\""});
    front.open();
    front.call("0", "crash");
    EXPECT_NE(code_of(front.answer("0")), 0);
    std::string lines;
    for (int id = 1; id <= most + 1; ++id) {
        lines += call_line(front.andon().speaks(), std::to_string(id), "echo") + '\n';
    }
    front.andon().write(lines);
    const json::object refused = front.answer(std::to_string(most + 1));
    EXPECT_THAT(message_of(refused), HasSubstr("too many calls wait"));
    EXPECT_EQ(front.andon().answers("1"), 0);
    for (const char* const id : {"1", "777"}) front.cancel(id);
    for (const char* const id : {"\"a\"", "\"b\"", "\"c\""}) front.call(id, "echo");
    EXPECT_THAT(message_of(front.answer("\"c\"")), HasSubstr("too many calls wait"));
    for (const char* const id : {"\"a\"", "\"b\""}) EXPECT_EQ(front.andon().answers(id), 0);
}

/// The first process works and dies, every other one dies at once.
TEST(crashes, a_server_that_cannot_be_started_again_is_said_so_to_those_that_wait) {
    const own_folder folder;
    in_front front(hosted::wrap, {.arguments = {"--works-once", folder / "worked"},
                                  .keys = "start_timeout = \"400ms\"\nrestart_first = \"50ms\""});
    front.open();
    front.call("1", "crash");
    EXPECT_NE(code_of(front.answer("1")), 0);
    const auto since = std::chrono::steady_clock::now();
    front.call("2", "echo");
    EXPECT_THAT(message_of(front.answer("2")), HasSubstr("exited with status 7"));
    EXPECT_LT(std::chrono::steady_clock::now() - since, 400ms + promptly);
}

}  // namespace
}  // namespace andon
