// Up to 2025-11-25: a posted cancel, what becomes of the stream, and whom it reaches where there are no sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view with_progress = R"("progressToken":"token of 71")";

class http_cancel : public testing::TestWithParam<revision> {
protected:
    struct talk {
        explicit talk(std::vector<std::string> arguments = {}, http_caller_options how = {})
            : server(GetParam(), std::move(arguments)), client(server.caller(std::move(how))) {
            client.open();
        }
        http_process server;
        http_caller client;
    };
    static void expect_cancelled(const http_outcome& answer) {
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(answer.message->at("id").as_int64(), 71);
        EXPECT_EQ(code_of(*answer.message), error_code::request_cancelled);
        EXPECT_EQ(message_of(*answer.message), "Request cancelled");
    }
    /// The same connection answers the next request.
    static void expect_usable(http_client& connection, const http_caller& client) {
        connection.write(client.call_bytes("72", "echo", R"({"text":"usable"})"));
        EXPECT_EQ(text_of(*outcome_of(connection).message), "usable");
        EXPECT_TRUE(connection.quiet());
    }
};

TEST_P(http_cancel, HTTP_3_one_who_waits_for_a_body_gets_an_error) {
    struct setting {
        std::vector<std::string> arguments;
        std::string_view accept;
    };
    for (const setting& each : {setting{{}, takes_both}, setting{{}, takes_json}, setting{{"--json-only"}, takes_both},
                                setting{{"--not-resumable"}, takes_both}}) {
        talk one(each.arguments, {.accept = std::string(each.accept)});
        http_client waiting = one.client.call("71", "park", with_key("parked"));
        one.server.mark("start", "parked");
        one.client.cancel("71", R"("enough")");
        one.server.mark("cancel", "parked");
        const http_outcome answer = outcome_of(waiting);
        EXPECT_EQ(answer.head.status, 200);
        EXPECT_EQ(answer.head.type(), "application/json");
        expect_cancelled(answer);
        expect_usable(waiting, one.client);
        EXPECT_THAT(one.server.logged("request 71 ("), HasSubstr("cancelled: peer, enough"));
    }
}

TEST_P(http_cancel, HTTP_3_one_who_takes_events_only_gets_no_other_type) {
    talk one({}, {.accept = std::string(takes_events)});
    http_client waiting = one.client.call("71", "park", with_key("parked"));
    one.server.mark("start", "parked");
    one.client.cancel("71");
    const http_outcome answer = outcome_of(waiting);
    EXPECT_TRUE(answer.head.in_events());
    expect_cancelled(answer);
    expect_usable(waiting, one.client);
}

TEST_P(http_cancel, HTTP_3_a_resumable_stream_ends_with_an_error_for_whoever_comes_back_too) {
    talk one;
    http_client listening =
        one.client.call("71", "wait", with_key("waits", R"("ms":600000,"tick_ms":1)"), with_progress);
    ASSERT_TRUE(listening.head().in_events());
    std::string seen;
    for (int i = 0; i < 3; ++i) seen = *listening.event()->id;
    one.client.cancel("71");
    std::optional<http_event> last;
    while (auto event = listening.event()) last = std::move(event);
    ASSERT_TRUE(last);
    EXPECT_EQ(code_of(last->message()), error_code::request_cancelled);
    EXPECT_TRUE(last->id);
    expect_usable(listening, one.client);
    // The progress that was kept went with the cancel; what is left is the end.
    http_client again = one.client.get(seen);
    const http_outcome rest = outcome_of(again);
    EXPECT_THAT(rest.events, SizeIs(1));
    expect_cancelled(rest);
}

TEST_P(http_cancel, HTTP_3_a_stream_that_cannot_be_resumed_ends_without_a_word) {
    talk one({"--not-resumable"});
    http_client listening =
        one.client.call("71", "wait", with_key("waits", R"("ms":600000,"tick_ms":1)"), with_progress);
    ASSERT_TRUE(listening.head().in_events());
    EXPECT_TRUE(listening.event());
    one.client.cancel("71");
    int after = 0;
    while (auto event = listening.event()) {
        EXPECT_THAT(event->data, HasSubstr("notifications/progress")) << "on its way when the cancel came";
        ++after;
    }
    expect_usable(listening, one.client);
}

TEST_P(http_cancel, HTTP_3_RCV_4_not_one_event_more_though_the_handler_goes_on_sending) {
    for (const bool resumable : {true, false}) {
        talk one(resumable ? std::vector<std::string>{} : std::vector<std::string>{"--not-resumable"});
        http_client listening =
            one.client.call("71", "wait_ignore", with_key("deaf", R"("ms":300,"tick_ms":2)"), with_progress);
        ASSERT_TRUE(listening.head().in_events());
        EXPECT_TRUE(listening.event());
        one.client.cancel("71");
        one.client.fence();
        EXPECT_FALSE(one.server.marked("end", "deaf")) << "it ended too soon to prove anything";
        std::vector<http_event> rest;
        while (auto event = listening.event()) rest.push_back(std::move(*event));
        EXPECT_FALSE(one.server.marked("end", "deaf")) << "the stream waited for the handler";
        if (resumable) {
            ASSERT_FALSE(rest.empty());
            EXPECT_EQ(code_of(rest.back().message()), error_code::request_cancelled);
        }
        one.server.mark("end", "deaf");
        one.client.until_free("71");
        EXPECT_TRUE(listening.quiet());
        expect_usable(listening, one.client);
        if (!resumable) continue;
        http_client again = one.client.get(*rest.back().id);
        EXPECT_THAT(outcome_of(again).events, IsEmpty()) << "nothing was added behind the end";
    }
}

TEST_P(http_cancel, HTTP_3_RCV_4_events_that_wait_for_a_slow_reader_go_with_the_cancel) {
    talk one({}, {.connection = {.receive_buffer = 1}});
    // More than the kernels hold, so that everything behind it waits inside the server.
    http_client slow = one.client.connection();
    slow.write(one.client.call_bytes("70", "echo", R"({"text":")" + std::string(3'000'000, '.') + "\"}") +
               one.client.call_bytes("71", "wait_ignore", with_key("deaf", R"("ms":300,"tick_ms":1)"), with_progress));
    one.server.mark("start", "deaf");
    http_client other = one.client.call("72", "block", with_key("meanwhile", R"("ms":100)"));
    one.server.mark("end", "meanwhile");
    one.client.cancel("71");
    one.server.logged("request 71 (");
    EXPECT_EQ(text_of(*outcome_of(slow).message).size(), 3'000'000U);
    const http_outcome answer = outcome_of(slow);
    expect_cancelled(answer);
    for (const http_event& each : answer.events) {
        EXPECT_EQ(each.data.find("notifications/"), std::string::npos) << each.data;
    }
}

TEST_P(http_cancel, HTTP_3_a_call_that_nobody_listens_to_is_cancelled_all_the_same) {
    talk one;
    http_client gone = one.client.call("71", "park", with_key("parked"));
    one.server.mark("start", "parked");
    gone.reset();
    one.client.fence();
    one.client.cancel("71");
    one.server.mark("cancel", "parked");
    one.client.until_free("71");
}

INSTANTIATE_TEST_SUITE_P(http, http_cancel, testing::ValuesIn(legacy_http_revisions), revision_name());

/// Without sessions; `A` is alice's token, `B` is bob's.
class http_alone : public testing::TestWithParam<revision> {
protected:
    explicit http_alone(std::vector<std::string> arguments = {"--no-sessions", "--token", "A=alice", "--token", "B=bob",
                                                              "--token", "A2=alice"})
        : server(GetParam(), std::move(arguments)) {}

    http_process server;
    http_caller alice{server.caller({.token = "A"})};
    http_caller also_alice{server.caller({.token = "A2"})};
    http_caller bob{server.caller({.token = "B"})};
};

TEST_P(http_alone, HTTP_4_a_cancel_finds_its_request_by_principal_and_id) {
    alice.open();
    EXPECT_EQ(alice.session(), "") << "there are none";
    http_client waiting = alice.call("71", "park", with_key("parked"));
    http_client other = alice.call("\"71\"", "park", with_key("text"));
    server.mark("start", "parked");
    server.mark("start", "text");
    also_alice.cancel("71", R"("another token of the same principal")");
    server.mark("cancel", "parked");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: peer, another token"));
    EXPECT_EQ(code_of(*outcome_of(waiting).message), error_code::request_cancelled);
    alice.fence();
    EXPECT_FALSE(server.marked("cancel", "text")) << "MSG-3: \"71\" is another id";
    EXPECT_TRUE(other.quiet());
    alice.cancel("\"71\"");
    server.mark("cancel", "text");
}

TEST_P(http_alone, HTTP_4_DIR_6_another_principals_does_nothing) {
    http_client waiting = alice.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    bob.cancel("71");
    http_client bobs = bob.call("71", "park", with_key("bobs"));
    server.mark("start", "bobs");
    bob.cancel("71");
    server.mark("cancel", "bobs");
    bob.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    alice.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(http_alone, HTTP_4_of_two_with_the_same_id_neither) {
    http_client one = alice.call("71", "park", with_key("one"));
    http_client two = also_alice.call("71", "wait", with_key("two", R"("ms":600000,"tick_ms":1)"), with_progress);
    server.mark("start", "one");
    server.mark("start", "two");
    alice.cancel("71");
    alice.fence();
    EXPECT_FALSE(server.marked("cancel", "one"));
    EXPECT_FALSE(server.marked("cancel", "two"));
    http_client three = alice.call("72", "block", with_key("three", R"("ms":0)"));
    EXPECT_EQ(text_of(*outcome_of(three).message), "blocked 0 ms");
    alice.cancel("72");  // answered: nothing to cancel
    alice.fence();
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_P(http_alone, HTTP_4_one_that_is_over_does_not_stand_in_the_way_of_the_next) {
    for (int i = 0; i < 10; ++i) {
        const std::string key = "round" + std::to_string(i);
        http_client waiting = alice.call("71", "park", with_key(key));
        server.mark("start", key);
        alice.cancel("71");
        server.mark("cancel", key);
        EXPECT_EQ(code_of(*outcome_of(waiting).message), error_code::request_cancelled);
        EXPECT_EQ(text_of(*alice.answered("71", "echo", R"({"text":"x"})").message), "x");
    }
}

TEST_P(http_alone, HTTP_4_RCV_6_a_malformed_cancel_is_ignored_and_logged) {
    http_client waiting = alice.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    for (const std::string_view params :
         {R"({"requestId":71,"reason":17})", R"({"requestId":71,"reason":null})", R"({"requestId":[71]})",
          R"({"requestId":71.5})", R"({"reason":"whom?"})", R"({})", R"([71])"}) {
        static_cast<void>(
            alice.tell(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)" + std::string(params) + "}"));
        alice.fence();
        EXPECT_FALSE(server.marked("cancel", "parked")) << params;
    }
    server.logged("a cancel without a valid requestId");
    server.logged("a cancel whose reason is no string");
    EXPECT_TRUE(waiting.quiet());
    alice.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(http_alone, HTTP_4_a_disconnect_is_no_cancel_here_either) {
    http_client gone = alice.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    gone.reset();
    for (int i = 0; i < 3; ++i) alice.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    alice.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(http_alone, HTTP_4_nothing_to_get_and_nothing_to_delete) {
    for (const std::string& bytes : {alice.get_bytes(), alice.delete_bytes()}) {
        http_client refused = alice.send(bytes);
        const http_outcome answer = outcome_of(refused);
        EXPECT_EQ(answer.head.status, 405);
        EXPECT_EQ(answer.head.header("allow"), "POST");
    }
}

INSTANTIATE_TEST_SUITE_P(http, http_alone, testing::ValuesIn(legacy_http_revisions), revision_name());

/// Nobody in particular calls.
class http_alone_anonymous : public http_alone {
protected:
    http_alone_anonymous() : http_alone({"--no-sessions", "--abandon-ms", "200"}) {}
    http_caller client{server.caller()};
};

TEST_P(http_alone_anonymous, HTTP_4_where_no_principal_tells_callers_apart_a_cancel_does_nothing) {
    http_client waiting = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    client.cancel("71");
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    EXPECT_TRUE(waiting.quiet());
}

TEST_P(http_alone_anonymous, HTTP_2_HTTP_4_one_that_was_left_is_cancelled_after_a_while) {
    http_client gone = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    gone.close();
    server.mark("cancel", "parked");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect, the client did not come back"));
}

INSTANTIATE_TEST_SUITE_P(http, http_alone_anonymous, testing::ValuesIn(legacy_http_revisions), revision_name());

}  // namespace
}  // namespace andon
