// What a client asks to be told of: subscriptions/listen since 2026-07-28, resources/subscribe before.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr revision modern = revision::v2026_07_28;
constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";
constexpr std::string_view tools_changed = "notifications/tools/list_changed";
constexpr std::string_view updated = "notifications/resources/updated";
constexpr std::string_view watched = R"("uri":"test://watched-resource")";

struct listening : testing::Test {
    server_process server{modern};

    void listen(std::string_view raw_id, const std::string& raw_filter) {
        server.send(request_line(modern, raw_id, "subscriptions/listen", R"("notifications":)" + raw_filter));
    }
    /// What was told on that subscription so far: methods, and `result` for its end.
    [[nodiscard]] std::vector<std::string> told(std::string_view raw_id) const {
        std::vector<std::string> all;
        for (const std::string& line : server.lines()) {
            if (line.find(R"("io.modelcontextprotocol/subscriptionId":)" + std::string(raw_id) + '}') ==
                    std::string::npos &&
                line.find(R"("io.modelcontextprotocol/subscriptionId":)" + std::string(raw_id) + ',') ==
                    std::string::npos) {
                continue;
            }
            const json::object message = json::parse(line).as_object();
            const json::value* const method = message.if_contains("method");
            all.emplace_back(method != nullptr ? std::string(method->as_string()) : "result");
        }
        return all;
    }
    void wait_for(std::string_view raw_id, std::size_t count) {
        server.wait_until([&] { return told(raw_id).size() >= count; }, "messages of a subscription");
    }
    void trigger(std::string_view tool) {
        server.call(R"("trigger")", tool);
        server.answer(R"("trigger")");
    }
};

TEST_F(listening, SUB_3_the_acknowledgement_comes_first_and_every_message_names_the_subscription) {
    for (const std::string_view raw_id : {"71", "0", "-3", "9007199254740993", R"("a \"b")"}) {
        listen(raw_id, R"({"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"]})");
        wait_for(raw_id, 1);
        trigger("test_trigger_tool_change");
        trigger("test_trigger_resource_change");
        wait_for(raw_id, 3);
        EXPECT_THAT(told(raw_id), ElementsAre(acknowledged, tools_changed, updated)) << raw_id;
    }
}

TEST_F(listening, SUB_3_the_acknowledgement_tells_what_was_agreed_on) {
    listen("71",
           R"({"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["a:b"],"later":true})");
    const json::value line = json::parse(server.line_with(acknowledged));
    EXPECT_EQ(json::serialize(line.at("params").at("notifications")),
              R"({"toolsListChanged":true,"resourceSubscriptions":["a:b"]})");
}

TEST_F(listening, SUB_3_nothing_is_told_that_was_not_asked_for) {
    listen("1", R"({})");
    listen("2", R"({"promptsListChanged":true,"resourcesListChanged":true,"toolsListChanged":false})");
    listen("3", R"({"resourceSubscriptions":["test://static-text"]})");
    listen("4", R"({"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"]})");
    wait_for("4", 1);
    trigger("test_trigger_tool_change");
    trigger("test_trigger_resource_change");
    wait_for("4", 3);
    server.fence();
    for (const std::string_view raw_id : {"1", "2", "3"}) EXPECT_THAT(told(raw_id), ElementsAre(acknowledged));
    EXPECT_EQ(server.heard(tools_changed), 1) << "and nothing without a subscription";
}

TEST_F(listening, SUB_1_RCV_4_nothing_comes_after_the_clients_cancel_and_no_response) {
    listen("1", R"({"toolsListChanged":true})");
    listen("2", R"({"toolsListChanged":true})");
    wait_for("2", 1);
    server.cancel("1", R"("enough")");
    EXPECT_THAT(server.logged("request 1 ("), HasSubstr("cancelled: peer, enough"));
    trigger("test_trigger_tool_change");
    wait_for("2", 2);
    server.fence();
    EXPECT_THAT(told("1"), ElementsAre(acknowledged));
    EXPECT_EQ(server.answers("1"), 0);
    server.until_free("1");
}

TEST_F(listening, SUB_1_an_id_can_listen_again) {
    for (int round = 0; round < 3; ++round) {
        listen("1", R"({"toolsListChanged":true})");
        wait_for("1", 2 * static_cast<std::size_t>(round) + 1);
        trigger("test_trigger_tool_change");
        wait_for("1", 2 * static_cast<std::size_t>(round) + 2);
        server.cancel("1");
        server.until_free("1");
    }
    EXPECT_EQ(server.heard(tools_changed), 3);
}

TEST_F(listening, RCV_10_an_id_that_listens_is_in_flight) {
    listen("1", R"({"toolsListChanged":true})");
    wait_for("1", 1);
    listen("1", R"({"promptsListChanged":true})");
    EXPECT_EQ(code_of(server.answer("1")), error_code::invalid_request);
    trigger("test_trigger_tool_change");
    wait_for("1", 2);
}

TEST_F(listening, SUB_2_a_server_that_leaves_says_so_and_completes_the_request) {
    listen("71", R"({"toolsListChanged":true})");
    wait_for("71", 1);
    ::kill(server.pid(), SIGTERM);
    EXPECT_EQ(server.exit().code, 0);
    EXPECT_THAT(told("71"), ElementsAre(acknowledged, "result"));
    ASSERT_EQ(server.lines().size(), 3U);
    const json::object cancelled = json::parse(server.lines()[1]).as_object();
    EXPECT_EQ(cancelled.at("method").as_string(), "notifications/cancelled");
    EXPECT_EQ(cancelled.at("params").at("requestId").as_int64(), 71);
    const json::object last = json::parse(server.lines()[2]).as_object();
    EXPECT_EQ(last.at("result").at("resultType").as_string(), "complete");
}

TEST_F(listening, a_filter_that_is_none_is_refused) {
    for (const std::string_view raw_members :
         {"", R"("notifications":null)", R"("notifications":[])", R"("notifications":{"toolsListChanged":1})",
          R"("notifications":{"resourceSubscriptions":"a:b"})", R"("notifications":{"resourceSubscriptions":[1]})"}) {
        server.send(request_line(modern, "1", "subscriptions/listen", raw_members));
        EXPECT_EQ(code_of(server.answer("1")), error_code::invalid_params) << raw_members;
    }
    server.fence();
    EXPECT_EQ(server.heard(acknowledged), 0);
}

// Before 2026-07-28, and what of it is left.

using resource_subscriptions = served;

INSTANTIATE_TEST_SUITE_P(stdio, resource_subscriptions, testing::ValuesIn(all_revisions), revision_name());

TEST_P(resource_subscriptions, tell_of_every_change_until_they_are_ended) {
    const auto ask = [&](std::string_view method) {
        server.send(request_line(GetParam(), "1", method, watched));
        return server.answer("1");
    };
    const auto change = [&] {
        server.call("2", "test_trigger_resource_change");
        server.answer("2");
    };
    if (modern()) {
        EXPECT_EQ(code_of(ask("resources/subscribe")), error_code::method_not_found);
        EXPECT_EQ(code_of(ask("resources/unsubscribe")), error_code::method_not_found);
        return;
    }
    change();
    for (int twice = 0; twice < 2; ++twice) EXPECT_THAT(ask("resources/subscribe").at("result").as_object(), IsEmpty());
    change();
    EXPECT_THAT(server.line_with(updated), HasSubstr(std::string(R"("params":{)").append(watched) + "}"));
    change();
    server.line_with(updated);
    for (int twice = 0; twice < 2; ++twice) {
        EXPECT_THAT(ask("resources/unsubscribe").at("result").as_object(), IsEmpty());
    }
    change();
    server.fence();
    EXPECT_EQ(server.heard(updated), 2);
}

TEST_P(resource_subscriptions, need_a_uri) {
    if (modern()) return;
    server.send(request_line(GetParam(), "1", "resources/subscribe", ""));
    EXPECT_EQ(code_of(server.answer("1")), error_code::invalid_params);
    server.send(request_line(GetParam(), "2", "subscriptions/listen", R"("notifications":{})"));
    EXPECT_EQ(code_of(server.answer("2")), error_code::method_not_found) << "only 2026-07-28 has it";
}

}  // namespace
}  // namespace andon
