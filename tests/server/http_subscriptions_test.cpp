// Subscriptions over HTTP: subscriptions/listen has a stream of its own, resources/subscribe the session's.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

constexpr revision modern = revision::v2026_07_28;
constexpr std::string_view tools_changed = "notifications/tools/list_changed";

std::string listen_bytes(const http_caller& client, std::string_view raw_id) {
    return client.post(
        request_line(modern, raw_id, "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"),
        "subscriptions/listen");
}

class http_listening : public testing::Test {
protected:
    http_process server{modern};
    http_caller client{server.caller()};

    /// A subscription that was acknowledged.
    [[nodiscard]] http_client listen(std::string_view raw_id) const {
        http_client stream = client.send(listen_bytes(client, raw_id));
        EXPECT_TRUE(stream.head().in_events());
        EXPECT_THAT(stream.event()->data, HasSubstr("notifications/subscriptions/acknowledged"));
        return stream;
    }
    void change_tools() const { EXPECT_EQ(client.answered("9", "test_trigger_tool_change").head.status, 200); }
};

TEST_F(http_listening, SUB_3_the_acknowledgement_comes_first_and_every_message_names_the_subscription) {
    http_client stream = listen("71");
    change_tools();
    change_tools();
    for (int i = 0; i < 2; ++i) {
        const json::object message = stream.event()->message();
        EXPECT_EQ(message.at("method").as_string(), tools_changed);
        EXPECT_EQ(message.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId").as_int64(), 71);
    }
}

TEST_F(http_listening, SUB_1_HTTP_1_closing_the_stream_ends_it_and_no_other) {
    http_client leaves = listen("71");
    http_client stays = listen("71");
    leaves.close();
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
    change_tools();
    EXPECT_THAT(stays.event()->data, HasSubstr(tools_changed));
    EXPECT_EQ(server.times_logged("cancelled:"), 1);
}

TEST_F(http_listening, SUB_2_a_server_that_leaves_completes_the_request_and_ends_the_stream) {
    http_client stream = listen("71");
    ::kill(server.pid(), SIGTERM);
    const json::object last = stream.event()->message();
    EXPECT_EQ(last.at("id").as_int64(), 71);
    EXPECT_EQ(last.at("result").at("resultType").as_string(), "complete");
    EXPECT_EQ(last.at("result").at("_meta").at("io.modelcontextprotocol/subscriptionId").as_int64(), 71);
    EXPECT_FALSE(stream.event()) << "no notification: only a shared stream needs one";
    EXPECT_EQ(server.exit().code, 0);
}

TEST_F(http_listening, HTTP_5_it_needs_a_client_that_takes_events) {
    client.how().accept = std::string(takes_json);
    http_client refused = client.send(listen_bytes(client, "71"));
    EXPECT_EQ(refused.head().status, 406);
    EXPECT_EQ(refused.json_body().at("id").as_int64(), 71);
}

TEST(http_listening_in_vain, HTTP_5_a_server_that_never_answers_in_events_does_not_have_it) {
    http_process server(modern, {"--json-only"});
    const http_caller client = server.caller();
    http_client refused = client.send(listen_bytes(client, "71"));
    EXPECT_EQ(refused.head().status, 404);
    EXPECT_EQ(code_of(refused.json_body()), error_code::method_not_found);
}

// Up to 2025-11-25.

std::string subscribe_bytes(const http_caller& client) {
    return client.post(request_line(client.speaks(), "1", "resources/subscribe", R"("uri":"test://watched-resource")"));
}

class http_resource_subscriptions : public http_served {};

INSTANTIATE_TEST_SUITE_P(http, http_resource_subscriptions, testing::ValuesIn(legacy_http_revisions), revision_name());

TEST_P(http_resource_subscriptions, DIR_6_a_change_comes_on_the_stream_of_the_session_that_subscribed) {
    http_caller other = server.caller();
    other.open();
    http_client ours = client.get();
    http_client theirs = other.get();
    EXPECT_TRUE(ours.head().in_events());
    EXPECT_TRUE(theirs.head().in_events());
    http_client asked = client.send(subscribe_bytes(client));
    EXPECT_EQ(code_of(*outcome_of(asked).message), 0);
    EXPECT_EQ(client.answered("2", "test_trigger_resource_change").head.status, 200);
    EXPECT_THAT(ours.event()->data, HasSubstr("notifications/resources/updated"));
    EXPECT_EQ(client.answered("3", "test_trigger_tool_change").head.status, 200);
    EXPECT_THAT(theirs.event()->data, HasSubstr(tools_changed)) << "the first that it hears";
}

TEST(http_without_sessions, a_legacy_client_is_promised_no_news_and_cannot_subscribe) {
    http_process server(revision::v2025_11_25, {"--no-sessions"});
    const http_caller client = server.caller();
    http_client opening = client.send(client.post(request_line(
        client.speaks(), "1", "initialize",
        R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})")));
    const json::object opened = *outcome_of(opening).message;
    for (const char* const what : {"tools", "prompts", "resources"}) {
        EXPECT_TRUE(opened.at("result").at("capabilities").at(what).as_object().empty()) << what;
    }
    http_client asked = client.send(subscribe_bytes(client));
    EXPECT_EQ(code_of(*outcome_of(asked).message), error_code::method_not_found);
}

}  // namespace
}  // namespace andon
