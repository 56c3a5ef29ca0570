// The receiver's rules, on the real server and in every revision.
#include <array>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

#include "andon/wire/error.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int workers = 64;  // of the server's: as many blocking handlers run at once

class server_rules : public served {
protected:
    /// What is written from here on came after the cancel had been processed: the answer stands behind it in line.
    std::size_t cancel_and_fence(std::string_view raw_id, std::string_view raw_reason = {}) {
        server.cancel(raw_id, raw_reason);
        server.fence();
        return server.lines().size();
    }
    void hold_workers(int how_many) {
        for (int i = 0; i < how_many; ++i) {
            const std::string key = "holder" + std::to_string(i);
            server.call('"' + key + '"', "block", with_key(key, R"("ms":600000)"));
        }
        for (int i = 0; i < how_many; ++i) server.mark("start", "holder" + std::to_string(i));
    }
};

TEST_P(server_rules, MSG_1_the_notification_cancels_with_a_reason_and_without) {
    server.call("71", "park", with_key("plain"));
    server.call("\"seventy-two\"", "park", with_key("reasoned"));
    server.mark("start", "reasoned");
    server.cancel("71");
    server.mark("cancel", "plain");
    EXPECT_FALSE(server.marked("cancel", "reasoned"));
    server.cancel("\"seventy-two\"", R"("user pressed Stop")");
    server.mark("cancel", "reasoned");
    EXPECT_THAT(server.logged("seventy-two"), HasSubstr("peer, user pressed Stop"));
}

TEST_P(server_rules, MSG_2_a_cancel_without_an_id_is_ignored) {
    server.call("71", "park", with_key("parked"));
    server.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"whom?"}})");
    server.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})");
    server.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    server.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(server_rules, DIR_6_no_process_learns_of_a_cancel_in_another) {
    server_process other(GetParam());
    other.open();
    server.call("71", "park", with_key("here"));
    other.call("71", "park", with_key("there"));
    other.mark("start", "there");
    server.mark("start", "here");
    server.cancel("71");
    server.mark("cancel", "here");
    other.fence();
    EXPECT_FALSE(other.marked("cancel", "there"));
    EXPECT_EQ(other.times_logged("cancelled"), 0);
}

TEST_P(server_rules, RCV_1_a_call_still_queued_never_starts) {
    hold_workers(workers - 1);
    server.call("71", "spin", with_key("last_worker", R"("ms":600000)"));
    server.mark("start", "last_worker");
    server.call("72", "block", with_key("withdrawn", R"("ms":0)"));
    server.call("73", "block", with_key("next", R"("ms":0)"));
    cancel_and_fence("72");
    server.cancel("71");
    // The queue is in order: had it been in there still, it would have started before.
    EXPECT_EQ(text_of(server.answer("73")), "blocked 0 ms");
    EXPECT_FALSE(server.marked("start", "withdrawn"));
    server.fence();
    EXPECT_EQ(server.answers("72"), 0);
}

TEST_P(server_rules, RCV_1_a_cancel_is_processed_while_blocking_handlers_hold_every_worker) {
    server.call("71", "park", with_key("parked"));
    hold_workers(workers);
    server.call("72", "echo", R"({"text":"served meanwhile"})");
    EXPECT_EQ(text_of(server.answer("72")), "served meanwhile");
    server.cancel("71");
    server.mark("cancel", "parked");
    const std::size_t from = cancel_and_fence("\"holder0\"");
    EXPECT_THAT(server.logged("request \"holder0\" ("), HasSubstr("cancelled: peer"));
    EXPECT_EQ(server.answers("\"holder0\"", from), 0);
}

TEST_P(server_rules, RCV_2_threads_descriptors_and_ids_come_back) {
    const auto round = [&] {
        for (int i = 0; i < 8; ++i) {
            server.call(std::to_string(100 + i), "child", with_key("c" + std::to_string(i), R"("seconds":600)"));
        }
        for (int i = 0; i < 200; ++i) server.call(std::to_string(1'000 + i), "park", with_key("p" + std::to_string(i)));
        for (int i = 0; i < 8; ++i) server.mark("start", "c" + std::to_string(i));
        for (int i = 0; i < 8; ++i) server.cancel(std::to_string(100 + i));
        for (int i = 0; i < 200; ++i) server.cancel(std::to_string(1'000 + i));
        for (int i = 0; i < 8; ++i) server.until_free(std::to_string(100 + i));
        for (int i = 0; i < 200; ++i) server.until_free(std::to_string(1'000 + i));
    };
    round();
    const std::size_t descriptors = server.descriptors();
    round();
    server.fence();
    EXPECT_EQ(server.descriptors(), descriptors);
    hold_workers(workers);  // as many start as there are threads: none is held by what was cancelled
    EXPECT_LE(server.status("Threads:"), workers + 4);
}

TEST_P(server_rules, RCV_4_not_one_byte_follows_though_the_handler_goes_on_sending) {
    const std::string meta = modern() ? R"("progressToken":"token of 71","io.modelcontextprotocol/logLevel":"debug")"
                                      : R"("progressToken":"token of 71")";
    server.call("71", "wait_ignore", with_key("deaf", R"("ms":600,"tick_ms":2)"), meta);
    server.line_with("token of 71");
    server.line_with("still here");
    const std::size_t from = cancel_and_fence("71");
    EXPECT_FALSE(server.marked("end", "deaf")) << "it ended too soon to prove anything";
    server.mark("end", "deaf");
    server.fence();
    EXPECT_EQ(server.heard("token of 71", from), 0);
    EXPECT_EQ(server.heard("still here", from), 0);
    EXPECT_EQ(server.answers("71"), 0);
}

TEST_P(server_rules, RCV_4_what_waits_to_be_written_is_dropped_with_the_cancel) {
    server.read_output(false);
    // More than the pipe takes, so that everything behind it waits inside the server.
    server.call("70", "echo", R"({"text":")" + std::string(200'000, '.') + "\"}");
    server.call("71", "wait_ignore", with_key("deaf", R"("ms":400,"tick_ms":1)"), R"("progressToken":"token of 71")");
    server.call("72", "block", with_key("meanwhile", R"("ms":100)"));
    server.mark("end", "meanwhile");
    server.cancel("71");
    server.logged("request 71 (");
    server.read_output(true);
    server.mark("end", "deaf");
    server.fence();
    EXPECT_EQ(server.heard("token of 71"), 0);
    EXPECT_EQ(server.answers("71"), 0);
    EXPECT_EQ(server.answers("70"), 1);
}

TEST_P(server_rules, RCV_5_unknown_and_completed_are_ignored) {
    server.call("71", "echo", R"({"text":"done"})");
    EXPECT_EQ(text_of(server.answer("71")), "done");
    const std::size_t from = server.lines().size();
    server.cancel("71");
    server.cancel("4711");
    server.cancel("\"nobody\"", R"("there is no such request")");
    server.fence();
    EXPECT_EQ(server.lines().size(), from + 1) << "the fence, and nothing else";
}

TEST_P(server_rules, RCV_5_a_hundred_thousand_unknown_ids_keep_no_memory) {
    const auto cancel_many = [&](int first, int how_many) {
        std::string lines;
        for (int i = 0; i < how_many; ++i) lines += cancel_line(std::to_string(first + i), R"("unknown")") + '\n';
        server.write(lines);
        server.fence();
    };
    cancel_many(1'000'000, 10'000);
    const long before = server.status("VmRSS:");
    cancel_many(2'000'000, 100'000);
    EXPECT_LT(server.status("VmRSS:") - before, kibibytes(4'096));
}

TEST_P(server_rules, RCV_7_the_first_cause_and_reason_stand) {
    server.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    server.write(cancel_line("71", R"("first")") + '\n' + cancel_line("71", R"("second")") + '\n');
    server.mark("cancel", "parked");
    server.cancel("71", R"("third")");
    server.fence();
    EXPECT_THAT(server.logged("cancelled: peer"), HasSubstr("first"));
    EXPECT_EQ(server.times_logged("cancelled: peer"), 1);
    EXPECT_EQ(server.answers("71"), 0);
}

TEST_P(server_rules, RCV_8_an_id_used_again_starts_clean) {
    for (int i = 0; i < 20; ++i) {
        const std::string key = "round" + std::to_string(i);
        server.call("71", "park", with_key(key));
        server.mark("start", key);
        server.cancel("71");
        server.mark("cancel", key);
        server.fence();
        EXPECT_FALSE(server.marked("cancel", "round" + std::to_string(i + 1)));
    }
    server.call("71", "wait", R"({"ms":5,"tick_ms":1})");
    EXPECT_EQ(text_of(server.answer("71")), "waited 5 ms");
}

/// Tools that end by themselves after a moment: on the loop's thread, and on a worker.
class server_races : public served {};

TEST_P(server_races, RCV_9_exactly_one_of_answered_and_cancelled) {
    std::mt19937 random(2026);
    std::uniform_int_distribution<int> up_to_two(0, 2);
    std::uniform_int_distribution<int> microseconds(0, 2'500);
    const std::array<std::string, 3> tools{"wait", "spin", "block"};
    int used = 0;  // the id, to see that it is free again
    constexpr int rounds = 300;
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        const std::string& tool = tools[static_cast<std::size_t>(i) % tools.size()];
        const auto settled = [&] { return server.answers("71") - used + server.times_logged("request 71 ("); };
        server.call("71", tool, R"({"ms":)" + std::to_string(up_to_two(random)) + '}');
        // No wait for anything: the cancel is to fall into every moment of the call's life.
        const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds(random));
        while (std::chrono::steady_clock::now() < moment) {
        }
        server.cancel("71");
        server.wait_until([&] { return settled() > i; }, "an answer or a cancel");
        if (server.untaken("71")) server.answer("71");
        used += server.until_free("71");
        server.fence();
        ASSERT_EQ(settled(), i + 1) << "both an answer and a cancel";
    }
    const int cancelled = server.times_logged("request 71 (");
    RecordProperty("cancelled", cancelled);
    EXPECT_GT(cancelled, 0);
    EXPECT_LT(cancelled, rounds);
}

TEST_P(server_races, RCV_9_exactly_one_while_workers_answer_and_the_reader_cancels) {
    constexpr int rounds = 30;
    constexpr int calls = 64;
    std::mt19937 random(2026);
    int settled = 0;
    const std::size_t before = server.lines().size();
    for (int round = 0; round < rounds; ++round) {
        const auto id = [&](int i) { return std::to_string(1'000 + round * calls + i); };
        const int behind = static_cast<int>(random() % 32);  // how many calls later each cancel comes
        std::string lines;
        for (int i = 0; i < calls + behind; ++i) {
            if (i < calls) lines += call_line(GetParam(), id(i), "block", R"({"ms":0})") + '\n';
            if (i >= behind) lines += cancel_line(id(i - behind)) + '\n';
        }
        server.write(lines);
        settled += calls;
        const auto heard = [&] {
            return static_cast<int>(server.lines().size() - before) + server.times_logged("cancelled: peer");
        };
        server.wait_until([&] { return heard() >= settled; }, "an answer or a cancel of each");
        server.fence();
        ++settled;
    }
    int cancelled = 0;
    for (int i = 1'000; i < 1'000 + rounds * calls; ++i) {
        const int logged = server.times_logged("request " + std::to_string(i) + " (");
        ASSERT_EQ(server.answers(std::to_string(i)) + logged, 1) << "request " << i;
        cancelled += logged;
    }
    EXPECT_GT(cancelled, 0);
    EXPECT_LT(cancelled, rounds * calls);
}

TEST_P(server_rules, RCV_10_an_id_in_flight_is_refused_and_the_first_request_untouched) {
    server.call("71", "park", with_key("first"));
    server.call("71", "park", with_key("second"));
    const json::object refusal = server.answer("71");
    EXPECT_EQ(code_of(refusal), error_code::invalid_request);
    EXPECT_THAT(message_of(refusal), HasSubstr("already in flight"));
    EXPECT_TRUE(server.marked("start", "first"));
    EXPECT_FALSE(server.marked("cancel", "first"));
    server.cancel("71");
    server.mark("cancel", "first");
    server.fence();
    EXPECT_FALSE(server.marked("start", "second"));
    EXPECT_EQ(server.answers("71"), 1) << "the refusal";
}

TEST_P(server_rules, RCV_11_the_log_has_cause_reason_request_and_session) {
    server.call("\"the request\"", "park", with_key("parked"));
    server.mark("start", "parked");
    server.cancel("\"the request\"", R"("bell \u0007 and \u001b[31m red")");
    EXPECT_THAT(server.logged("cancelled:"),
                AllOf(HasSubstr(R"(request "the request" (tools/call park))"), HasSubstr("of session "),
                      HasSubstr("cancelled: peer, "), HasSubstr(R"(bell \x07 and \x1b[31m red)")));
}

INSTANTIATE_TEST_SUITE_P(stdio, server_rules, testing::ValuesIn(all_revisions), revision_name());
INSTANTIATE_TEST_SUITE_P(stdio, server_races, testing::ValuesIn(all_revisions), revision_name());

/// A way to work, and to learn of a cancel.
struct way {
    std::string name;
    std::string tool;
    std::string raw_members;
};
class server_stops : public testing::TestWithParam<std::tuple<revision, way>> {};

TEST_P(server_stops, RCV_1_RCV_3_the_handler_learns_at_once_and_nobody_is_answered) {
    const auto& [speaks, how] = GetParam();
    server_process server(speaks);
    server.open();
    server.call("\"victim\"", how.tool, with_key("victim", how.raw_members), R"("progressToken":"victims token")");
    server.mark("start", "victim");
    server.cancel("\"victim\"", R"("enough")");
    server.mark("cancel", "victim");
    server.fence();
    const std::size_t from = server.lines().size();
    const int used = server.until_free("\"victim\"");
    server.fence();
    EXPECT_EQ(server.answers("\"victim\""), used) << "an answer to the one that was cancelled";
    EXPECT_EQ(server.heard("victims token", from), 0);
    EXPECT_EQ(server.times_logged(R"(request "victim" ()"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    stdio, server_stops,
    testing::Combine(testing::ValuesIn(all_revisions),
                     testing::Values(way{"polls", "spin", R"("ms":600000)"},
                                     way{"waits", "wait", R"("ms":600000,"tick_ms":5)"}, way{"awaits", "park", ""},
                                     way{"runs_a_child", "child", R"("seconds":600)"})),
    [](const auto& each) { return name_of(std::get<0>(each.param)) + '_' + std::get<1>(each.param).name; });

}  // namespace
}  // namespace andon
