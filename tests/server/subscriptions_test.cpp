// What clients are told of, by a server inside this process.
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

#include "server/raw_client.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";
constexpr std::string_view updated = "notifications/resources/updated";

std::string nothing(call&) { return ""; }

class told_of_changes : public testing::Test {
protected:
    raw_client& client() {
        if (!served) served.emplace(what, revision::v2026_07_28);
        return served->client;
    }
    int listen(json::object filter) {
        return client().send("subscriptions/listen", {{"notifications", std::move(filter)}});
    }

    server what{{.name = "told", .log = {}}};
    std::optional<served_here> served;
};

TEST_F(told_of_changes, SUB_3_a_server_agrees_to_nothing_that_it_does_not_have) {
    what.tool("only", "Does nothing", nothing);
    listen({{"toolsListChanged", true},
            {"promptsListChanged", true},
            {"resourcesListChanged", true},
            {"resourceSubscriptions", json::array{"a:b"}}});
    EXPECT_EQ(json::serialize(client().notification(acknowledged).at("notifications")), R"({"toolsListChanged":true})");
}

TEST_F(told_of_changes, SUB_3_of_a_resource_by_its_uri_and_from_any_thread) {
    what.resource({.uri = "notes://{page}", .name = "notes"}, nothing);
    listen({{"resourceSubscriptions", json::array{"notes://1", "notes://2"}}});
    client().notification(acknowledged);
    for (const char* const uri : {"notes://3", "notes://2", "notes://1"}) {
        std::thread([&] { what.resource_changed(uri); }).join();
    }
    EXPECT_EQ(client().notification(updated).at("uri").as_string(), "notes://2");
    EXPECT_EQ(client().notification(updated).at("uri").as_string(), "notes://1");
}

TEST_F(told_of_changes, before_anybody_is_there_to_hear_of_it) {
    what.resource({.uri = "notes://1", .name = "notes"}, nothing);
    what.resource_changed("notes://1");
    client().ask("resources/list");
    EXPECT_TRUE(client().notifications(updated).empty());
}

TEST_F(told_of_changes, SUB_2_a_reader_that_is_too_slow_is_told_so_by_the_end) {
    what.resource({.uri = "notes://1", .name = "notes"}, nothing);
    const int id = listen({{"resourceSubscriptions", json::array{"notes://1"}}});
    const int other = listen({{"resourceSubscriptions", json::array{"notes://2"}}});
    client().notification(acknowledged);
    client().notification(acknowledged);
    ASSERT_EQ(what.requests().size(), 2U);
    // Nobody reads. It ends as soon as something was lost.
    for (int i = 0; i < 1'000'000 && what.requests().size() == 2; ++i) what.resource_changed("notes://1");
    ASSERT_EQ(what.requests().size(), 1U);
    EXPECT_THAT(json::serialize(client().notification("notifications/cancelled")), HasSubstr("too slow"));
    EXPECT_EQ(client().answer(id).at("result").at("resultType").as_string(), "complete");
    // What others listen to goes on.
    what.resource_changed("notes://2");
    for (;;) {
        if (client().notification(updated).at("uri").as_string() == "notes://2") break;
    }
    EXPECT_NE(id, other);
}

TEST_F(told_of_changes, a_subscription_names_so_many_and_no_more) {
    what.resource({.uri = "notes://1", .name = "notes"}, nothing);
    json::array uris(10'000, "a:b");
    listen({{"resourceSubscriptions", uris}});
    client().notification(acknowledged);
    uris.emplace_back("a:c");
    const json::object refused = client().answer(listen({{"resourceSubscriptions", std::move(uris)}}));
    EXPECT_EQ(refused.at("error").at("code"), error_code::invalid_params);
    EXPECT_THAT(json::serialize(refused.at("error").at("message")), HasSubstr("more than 10000"));
    const json::object tasks = client().answer(listen({{"taskIds", json::array(1'001, "t")}}));
    EXPECT_EQ(tasks.at("error").at("code"), error_code::invalid_params);
}

TEST_F(told_of_changes, SUB_2_an_operators_stop_completes_the_request) {
    const int id = listen({{"toolsListChanged", true}});
    client().notification(acknowledged);
    const request_info listening = what.requests().list().at(0);
    EXPECT_TRUE(what.requests()
                    .cancel({listening.session, listening.way, listening.id}, cancel_cause::operator_, "maintenance",
                            std::chrono::steady_clock::now())
                    .accepted());
    EXPECT_THAT(json::serialize(client().notification("notifications/cancelled")), HasSubstr("maintenance"));
    const json::object last = client().answer(id);
    EXPECT_EQ(last.at("result").at("resultType").as_string(), "complete");
    what.tool("late", "Does nothing", nothing);
    client().ask("tools/list");
    EXPECT_TRUE(client().notifications("notifications/tools/list_changed").empty());
}

}  // namespace
}  // namespace andon
