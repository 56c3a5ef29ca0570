// 2026-07-28: the client's disconnect is the cancel of its request, whichever way it leaves, and at any moment.
#include <algorithm>
#include <array>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <tuple>

#include "process/process_watch.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

constexpr revision modern_revision = revision::v2026_07_28;
constexpr int workers = 64;  // of the server's: as many blocking handlers run at once
constexpr std::string_view with_progress = R"("progressToken":"token of 71")";

/// A way to leave.
struct leaving {
    std::string name;
    void (*go)(http_client& connection);
};
const std::array ways_to_leave{
    leaving{"by_fin", [](http_client& connection) { connection.close(); }},
    leaving{"by_reset", [](http_client& connection) { connection.reset(); }},
    leaving{"by_half_close", [](http_client& connection) { connection.half_close(); }},
};

/// How the request is being answered when the client leaves.
struct answering {
    std::string name;
    std::string_view accept;
    std::vector<std::string> arguments{};  // of the server
    bool begun = false;                    // the client has read its first event
};
const std::array ways_to_answer{
    answering{"nothing_said_yet", takes_both},
    answering{"events_only_nothing_said_yet", takes_events},
    answering{"in_events", takes_both, {}, true},
    answering{"json_accepted_only", takes_json},
    answering{"json_offered_only", takes_both, {"--json-only"}},
};

class http_disconnect : public testing::TestWithParam<std::tuple<leaving, answering>> {};

TEST_P(http_disconnect, HTTP_1_DIR_6_is_the_cancel_of_that_request_and_of_no_other) {
    const auto& [leave, mode] = GetParam();
    http_process server(modern_revision, mode.arguments);
    const http_caller client = server.caller({.accept = std::string(mode.accept)});
    const http_client bystander = client.call("71", "park", with_key("bystander"));
    server.mark("start", "bystander");
    http_client victim = client.call("71", mode.begun ? "wait" : "park",
                                     mode.begun ? with_key("victim", R"("ms":600000,"tick_ms":1)") : with_key("victim"),
                                     mode.begun ? with_progress : "");
    server.mark("start", "victim");
    if (mode.begun) {
        EXPECT_TRUE(victim.head().in_events());
        EXPECT_THAT(victim.event()->data, HasSubstr("notifications/progress"));
    }
    leave.go(victim);
    server.mark("cancel", "victim");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "bystander")) << "it has the same id, on another connection";
    EXPECT_EQ(server.times_logged("cancelled:"), 1);
}

INSTANTIATE_TEST_SUITE_P(http, http_disconnect,
                         testing::Combine(testing::ValuesIn(ways_to_leave), testing::ValuesIn(ways_to_answer)),
                         [](const auto& each) {
                             return std::get<0>(each.param).name + '_' + std::get<1>(each.param).name;
                         });

/// A way to work, and to learn of a cancel.
struct way {
    std::string name;
    std::string tool;
    std::string raw_members;
};
class http_disconnect_stops : public testing::TestWithParam<way> {};

TEST_P(http_disconnect_stops, HTTP_1_RCV_1_whatever_the_handler_is_doing) {
    http_process server(modern_revision);
    const http_caller client = server.caller();
    http_client victim = client.call("71", GetParam().tool, with_key("victim", GetParam().raw_members));
    server.mark("start", "victim");
    victim.close();
    server.mark("cancel", "victim");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
    client.fence();
}

INSTANTIATE_TEST_SUITE_P(http, http_disconnect_stops,
                         testing::Values(way{"polls", "spin", R"("ms":600000)"},
                                         way{"waits", "wait", R"("ms":600000,"tick_ms":5)"}, way{"awaits", "park", ""},
                                         way{"runs_a_child", "child", R"("seconds":600)"}),
                         [](const auto& each) { return each.param.name; });

class http_modern : public testing::Test {
protected:
    http_process server{modern_revision};
    http_caller client{server.caller()};

    std::vector<http_client> hold_workers(int how_many) {
        std::vector<http_client> held;
        for (int i = 0; i < how_many; ++i) {
            held.push_back(
                client.call(std::to_string(i), "block", with_key("holder" + std::to_string(i), R"("ms":600000)")));
        }
        for (int i = 0; i < how_many; ++i) server.mark("start", "holder" + std::to_string(i));
        return held;
    }
};

TEST_F(http_modern, HTTP_1_RCV_1_a_call_that_waits_for_a_worker_never_starts) {
    auto held = hold_workers(workers - 1);
    http_client last = client.call("71", "spin", with_key("last_worker", R"("ms":600000)"));
    server.mark("start", "last_worker");
    http_client withdrawn = client.call("72", "block", with_key("withdrawn", R"("ms":0)"));
    client.fence();
    http_client next = client.call("73", "block", with_key("next", R"("ms":0)"));
    client.fence();
    withdrawn.close();
    server.logged("request 72 (");
    last.close();
    // The queue is in order: had it been in there still, it would have started before.
    EXPECT_EQ(text_of(*outcome_of(next).message), "blocked 0 ms");
    EXPECT_FALSE(server.marked("start", "withdrawn"));
}

TEST_F(http_modern, HTTP_1_is_noticed_while_blocking_handlers_hold_every_worker) {
    http_client parked = client.call("71", "park", with_key("parked"));
    auto held = hold_workers(workers);
    parked.close();
    server.mark("cancel", "parked");
    held[0].reset();
    EXPECT_THAT(server.logged("request 0 ("), HasSubstr("cancelled: disconnect"));
    client.fence();
    EXPECT_EQ(server.times_logged("cancelled:"), 2);
}

TEST_F(http_modern, HTTP_1_the_whole_tree_of_a_childs_processes_dies) {
    http_client victim = client.call("71", "child", with_key("runs", R"("seconds":600)"));
    std::istringstream pids(server.mark("pids", "runs"));
    std::vector<process_watch> tree;
    for (int i = 0; i < 3; ++i) {
        pid_t pid = 0;
        pids >> pid;
        tree.emplace_back(pid);
    }
    victim.reset();
    for (const process_watch& each : tree) EXPECT_TRUE(each.wait_for_end());
}

TEST_F(http_modern, HTTP_1_bytes_of_the_next_request_are_no_disconnect) {
    http_client connection = client.connection();
    connection.write(client.call_bytes("71", "wait", with_key("first", R"("ms":50,"tick_ms":10)")) +
                     client.call_bytes("72", "echo", R"({"text":"second"})") +
                     client.call_bytes("73", "echo", R"({"text":"third"})"));
    EXPECT_EQ(text_of(*outcome_of(connection).message), "waited 50 ms");
    EXPECT_EQ(text_of(*outcome_of(connection).message), "second");
    EXPECT_EQ(text_of(*outcome_of(connection).message), "third");
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_F(http_modern, HTTP_1_half_of_the_next_request_is_no_disconnect_and_the_end_behind_it_is) {
    http_client connection = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    const std::string next = client.call_bytes("72", "echo", R"({"text":"second"})");
    connection.write(next.substr(0, next.size() / 2));
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    connection.close();
    server.mark("cancel", "parked");
}

TEST_F(http_modern, HTTP_1_what_comes_behind_a_request_and_was_never_read_is_not_served) {
    http_client connection = client.connection();
    connection.write(client.call_bytes("71", "park", with_key("parked")) +
                     client.call_bytes("72", "park", with_key("behind")));
    server.mark("start", "parked");
    connection.close();
    server.mark("cancel", "parked");
    client.fence();
    EXPECT_FALSE(server.marked("start", "behind"));
}

TEST_F(http_modern, HTTP_1_a_posted_cancel_means_nothing) {
    http_client connection = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    EXPECT_EQ(client.tell(cancel_line("71", R"("by the other way")")), 202);
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    EXPECT_TRUE(connection.quiet());
    connection.close();
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
}

TEST_F(http_modern, HTTP_1_RCV_8_a_connection_used_again_starts_clean) {
    http_client connection = client.connection();
    for (int i = 0; i < 20; ++i) {
        connection.write(client.call_bytes("71", "wait", R"({"ms":2,"tick_ms":1})", i % 2 == 0 ? with_progress : ""));
        EXPECT_EQ(text_of(*outcome_of(connection).message), "waited 2 ms");
    }
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_F(http_modern, HTTP_1_RCV_2_connections_that_leave_take_everything_with_them) {
    const auto round = [&](int first) {
        std::vector<http_client> all;
        for (int i = 0; i < 200; ++i) {
            all.push_back(client.call("71", "park", with_key("p" + std::to_string(first + i))));
        }
        for (int i = 0; i < 200; ++i) server.mark("start", "p" + std::to_string(first + i));
        for (int i = 0; i < 200; ++i)
            i % 2 == 0 ? all[static_cast<std::size_t>(i)].close() : all[static_cast<std::size_t>(i)].reset();
        for (int i = 0; i < 200; ++i) server.mark("cancel", "p" + std::to_string(first + i));
    };
    round(0);
    client.fence();
    http_client held = client.connection();
    held.write(client.call_bytes("72", "echo", R"({"text":"open"})"));
    EXPECT_EQ(text_of(*outcome_of(held).message), "open");
    const std::size_t descriptors = server.descriptors();
    round(1'000);
    held.write(client.call_bytes("72", "echo", R"({"text":"open"})"));
    EXPECT_EQ(text_of(*outcome_of(held).message), "open");
    EXPECT_LE(server.descriptors(), descriptors);
}

TEST_F(http_modern, HTTP_1_RCV_9_never_both_an_answer_and_a_cancel_when_the_client_leaves) {
    constexpr int rounds = 300;
    const std::array<std::string, 3> tools{"wait", "spin", "block"};
    std::vector<bool> answered;
    for (int i = 0; i < rounds; ++i) {
        http_client connection =
            client.call(std::to_string(i), tools[static_cast<std::size_t>(i) % tools.size()], R"({"ms":1})");
        // No wait for anything: the disconnect is to fall into every moment of the call's life.
        const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(i / 3 * 20);
        while (std::chrono::steady_clock::now() < moment) {
        }
        connection.half_close();
        const std::string all = connection.rest();
        answered.push_back(!all.empty());
        if (!all.empty()) {
            EXPECT_THAT(all, ::testing::EndsWith("}")) << "half an answer";
        }
    }
    http_client last = client.call("\"last\"", "park", with_key("last"));
    server.mark("start", "last");
    int cancelled = 0;
    for (int i = 0; i < rounds; ++i) {
        const int logged = server.times_logged("request " + std::to_string(i) + " (");
        // Neither is possible: the answer won, and there was nobody left to write it to.
        EXPECT_LE(logged + (answered[static_cast<std::size_t>(i)] ? 1 : 0), 1) << "request " << i;
        cancelled += logged;
    }
    RecordProperty("cancelled", cancelled);
    EXPECT_GT(cancelled, 0);
    EXPECT_GT(std::count(answered.begin(), answered.end(), true), 0);
}

}  // namespace
}  // namespace andon
