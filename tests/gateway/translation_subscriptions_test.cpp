// One subscription for many, and many for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/translation_said.hpp"

namespace andon::gateway {
namespace {

using testing::StartsWith;

constexpr announced_changes everything{.tools = true, .prompts = true, .resources = true, .updates = true};
constexpr announced_changes updates_only{.tools = false, .prompts = false, .resources = false, .updates = true};

std::string agreed(std::string_view filter) { return R"({"notifications":)" + std::string(filter) + '}'; }
std::string uris(std::string_view list) { return R"({"resourceSubscriptions":[)" + std::string(list) + "]}"; }

// A legacy client.

TEST(merged_subscription, listens_to_the_lists_that_the_server_tells_of) {
    merged_subscription all({.tools = true, .prompts = false, .resources = true, .updates = true}, R"({"m":1})");
    const listen_step step = all.begin();
    ASSERT_TRUE(step.begin);
    EXPECT_EQ(step.begin->raw_params,
              R"({"_meta":{"m":1},"notifications":{"toolsListChanged":true,"resourcesListChanged":true}})");
    EXPECT_EQ(said(all.begin()), "nothing") << "once";
    EXPECT_EQ(said(all.acknowledged(1, agreed(R"({"toolsListChanged":true})"))), "nothing");
}

TEST(merged_subscription, listens_to_nothing_of_a_server_that_tells_nothing) {
    merged_subscription none({}, "{}");
    EXPECT_EQ(said(none.begin()), "nothing");
    EXPECT_THAT(said(none.subscribe("u")), StartsWith("refuse -32601"));
    EXPECT_EQ(said(none.unsubscribe("u")), "answer {}");
}

TEST(merged_subscription, is_replaced_by_one_that_has_more_and_answers_then) {
    merged_subscription all(everything, "{}");
    static_cast<void>(all.begin());
    static_cast<void>(all.acknowledged(1, agreed("{}")));
    EXPECT_EQ(said(all.subscribe("u")),
              R"(listen 2 {"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,)"
              R"("resourceSubscriptions":["u"]}})");
    EXPECT_EQ(said(all.acknowledged(2, agreed(uris(R"("u")")))), "answer {} | end 1");
    EXPECT_EQ(said(all.subscribe("u")), "answer {}") << "it is there already";
    EXPECT_TRUE(all.wants("notifications/resources/updated", R"({"uri":"u"})"));
    EXPECT_TRUE(all.wants("notifications/resources/updated", R"({"uri":"u/inside"})"));
    EXPECT_FALSE(all.wants("notifications/resources/updated", R"({"uri":"user"})"));
}

TEST(merged_subscription, refuses_what_the_server_does_not_agree_to) {
    merged_subscription all(updates_only, "{}");
    EXPECT_EQ(said(all.subscribe("a")), R"(listen 1 {"resourceSubscriptions":["a"]}})");
    EXPECT_EQ(said(all.acknowledged(1, agreed("{}"))),
              "refuse -32602 the server does not tell of changes of a | end 1");
    EXPECT_EQ(said(all.subscribe("b")), R"(listen 2 {"resourceSubscriptions":["b"]}})") << "without the refused one";
    EXPECT_EQ(said(all.ended(2, R"({"code":-32602,"message":"no"})")),
              "refuse -32603 the server refused the subscription: no");
    EXPECT_EQ(said(all.subscribe("c")), R"(listen 3 {"resourceSubscriptions":["c"]}})");
    EXPECT_THAT(said(all.acknowledged(3, "[]")), StartsWith("refuse -32602")) << "an acknowledgement that is none";
}

TEST(merged_subscription, has_room_for_several_on_their_way) {
    merged_subscription all(updates_only, "{}");
    EXPECT_EQ(said(all.subscribe("a")), R"(listen 1 {"resourceSubscriptions":["a"]}})");
    EXPECT_EQ(said(all.subscribe("b")), R"(listen 2 {"resourceSubscriptions":["a","b"]}})");
    EXPECT_EQ(said(all.acknowledged(2, agreed(uris(R"("a","b")")))), "answer {}");
    EXPECT_EQ(said(all.acknowledged(1, agreed(uris(R"("a")")))), "answer {} | end 1") << "late: the newer one counts";
    EXPECT_EQ(said(all.acknowledged(1, agreed("{}"))), "nothing") << "twice";
    EXPECT_EQ(said(all.acknowledged(77, agreed("{}"))), "nothing") << "never asked for";
}

TEST(merged_subscription, shrinks_and_ends) {
    merged_subscription all(updates_only, "{}");
    static_cast<void>(all.subscribe("a"));
    static_cast<void>(all.acknowledged(1, agreed(uris(R"("a")"))));
    static_cast<void>(all.subscribe("b"));
    static_cast<void>(all.acknowledged(2, agreed(uris(R"("a","b")"))));
    EXPECT_EQ(said(all.unsubscribe("a")), R"(listen 3 {"resourceSubscriptions":["b"]}})");
    EXPECT_FALSE(all.wants("notifications/resources/updated", R"({"uri":"a"})"));
    EXPECT_EQ(said(all.acknowledged(3, agreed(uris(R"("b")")))), "answer {} | end 2");
    EXPECT_EQ(said(all.unsubscribe("b")), "answer {} | end 3");
    EXPECT_EQ(said(all.ended(3, "")), "nothing");
}

TEST(merged_subscription, ends_one_that_was_not_wanted_any_more_when_it_came) {
    merged_subscription all(updates_only, "{}");
    static_cast<void>(all.subscribe("a"));
    EXPECT_EQ(said(all.unsubscribe("a")), "answer {}");
    EXPECT_EQ(said(all.acknowledged(1, agreed(uris(R"("a")")))), "answer {} | end 1");
}

TEST(merged_subscription, that_the_server_ends_begins_again_and_tells_that_changes_may_be_missed) {
    merged_subscription all({.tools = true, .prompts = false, .resources = false, .updates = true}, "{}");
    static_cast<void>(all.subscribe("u\n"));
    static_cast<void>(all.acknowledged(1, agreed(R"({"toolsListChanged":true,"resourceSubscriptions":["u\n"]})")));
    EXPECT_EQ(said(all.ended(1, "")),
              R"(listen 2 {"toolsListChanged":true,"resourceSubscriptions":["u\n"]}} after a pause)");
    EXPECT_EQ(said(all.acknowledged(2, agreed(R"({"toolsListChanged":true,"resourceSubscriptions":["u\n"]})"))),
              R"(tell notifications/tools/list_changed | tell notifications/resources/updated {"uri":"u\n"})");
    EXPECT_EQ(said(all.ended(2, R"({"code":1,"message":"m"})")),
              R"(listen 3 {"toolsListChanged":true,"resourceSubscriptions":["u\n"]}} after a pause)");
    EXPECT_EQ(said(all.ended(3, R"({"code":1,"message":"m"})")), "nothing") << "refused: it is not asked for ever";
}

TEST(merged_subscription, that_is_lost_while_a_newer_one_is_on_its_way_is_not_begun_twice) {
    merged_subscription all(everything, "{}");
    static_cast<void>(all.begin());
    static_cast<void>(all.acknowledged(1, agreed(R"({"toolsListChanged":true})")));
    static_cast<void>(all.subscribe("u"));
    EXPECT_EQ(said(all.ended(1, "")), "nothing");
    EXPECT_THAT(said(all.ended(2, R"({"code":1,"message":"m"})")),
                StartsWith("refuse -32603 the server refused the subscription: m | listen 3 "));
}

TEST(merged_subscription, is_begun_again_with_a_new_server) {
    merged_subscription all(updates_only, "{}");
    EXPECT_EQ(said(all.begin_again()), "nothing");
    static_cast<void>(all.subscribe("a"));
    static_cast<void>(all.acknowledged(1, agreed(uris(R"("a")"))));
    static_cast<void>(all.subscribe("b"));
    EXPECT_EQ(said(all.begin_again()), R"(listen 3 {"resourceSubscriptions":["a"]}})") << "b was never answered for";
    EXPECT_EQ(said(all.acknowledged(2, agreed(uris(R"("a","b")")))), "nothing") << "of the server before";
    EXPECT_EQ(said(all.acknowledged(3, agreed(uris(R"("a")")))), R"(tell notifications/resources/updated {"uri":"a"})");
}

TEST(merged_subscription, has_a_limit) {
    merged_subscription all(updates_only, "{}");
    for (std::size_t i = 0; i < merged_subscription::most_uris; ++i) {
        EXPECT_THAT(said(all.subscribe("u" + std::to_string(i))), StartsWith("listen"));
    }
    EXPECT_THAT(said(all.subscribe("one more")), StartsWith("refuse -32602 there are 1000 subscriptions already"));
    EXPECT_THAT(said(all.subscribe(std::string(9'000, 'x'))), StartsWith("refuse -32602 the URI is too long"));
}

TEST(merged_subscription, is_what_a_legacy_client_subscribes_by) {
    auto session =
        std::get<legacy_to_modern>(legacy_to_modern::begin(R"({"protocolVersion":"2025-06-18","capabilities":{}})",
                                                           R"({"capabilities":{"resources":{"subscribe":true}}})"));
    const auto step = session.request("resources/subscribe", R"({"uri":"\u0061","_meta":{"progressToken":1}})", "5");
    EXPECT_EQ(std::get<listen_step>(step).begin->raw_params,
              R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
              R"("io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"resourceSubscriptions":["a"]}})");
    EXPECT_EQ(said(session.subscription().acknowledged(1, agreed(uris(R"("a")")))), "answer {}");
    EXPECT_EQ(said(session.from_server("notifications/resources/updated",
                                       R"({"_meta":{"io.modelcontextprotocol/subscriptionId":3},"uri":"a"})")),
              R"(tell notifications/resources/updated {"uri":"a"})");
    EXPECT_EQ(said(session.request("resources/unsubscribe", R"({"uri":"a"})", "")), "answer {} | end 1");
}

// Modern clients.

std::string acknowledgement(std::string_view id, std::string_view filter) {
    return R"(tell notifications/subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
           std::string(id) + R"(},"notifications":)" + std::string(filter) + '}';
}

TEST(split_subscriptions, acknowledges_lists_at_once_and_only_those_that_the_server_tells_of) {
    split_subscriptions all({.tools = true, .prompts = false, .resources = false, .updates = false});
    EXPECT_EQ(said(all.listen(7, R"("x")",
                              agreed(R"({"toolsListChanged":true,"promptsListChanged":true,)"
                                     R"("resourceSubscriptions":["u"],"com.example/more":1})"))),
              "7 " + acknowledgement(R"("x")", R"({"toolsListChanged":true})"));
    EXPECT_EQ(said(all.change("notifications/tools/list_changed", R"({"_meta":{"a/b":1.0}})")),
              R"(7 tell notifications/tools/list_changed )"
              R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"x","a/b":1.0}})");
    EXPECT_EQ(said(all.change("notifications/prompts/list_changed", "")), "nothing");
    EXPECT_EQ(said(all.end(7)), "nothing");
    EXPECT_EQ(said(all.change("notifications/tools/list_changed", "")), "nothing") << "SUB-1";
}

TEST(split_subscriptions, SUB_3_acknowledges_resources_when_the_server_has_answered_for_each) {
    split_subscriptions all(everything);
    EXPECT_EQ(said(all.listen(1, "9007199254740993", agreed(uris(R"("a","b","a")")))),
              R"(forward resources/subscribe {"uri":"a"} | forward resources/subscribe {"uri":"b"})");
    EXPECT_EQ(said(all.change("notifications/resources/updated", R"({"uri":"a"})")), "nothing");
    EXPECT_EQ(said(all.answered("a", true)), "nothing");
    EXPECT_EQ(said(all.answered("b", false)), "1 " + acknowledgement("9007199254740993", uris(R"("a")")));
    EXPECT_EQ(said(all.change("notifications/resources/updated", R"({"uri":"a/x","title":"t"})")),
              R"(1 tell notifications/resources/updated )"
              R"({"_meta":{"io.modelcontextprotocol/subscriptionId":9007199254740993},"uri":"a/x","title":"t"})");
    EXPECT_EQ(said(all.change("notifications/resources/updated", R"({"uri":"b"})")), "nothing");
    EXPECT_EQ(said(all.change("notifications/resources/updated", R"({"uri":7})")), "nothing");
    EXPECT_EQ(said(all.end(1)), R"(forward resources/unsubscribe {"uri":"a"})");
}

TEST(split_subscriptions, subscribe_once_for_many) {
    split_subscriptions all(updates_only);
    EXPECT_EQ(said(all.listen(1, "1", agreed(uris(R"("a")")))), R"(forward resources/subscribe {"uri":"a"})");
    EXPECT_EQ(said(all.listen(2, "2", agreed(uris(R"("a")")))), "nothing") << "it waits for the same answer";
    EXPECT_EQ(said(all.answered("a", true)),
              "1 " + acknowledgement("1", uris(R"("a")")) + " | 2 " + acknowledgement("2", uris(R"("a")")));
    EXPECT_EQ(said(all.listen(3, "3", agreed(uris(R"("a")")))), "3 " + acknowledgement("3", uris(R"("a")")));
    EXPECT_EQ(all.change("notifications/resources/updated", R"({"uri":"a"})").size(), 3U);
    EXPECT_EQ(said(all.end(1)), "nothing");
    EXPECT_EQ(said(all.end(3)), "nothing");
    EXPECT_EQ(said(all.end(2)), R"(forward resources/unsubscribe {"uri":"a"})");
    EXPECT_EQ(said(all.end(2)), "nothing");
}

TEST(split_subscriptions, that_end_before_the_server_answers_are_undone_then) {
    split_subscriptions all(updates_only);
    static_cast<void>(all.listen(1, "1", agreed(uris(R"("a")"))));
    EXPECT_EQ(said(all.end(1)), "nothing");
    EXPECT_EQ(said(all.answered("a", true)), R"(forward resources/unsubscribe {"uri":"a"})");
    EXPECT_EQ(said(all.answered("a", true)), "nothing") << "twice";
    static_cast<void>(all.listen(2, "2", agreed(uris(R"("a")"))));
    static_cast<void>(all.end(2));
    EXPECT_EQ(said(all.listen(3, "3", agreed(uris(R"("a")")))), "nothing") << "the answer is still to come";
    EXPECT_EQ(said(all.answered("a", true)), "3 " + acknowledgement("3", uris(R"("a")")));
}

TEST(split_subscriptions, are_asked_for_again_of_a_new_server) {
    split_subscriptions all(everything);
    static_cast<void>(all.listen(1, "1", agreed(R"({"toolsListChanged":true,"resourceSubscriptions":["a","b"]})")));
    static_cast<void>(all.answered("a", true));
    static_cast<void>(all.answered("b", true));
    static_cast<void>(all.listen(2, "2", agreed(uris(R"("c")"))));
    EXPECT_THAT(said(all.begin_again()),
                StartsWith(R"(forward resources/subscribe {"uri":"a"} | forward resources/subscribe {"uri":"b"} | )"
                           R"(forward resources/subscribe {"uri":"c"} | 1 tell notifications/tools/list_changed)"));
    EXPECT_EQ(said(all.answered("a", true)), "nothing") << "it was acknowledged before";
    EXPECT_EQ(said(all.answered("b", false)), "nothing");
    EXPECT_EQ(said(all.answered("c", true)), "2 " + acknowledgement("2", uris(R"("c")")));
    EXPECT_EQ(said(all.change("notifications/resources/updated", R"({"uri":"b"})")), "nothing");
    EXPECT_EQ(said(all.end(1)), R"(forward resources/unsubscribe {"uri":"a"})");
}

TEST(split_subscriptions, refuse_what_is_no_filter) {
    split_subscriptions all(everything);
    for (const auto* const params :
         {"{}", R"({"notifications":[]})", R"({"notifications":{"toolsListChanged":1}})",
          R"({"notifications":{"resourceSubscriptions":"u"}})", R"({"notifications":{"resourceSubscriptions":[1]}})",
          R"({"notifications":{},"notifications":{}})"}) {
        EXPECT_THAT(said(all.listen(1, "1", params)), StartsWith("refuse -32602")) << params;
    }
    std::string many;
    for (std::size_t i = 0; i <= split_subscriptions::most_uris; ++i) {
        many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + '"';
    }
    EXPECT_THAT(said(all.listen(1, "1", agreed(uris(many)))), StartsWith("refuse -32602"));
    EXPECT_EQ(said(all.end(1)), "nothing") << "nothing of it is left";
}

TEST(split_subscriptions, have_a_limit_together) {
    split_subscriptions all(updates_only);
    std::uint64_t number = 0;
    const auto thousand = [&] {
        std::string list;
        for (int i = 0; i < 1'000; ++i) {
            list += (i == 0 ? "\"" : ",\"") + std::to_string(number) + '-' + std::to_string(i) + '"';
        }
        return all.listen(++number, "1", agreed(uris(list)));
    };
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(thousand().refused);
    EXPECT_THAT(said(thousand()), StartsWith("refuse -32603 too many resources"));
}

TEST(split_subscriptions, end_with_an_answer_that_names_them) {
    const auto session =
        std::get<modern_to_legacy>(modern_to_legacy::begin(R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
    EXPECT_EQ(session.listen_result(R"("l")"),
              R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l",)"
              R"("io.modelcontextprotocol/serverInfo":{"name":"server","version":"unknown"}}})");
}

}  // namespace
}  // namespace andon::gateway
