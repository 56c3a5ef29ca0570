// What a call asks of its client over HTTP: on the call's own stream, and gone with the call.
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"
#include "server/http_listening.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

/// Up to 2025-11-25 the server asks with a request of its own.
class http_asks : public http_served {
protected:
    /// The server's question, the first on its stream. Its id, as JSON.
    static std::string question(http_client& stream) {
        EXPECT_TRUE(stream.head().in_events());
        for (;;) {
            const auto event = stream.event();
            if (!event) throw std::runtime_error("the stream has ended without a question");
            if (event->data.empty()) continue;
            const json::object message = event->message();
            EXPECT_EQ(message.at("method").as_string(), "sampling/createMessage");
            return std::to_string(message.at("id").as_int64());
        }
    }
    [[nodiscard]] int reply(const std::string& raw_id, std::string_view text, const http_caller& by) const {
        return by.tell(R"({"jsonrpc":"2.0","id":)" + raw_id +
                       R"(,"result":{"role":"assistant","model":"test","content":{"type":"text","text":")" +
                       std::string(text) + R"("}}})");
    }
};

TEST_P(http_asks, RCV_12_a_question_goes_on_the_stream_of_its_call_and_its_answer_comes_by_POST) {
    http_client own = client.get();
    EXPECT_TRUE(own.head().in_events());
    http_client asks = client.call("71", "ask", with_key("asks"));
    const std::string asked = question(asks);
    EXPECT_EQ(reply(asked, "hello", client), 202);
    const auto answer = asks.event();
    ASSERT_TRUE(answer);
    EXPECT_EQ(text_of(answer->message()), "hello");
    EXPECT_FALSE(asks.event());
    EXPECT_TRUE(own.quiet()) << "every message goes on one stream only";
}

TEST_P(http_asks, RCV_12_the_question_is_cancelled_with_the_call_on_the_same_stream_before_its_end) {
    http_client asks = client.call("71", "ask", with_key("asks"));
    const std::string asked = question(asks);
    client.cancel("71", R"("never mind")");
    server.mark("cancel", "asks");
    const auto told = asks.event();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->message().at("method").as_string(), "notifications/cancelled");
    EXPECT_EQ(json::serialize(told->message().at("params").at("requestId")), asked);
    EXPECT_THAT(told->data, HasSubstr("never mind"));
    const auto end = asks.event();
    ASSERT_TRUE(end);
    EXPECT_EQ(code_of(end->message()), error_code::request_cancelled);
    EXPECT_FALSE(asks.event());
    EXPECT_EQ(reply(asked, "too late", client), 202);
    client.until_free("71");
    EXPECT_TRUE(asks.quiet());
}

TEST_P(http_asks, TIME_5_RCV_12_the_question_is_taken_back_on_the_same_stream_when_the_time_is_over) {
    http_listening listening;
    listening->tool({.name = "limited", .limit = std::chrono::milliseconds(50)},
                    [](call& call) { return json::value(call.sample({})); });
    listening.listen();
    const http_caller caller = listening.caller(GetParam());
    http_client asks = caller.call("71", "limited");
    const std::string asked = question(asks);
    const auto told = asks.event();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->message().at("method").as_string(), "notifications/cancelled");
    EXPECT_EQ(json::serialize(told->message().at("params").at("requestId")), asked);
    const auto answer = asks.event();
    ASSERT_TRUE(answer);
    EXPECT_THAT(text_of(answer->message()), HasSubstr("longer than this server allows"));
    EXPECT_FALSE(asks.event());
}

TEST_P(http_asks, DIR_1_a_cancel_never_touches_what_the_server_issued_though_the_ids_are_equal) {
    http_client first = client.call("\"first\"", "ask", with_key("first"));
    const std::string asked = question(first);
    client.cancel(asked);  // no request of the client's has that id
    client.fence();
    // And now one has, while the server's is open.
    http_client second = client.call(asked, "ask", with_key("second"));
    const std::string next = question(second);
    EXPECT_NE(next, asked);
    client.cancel(asked, R"("the second")");
    server.mark("cancel", "second");
    EXPECT_EQ(json::serialize(second.event()->message().at("params").at("requestId")), next);
    EXPECT_FALSE(server.marked("cancel", "first"));
    EXPECT_TRUE(first.quiet());
    EXPECT_EQ(reply(asked, "hello", client), 202);
    EXPECT_EQ(text_of(first.event()->message()), "hello");
}

TEST_P(http_asks, DIR_3_what_was_answered_is_not_cancelled) {
    http_client asks = client.call("71", "ask", with_key("asks"));
    const std::string asked = question(asks);
    EXPECT_EQ(reply(asked, "yes", client), 202);
    client.cancel("71");
    std::vector<http_event> rest;
    while (auto event = asks.event()) rest.push_back(std::move(*event));
    ASSERT_FALSE(rest.empty());
    for (const http_event& each : rest) EXPECT_EQ(each.data.find("notifications/cancelled"), std::string::npos);
}

TEST_P(http_asks, DIR_6_an_answer_from_another_session_answers_nothing) {
    http_client asks = client.call("71", "ask", with_key("asks"));
    const std::string asked = question(asks);
    http_caller other = server.caller();
    other.open();
    EXPECT_EQ(reply(asked, "forged", other), 202);
    other.fence();
    EXPECT_TRUE(asks.quiet());
    EXPECT_EQ(reply(asked, "mine", client), 202);
    EXPECT_EQ(text_of(asks.event()->message()), "mine");
}

TEST_P(http_asks, HTTP_2_a_question_that_was_missed_is_asked_again_when_the_client_comes_back) {
    http_client asks = client.call("71", "ask", with_key("asks"));
    ASSERT_TRUE(asks.head().in_events());
    const auto first = asks.event();
    ASSERT_TRUE(first && first->id);
    asks.reset();
    const bool primed = first->data.empty();
    http_client again = client.get(*first->id);
    std::string asked;
    if (primed) {
        asked = question(again);
    } else {
        asked = std::to_string(first->message().at("id").as_int64());
        ASSERT_TRUE(again.head().in_events());
    }
    EXPECT_EQ(reply(asked, "back again", client), 202);
    EXPECT_EQ(text_of(again.event()->message()), "back again");
    EXPECT_FALSE(again.event());
}

INSTANTIATE_TEST_SUITE_P(http, http_asks, testing::ValuesIn(legacy_http_revisions), revision_name());

TEST(http_modern_asks, RCV_12_a_question_is_an_answer_and_nothing_is_kept_for_it) {
    http_process server(revision::v2026_07_28);
    const http_caller client = server.caller();
    const http_outcome first = client.answered("71", "ask", with_key("asks"));
    const json::object& result = first.message->at("result").as_object();
    EXPECT_EQ(result.at("resultType").as_string(), "input_required");
    const json::object& asked = result.at("inputRequests").as_object();
    ASSERT_EQ(asked.size(), 1U);
    // On another connection, with another id: nothing of the first round is needed.
    const std::string members = R"("name":"ask","arguments":{"key":"asks"},"requestState":)" +
                                json::serialize(result.at("requestState")) + R"(,"inputResponses":{)" +
                                json::serialize(json::string(asked.begin()->key())) +
                                R"(:{"role":"assistant","model":"m","content":{"type":"text","text":"said"}}})";
    http_client second =
        client.send(client.post(request_line(revision::v2026_07_28, "72", "tools/call", members), "tools/call", "ask"));
    EXPECT_EQ(text_of(*outcome_of(second).message), "said");
}

}  // namespace
}  // namespace andon
