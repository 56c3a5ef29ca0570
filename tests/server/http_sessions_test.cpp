// Sessions over HTTP: whose they are, how they end, and what of one cannot be seen from another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class http_sessions : public http_served {};

TEST_P(http_sessions, DIR_6_ids_are_long_random_and_each_another) {
    std::set<std::string> seen{client.session()};
    std::set<std::string> beginnings{client.session().substr(0, 8)};
    for (int i = 0; i < 20; ++i) {
        http_caller other = server.caller();
        other.open();
        EXPECT_THAT(other.session(), MatchesRegex("[0-9a-f]+"));
        EXPECT_GE(other.session().size(), 32U) << "128 bits at least";
        seen.insert(other.session());
        beginnings.insert(other.session().substr(0, 8));
    }
    EXPECT_THAT(seen, SizeIs(21));
    EXPECT_THAT(beginnings, SizeIs(21)) << "no part of it counts up";
}

TEST_P(http_sessions, DIR_6_a_cancel_reaches_its_own_session_only) {
    http_caller other = server.caller();
    other.open();
    http_client here = client.call("71", "park", with_key("here"));
    http_client there = other.call("71", "park", with_key("there"));
    server.mark("start", "here");
    server.mark("start", "there");
    client.cancel("71");
    server.mark("cancel", "here");
    EXPECT_EQ(code_of(*outcome_of(here).message), error_code::request_cancelled);
    other.fence();
    EXPECT_FALSE(server.marked("cancel", "there"));
    EXPECT_TRUE(there.quiet());
    other.cancel("71");
    server.mark("cancel", "there");
}

TEST_P(http_sessions, RCV_2_DELETE_ends_the_session_and_all_that_is_in_it) {
    http_client parked = client.call("71", "park", with_key("parked"));
    http_client waits =
        client.call("72", "wait", with_key("waits", R"("ms":600000,"tick_ms":1)"), R"("progressToken":1)");
    http_client listens = client.get();
    server.mark("start", "parked");
    server.mark("start", "waits");
    EXPECT_TRUE(listens.head().in_events());
    EXPECT_TRUE(waits.head().in_events());
    EXPECT_TRUE(waits.event());
    http_caller other = server.caller();
    other.open();
    http_client stays = other.call("71", "park", with_key("stays"));
    server.mark("start", "stays");

    http_client deletes = client.send(client.delete_bytes());
    EXPECT_EQ(deletes.head().status, 204);
    server.mark("cancel", "parked");
    server.mark("cancel", "waits");
    EXPECT_THAT(server.logged("request 71 ("),
                AllOf(HasSubstr("cancelled: disconnect"), HasSubstr("ended the session")));
    EXPECT_EQ(code_of(*outcome_of(parked).message), error_code::request_cancelled);
    while (waits.event()) {
    }
    EXPECT_FALSE(listens.event()) << "its stream has ended too";
    for (const std::string& bytes : {client.call_bytes("73", "echo", R"({"text":"x"})"), client.get_bytes(),
                                     client.delete_bytes(), client.post(cancel_line("71"))}) {
        http_client refused = client.send(bytes);
        EXPECT_EQ(outcome_of(refused).head.status, 404);
    }
    other.fence();
    EXPECT_FALSE(server.marked("cancel", "stays"));
}

TEST_P(http_sessions, it_is_begun_once_and_one_that_is_not_has_no_id) {
    http_client again = client.send(client.post(
        request_line(GetParam(), "5", "initialize",
                     R"("protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"})")));
    EXPECT_EQ(code_of(*outcome_of(again).message), error_code::invalid_request);
    const http_caller stranger = server.caller();
    http_client refused = stranger.send(stranger.post(request_line(GetParam(), "5", "initialize", "")));
    const http_outcome answer = outcome_of(refused);
    EXPECT_EQ(code_of(*answer.message), error_code::invalid_params);
    EXPECT_EQ(answer.head.header("mcp-session-id"), std::nullopt);
}

TEST_P(http_sessions, DIR_6_without_an_id_400_and_with_an_unknown_one_404) {
    http_caller without = server.caller();
    http_caller unknown = server.caller();
    for (const std::string& id : {std::string(client.session().size(), '0'), std::string("x"),
                                  client.session().substr(1), client.session() + "0"}) {
        unknown.use_session(id);
        for (const std::string& bytes : {unknown.call_bytes("71", "echo", R"({"text":"x"})"), unknown.get_bytes(),
                                         unknown.delete_bytes(), unknown.post(cancel_line("71"))}) {
            http_client refused = unknown.send(bytes);
            EXPECT_EQ(outcome_of(refused).head.status, 404) << bytes;
        }
    }
    for (const std::string& bytes : {without.call_bytes("71", "echo", R"({"text":"x"})"), without.get_bytes(),
                                     without.delete_bytes(), without.post(cancel_line("71"))}) {
        http_client refused = without.send(bytes);
        EXPECT_EQ(outcome_of(refused).head.status, 400) << bytes;
    }
    client.fence();
}

TEST_P(http_sessions, one_stream_of_its_own_at_a_time) {
    http_client first = client.get();
    EXPECT_TRUE(first.head().in_events());
    http_client second = client.get();
    EXPECT_EQ(outcome_of(second).head.status, 409);
    first.close();
    for (;;) {  // until the server has seen it go
        http_client third = client.get();
        const http_answer head = third.head();
        if (head.status == 200) break;
        EXPECT_EQ(head.status, 409);
        static_cast<void>(third.body());
    }
}

INSTANTIATE_TEST_SUITE_P(http, http_sessions, testing::ValuesIn(legacy_http_revisions), revision_name());

class http_session_settings : public testing::TestWithParam<revision> {};

TEST_P(http_session_settings, DIR_6_a_stolen_session_id_is_worth_nothing_to_another_principal) {
    http_process server(GetParam(), {"--token", "A=alice", "--token", "B=bob"});
    http_caller alice = server.caller({.token = "A"});
    alice.open();
    http_client parked = alice.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    http_client waits = alice.call("72", "wait", R"({"ms":20,"tick_ms":1})", R"("progressToken":1)");
    const std::string event = *outcome_of(waits).events.front().id;
    http_caller bob = server.caller({.token = "B"});
    bob.use_session(alice.session());
    for (const std::string& bytes : {bob.call_bytes("73", "echo", R"({"text":"x"})"), bob.get_bytes(),
                                     bob.get_bytes(event), bob.delete_bytes(), bob.post(cancel_line("71"))}) {
        http_client refused = bob.send(bytes);
        EXPECT_EQ(outcome_of(refused).head.status, 404) << bytes;
    }
    http_caller nobody = server.caller();
    nobody.use_session(alice.session());
    http_client refused = nobody.send(nobody.post(cancel_line("71")));
    EXPECT_EQ(outcome_of(refused).head.status, 401);
    alice.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    alice.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(http_session_settings, DIR_6_two_principals_with_equal_ids) {
    http_process server(GetParam(), {"--token", "A=alice", "--token", "B=bob"});
    http_caller alice = server.caller({.token = "A"});
    http_caller bob = server.caller({.token = "B"});
    alice.open();
    bob.open();
    EXPECT_NE(alice.session(), bob.session());
    http_client hers = alice.call("71", "park", with_key("hers"));
    http_client his = bob.call("71", "park", with_key("his"));
    server.mark("start", "hers");
    server.mark("start", "his");
    alice.cancel("71");
    server.mark("cancel", "hers");
    bob.fence();
    EXPECT_FALSE(server.marked("cancel", "his"));
}

TEST_P(http_session_settings, RCV_2_an_idle_session_ends_and_one_at_work_does_not) {
    http_process server(GetParam(), {"--idle-session-ms", "300"});
    http_caller idle = server.caller();
    http_caller working = server.caller();
    http_caller listening = server.caller();
    idle.open();
    working.open();
    listening.open();
    http_client parked = working.call("71", "park", with_key("parked"));
    http_client listens = listening.get();
    EXPECT_TRUE(listens.head().in_events());
    server.logged("the session was idle for too long");
    http_client refused = idle.call("71", "echo", R"({"text":"x"})");
    EXPECT_EQ(outcome_of(refused).head.status, 404);
    working.fence();
    listening.fence();
    EXPECT_EQ(server.times_logged("idle for too long"), 1);
    EXPECT_FALSE(server.marked("cancel", "parked"));
    working.cancel("71");
    server.mark("cancel", "parked");
    // Now nobody is at work there either.
    server.wait_until([&] { return server.times_logged("idle for too long") >= 2; }, "the end of the second");
    EXPECT_TRUE(listens.quiet());
}

TEST_P(http_session_settings, RCV_1_one_client_has_so_much_in_flight_and_no_more) {
    http_process server(GetParam(), {"--per-client", "2"});
    http_caller client = server.caller();
    client.open();
    http_client one = client.call("71", "park", with_key("one"));
    http_client two = client.call("72", "park", with_key("two"));
    server.mark("start", "one");
    server.mark("start", "two");
    http_client three = client.call("73", "echo", R"({"text":"x"})");
    const http_outcome refused = outcome_of(three);
    EXPECT_EQ(refused.head.status, 429);
    EXPECT_TRUE(refused.head.header("retry-after"));
    client.cancel("71");  // a cancel always gets through
    EXPECT_EQ(code_of(*outcome_of(one).message), error_code::request_cancelled);
    client.fence();
}

INSTANTIATE_TEST_SUITE_P(http, http_session_settings, testing::ValuesIn(legacy_http_revisions), revision_name());

}  // namespace
}  // namespace andon
