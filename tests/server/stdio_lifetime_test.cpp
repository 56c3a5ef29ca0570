// However it ends, nothing hangs and nothing is left.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <tuple>

#include "process/process_watch.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct ending {
    std::string name;
    std::function<void(server_process&)> happens;
    std::string cause;  // in the log; empty: it has no time to write one
    exit_status status{};
};

class server_end : public testing::TestWithParam<std::tuple<revision, ending>> {
protected:
    void SetUp() override {
        server.open();
        server.fence();  // it serves: a signal before that ends it as any program
    }
    [[nodiscard]] static const ending& given() { return std::get<1>(GetParam()); }

    /// From what happens to the end of the process.
    duration until_exit() {
        const auto began = std::chrono::steady_clock::now();
        given().happens(server);
        EXPECT_EQ(server.exit(), given().status);
        return std::chrono::steady_clock::now() - began;
    }
    /// The shell, its children and the guardian above them.
    std::vector<process_watch> start_child(const std::string& id, const std::string& key) {
        server.call(id, "child", with_key(key, R"("seconds":600)"));
        std::istringstream pids(server.mark("pids", key));
        std::vector<process_watch> all;
        for (int i = 0; i < 3; ++i) {
            pid_t pid = 0;
            pids >> pid;
            all.emplace_back(pid);
        }
        all.emplace_back(state_and_parent(all.front().pid()).second);
        return all;
    }

    server_process server{std::get<0>(GetParam())};
};

TEST_P(server_end, with_nothing_in_flight_is_at_once) { EXPECT_LT(until_exit(), promptly); }

TEST_P(server_end, RCV_2_with_calls_in_flight_is_prompt_and_leaves_nothing) {
    for (int i = 0; i < 100; ++i) server.call(std::to_string(i), "park", with_key("parked" + std::to_string(i)));
    server.call("200", "block", with_key("blocked", R"("ms":600000)"));
    server.call("201", "spin", with_key("spins", R"("ms":600000)"));
    server.call("202", "wait_ignore", with_key("deaf", R"("ms":600000)"));
    const std::vector<process_watch> children = start_child("203", "runs");
    for (const std::string_view key : {"parked99", "blocked", "spins", "deaf"}) server.mark("start", key);
    EXPECT_LT(until_exit(), promptly);
    for (const process_watch& each : children) EXPECT_TRUE(each.wait_for_end());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(state_and_parent(children[i].pid()).first, '-') << "a zombie";
    EXPECT_FALSE(has_children()) << "of this process";
}

TEST_P(server_end, RCV_11_the_cause_is_in_the_log) {
    if (given().cause.empty()) return;  // killed: nobody is there to write
    server.call("71", "park", with_key("parked"));
    server.call("72", "spin", with_key("spins", R"("ms":600000)"));
    server.mark("start", "parked");
    server.mark("start", "spins");
    until_exit();
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: " + given().cause));
    EXPECT_THAT(server.logged("request 72 ("), HasSubstr("cancelled: " + given().cause));
    server.mark("cancel", "parked");
    server.mark("cancel", "spins");
    EXPECT_EQ(server.answers("71") + server.answers("72"), 0);
}

TEST_P(server_end, with_its_output_full_is_prompt_too) {
    server.read_output(false);
    server.call("71", "echo", R"({"text":")" + std::string(500'000, '.') + "\"}");
    server.call("72", "park", with_key("parked"));
    server.mark("start", "parked");
    EXPECT_LT(until_exit(), promptly);
}

const std::vector<ending> endings{
    {"input_closed", [](server_process& server) { server.close_input(); }, "disconnect", {}},
    {"output_closed", [](server_process& server) { server.close_output(); }, "disconnect", {}},
    {"both_closed",
     [](server_process& server) {
         server.close_output();
         server.close_input();
     },
     "disconnect",
     {}},
    {"sigterm", [](server_process& server) { ::kill(server.pid(), SIGTERM); }, "shutdown", {}},
    {"sigint", [](server_process& server) { ::kill(server.pid(), SIGINT); }, "shutdown", {}},
    {"sigkill", [](server_process& server) { ::kill(server.pid(), SIGKILL); }, "", {true, SIGKILL}},
};
INSTANTIATE_TEST_SUITE_P(stdio, server_end,
                         testing::Combine(testing::ValuesIn(all_revisions), testing::ValuesIn(endings)),
                         [](const auto& each) {
                             return name_of(std::get<0>(each.param)) + '_' + std::get<1>(each.param).name;
                         });

class server_unread : public served {};

TEST_P(server_unread, RCV_1_a_cancel_is_processed_while_nobody_reads_and_memory_is_bounded) {
    constexpr int talkers = 64;
    const std::string meta =
        modern() ? R"("io.modelcontextprotocol/logLevel":"debug","progressToken":)" : R"("progressToken":)";
    server.call("900", "park", with_key("parked"));
    server.fence();
    const long before = server.status("VmRSS:");
    server.read_output(false);
    for (int i = 0; i < talkers; ++i) {
        server.call(std::to_string(i), "wait_ignore", with_key("t" + std::to_string(i), R"("ms":1500,"tick_ms":1)"),
                    meta + std::to_string(i));
    }
    server.mark("end", "t0");
    server.cancel("900");
    server.mark("cancel", "parked");
    for (int i = 0; i < talkers; ++i) server.mark("end", "t" + std::to_string(i));
    // They said many times as much: what may be lost is.
    EXPECT_LT(server.status("VmHWM:") - before, kibibytes(24 * 1'024));
    server.read_output(true);
    for (int i = 0; i < talkers; ++i) EXPECT_EQ(code_of(server.answer(std::to_string(i))), 0);
    server.fence();
}

TEST_P(server_unread, answers_that_nobody_reads_end_the_session_within_bounded_memory) {
    server.read_output(false);
    server.call("\"parked\"", "park", with_key("parked"));
    server.mark("start", "parked");
    const std::string text(1'000'000, '.');
    long peak = 0;
    for (int i = 0; i < 1'000; ++i) {
        if (!server.write(call_line(GetParam(), std::to_string(i), "echo", R"({"text":")" + text + "\"}") + '\n'))
            break;
        if (i % 8 == 0) peak = std::max(peak, server.status("VmHWM:"));
    }
    EXPECT_EQ(server.exit(), exit_status{});
    EXPECT_THAT(server.logged(R"(request "parked" ()"),
                AllOf(HasSubstr("cancelled: disconnect"), HasSubstr("does not read")));
    server.mark("cancel", "parked");
    EXPECT_LT(peak, kibibytes(320 * 1'024)) << "of which 64 MiB may wait";
}

TEST_P(server_unread, a_log_that_nobody_reads_ends_nothing) {
    server.call("71", "park", with_key("parked"));
    server.call("72", "spin", with_key("spins", R"("ms":600000)"));
    server.mark("start", "spins");
    server.close_log();
    server.cancel("71");
    server.cancel("72");
    const int used = server.until_free("71") + server.until_free("72");
    server.fence();
    EXPECT_EQ(server.answers("71") + server.answers("72"), used);
    server.close_input();
    EXPECT_EQ(server.exit(), exit_status{});
}

TEST_P(server_unread, a_log_that_broke_does_not_kill_a_server_that_leaves) {
    for (int i = 0; i < 3; ++i) {
        server.call(std::to_string(i), "wait", with_key("w" + std::to_string(i), R"("ms":600000)"));
    }
    for (int i = 0; i < 3; ++i) server.mark("start", "w" + std::to_string(i));
    server.close_log();
    server.close_input();
    EXPECT_EQ(server.exit(), exit_status{});
}

TEST_P(server_unread, RCV_9_answers_that_were_decided_reach_a_reader_that_is_slow) {
    constexpr int calls = 2'000;  // more than a pipe holds
    server.read_output(false);
    const std::string text(100, '.');
    for (int i = 0; i < calls; ++i) server.call(std::to_string(i), "echo", R"({"text":")" + text + "\"}");
    server.close_input();
    server.read_output(true);
    for (int i = 0; i < calls; ++i) EXPECT_EQ(text_of(server.answer(std::to_string(i))), text);
    EXPECT_EQ(server.exit(), exit_status{});
}

INSTANTIATE_TEST_SUITE_P(stdio, server_unread, testing::ValuesIn(all_revisions), revision_name());

}  // namespace
}  // namespace andon
