// A subscription as its listener has it: what is heard, who ended it, and whether to listen again.
#include "andon/client/subscription.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/raw_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using by = subscription_end::by;

struct listening_case {
    std::string name;
    revision speaks;
    bool over_http = false;
};

/// With a server of ours.
class subscription_test : public testing::TestWithParam<listening_case> {
protected:
    subscription_test() {
        server_.resource({.uri = "note:a", .name = "a"}, [](resource_request, call&) { return "a"; });
        server_.prompt({.name = "prompt"}, [](json::object, call&) { return "p"; });
        server_.tool({.name = "gate", .task = task_use::optional}, [this](call& call) {
            while (!gate_.happened()) call.sleep_for(1ms);
            return "through";
        });
    }
    [[nodiscard]] client connect() {
        client_options options = quiet_client({GetParam().speaks});
        if (!GetParam().over_http) return connected(server_, options);
        const std::uint16_t port = server_.listen_http({});
        return client::connect_http("http://127.0.0.1:" + std::to_string(port) + "/mcp", {}, options);
    }
    [[nodiscard]] static bool modern() { return era_of(GetParam().speaks) == era::modern; }
    [[nodiscard]] subscription_options heard() {
        subscription_options how;
        how.on_event = [this](std::string_view method, const json::object& params) {
            const json::value* const uri = params.if_contains("uri");
            events_.add(std::string(method) + (uri != nullptr ? ' ' + std::string(uri->as_string()) : ""));
        };
        how.on_listening = [this](const json::object& agreed) { agreed_.add(json::serialize(agreed)); };
        how.on_end = [this](const subscription_end& end) { ends_.add(std::string(to_string(end.who))); };
        return how;
    }
    /// As an operator does.
    void end_from_server() {
        ASSERT_TRUE(eventually([&] {
            for (const request_info& each : server_.requests().list()) {
                if (each.label != "subscriptions/listen" || each.state != request_state::running) continue;
                const request_key key{each.session, each.way, each.id};
                return server_.requests().cancel(key, cancel_cause::operator_, "to be mended", unknown_time).accepted();
            }
            return false;
        }));
    }

    event gate_;
    recorded<std::string> events_;
    recorded<std::string> agreed_;
    recorded<std::string> ends_;
    server server_{quiet_server()};  // last: its threads use the rest
};

INSTANTIATE_TEST_SUITE_P(client, subscription_test,
                         testing::Values(listening_case{"legacy", newest_legacy},
                                         listening_case{"modern", newest_modern},
                                         listening_case{"legacy_http", newest_legacy, true},
                                         listening_case{"modern_http", newest_modern, true}),
                         by_name());

TEST_P(subscription_test, SUB_3_hears_what_it_asked_for_and_nothing_else) {
    auto client = connect();
    const auto all = client.listen({.tools = true, .uris = {"note:a"}}, heard());
    EXPECT_EQ(all.agreed().at("resourceSubscriptions"), json::value(json::array{"note:a"}));
    server_.resource_changed("note:b");
    server_.prompt({.name = "another"}, [](json::object, call&) { return "p"; });
    server_.resource_changed("note:a");
    server_.tool("new", "", [](call&) { return "n"; });
    ASSERT_TRUE(events_.reach(2));
    EXPECT_THAT(events_.all(),
                ElementsAre("notifications/resources/updated note:a", "notifications/tools/list_changed"));
    EXPECT_FALSE(all.done());
}

TEST_P(subscription_test, SUB_1_is_ended_by_us_and_hears_nothing_more) {
    auto client = connect();
    auto ours = client.listen({.uris = {"note:a"}}, heard());
    recorded<std::string> other_events;
    const auto other = client.listen(
        {.uris = {"note:a"}},
        {.on_event = [&](std::string_view method, const json::object&) { other_events.add(std::string(method)); }});
    static_cast<void>(ours.agreed());
    static_cast<void>(other.agreed());
    EXPECT_TRUE(ours.end("heard enough"));
    EXPECT_FALSE(ours.end());
    EXPECT_EQ(ours.get().who, by::us);
    EXPECT_EQ(ours.get().reason, "heard enough");
    EXPECT_FALSE(ours.get().again);
    server_.resource_changed("note:a");
    ASSERT_TRUE(other_events.reach(1));
    EXPECT_THAT(events_.all(), IsEmpty());
    ASSERT_TRUE(ends_.reach(1));
    EXPECT_THAT(ends_.all(), ElementsAre("us"));
    if (modern()) {
        EXPECT_TRUE(eventually([&] { return server_.requests().size() == 1; }));  // the other one's
    }
}

TEST_P(subscription_test, SUB_2_is_ended_by_the_server) {
    if (!modern()) GTEST_SKIP() << "before 2026-07-28 a server ends none";
    auto client = connect();
    const auto ours = client.listen({.uris = {"note:a"}}, heard());
    static_cast<void>(ours.agreed());
    end_from_server();
    EXPECT_EQ(ours.get().who, by::server);
    EXPECT_TRUE(ours.get().again);
    ASSERT_TRUE(ends_.reach(1));
    EXPECT_THAT(ends_.all(), ElementsAre("server"));
}

TEST_P(subscription_test, SUB_2_listens_again_where_it_is_to) {
    if (!modern()) GTEST_SKIP() << "before 2026-07-28 a server ends none";
    auto client = connect();
    subscription_options how = heard();
    how.listen_again = true;
    how.first_pause = 1ms;
    auto ours = client.listen({.uris = {"note:a"}}, how);
    static_cast<void>(ours.agreed());
    for (std::size_t times = 2; times < 5; ++times) {
        end_from_server();
        ASSERT_TRUE(agreed_.reach(times));
    }
    server_.resource_changed("note:a");
    ASSERT_TRUE(events_.reach(1));
    EXPECT_THAT(ends_.all(), IsEmpty());
    EXPECT_TRUE(ours.end());
    EXPECT_THAT(ours.get().who, by::us);
}

TEST_P(subscription_test, hears_how_tasks_get_on) {
    auto client = connect();
    const auto task = client.call_tool_as_task("gate");
    const auto ours = client.listen({.tasks = {task.id(), "another's"}}, heard());
    if (!modern()) {
        EXPECT_EQ(ours.get().who, by::refusal);
        gate_.set();
        return;
    }
    EXPECT_EQ(ours.agreed().at("taskIds"), json::value({task.id()}));
    ASSERT_TRUE(events_.reach(1));  // how it is now
    gate_.set();
    ASSERT_TRUE(events_.reach(2));
    EXPECT_THAT(events_.all(), ElementsAre("notifications/tasks", "notifications/tasks"));
}

TEST_P(subscription_test, hears_of_a_large_result) {
    if (!modern()) GTEST_SKIP() << "before 2026-07-28 results are fetched";
    server_.tool({.name = "large", .task = task_use::optional},
                 [](call&) { return std::string(std::size_t{3} << 20U, 'x'); });
    auto client = connect();
    const auto ours = client.listen({.tools = true, .tasks = {client.call_tool_as_task("large").id()}}, heard());
    ASSERT_TRUE(events_.reach(1));
    server_.tool("new", "", [](call&) { return "n"; });
    ASSERT_TRUE(eventually([&] { return events_.all().back() == "notifications/tools/list_changed"; }));
    EXPECT_FALSE(ours.done());
}

/// A server over HTTP lives on when its client leaves.
TEST_P(subscription_test, SND_6_a_call_that_is_a_task_is_cancelled_with_the_client) {
    if (!modern()) GTEST_SKIP() << "before 2026-07-28 no call is made a task";
    recorded<std::string> cancelled;
    server_.tool({.name = "park", .task = task_use::optional}, [&](call& call) -> async<void> {
        co_await call.async_cancelled();
        cancelled.add("cancelled");
    });
    auto client = std::make_unique<andon::client>(connect());
    const auto call = client->call_tool("park");
    ASSERT_TRUE(eventually([&] {
        const auto all = client->requests().list();
        return all.size() == 1 && all.front().label == "following a task";
    }));
    client.reset();
    EXPECT_TRUE(cancelled.reach(1));
}

TEST_P(subscription_test, ends_with_the_client) {
    auto client = std::make_unique<andon::client>(connect());
    const auto ours = client->listen({.uris = {"note:a"}}, heard());
    static_cast<void>(ours.agreed());
    client.reset();
    EXPECT_EQ(ours.get().who, by::us);
    EXPECT_FALSE(ours.get().again);
}

TEST_P(subscription_test, dropping_it_ends_it) {
    auto client = connect();
    {
        const auto ours = client.listen({.uris = {"note:a"}}, heard());
        static_cast<void>(ours.agreed());
    }
    EXPECT_TRUE(ends_.reach(1));
    EXPECT_TRUE(eventually([&] { return server_.requests().size() == 0; }));
}

// Servers that are not ours: a client takes either end, in any order (SUB-2).

class odd_listening : public testing::Test {
protected:
    [[nodiscard]] subscription listen(client& client) {
        auto made = client.listen({.uris = {"a:b"}}, {.on_event = [this](std::string_view method, const json::object&) {
                                      events_.add(std::string(method));
                                  }});
        id_ = raw_.read().at("id");
        return made;
    }
    void tell(std::string_view method, json::object params) const {
        params["_meta"] = json::object{{"io.modelcontextprotocol/subscriptionId", id_}};
        raw_.write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
    }
    void acknowledge() const {
        tell("notifications/subscriptions/acknowledged", {{"notifications", {{"resourceSubscriptions", {"a:b"}}}}});
    }
    void respond() const { raw_.answer(id_, {{"resultType", "complete"}}); }
    void cancel() const {
        raw_.write({{"jsonrpc", "2.0"},
                    {"method", "notifications/cancelled"},
                    {"params", {{"requestId", id_}, {"reason", "going home"}}}});
    }

    raw_server raw_;
    recorded<std::string> events_;
    json::value id_;
};

TEST_F(odd_listening, SUB_2_the_response_the_cancel_and_both_in_any_order_are_the_end) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    for (const std::string_view order : {"r", "c", "rc", "cr"}) {
        const auto ours = listen(client);
        acknowledge();
        static_cast<void>(ours.agreed());
        for (const char each : order) each == 'r' ? respond() : cancel();
        EXPECT_EQ(ours.get().who, by::server) << order;
        EXPECT_TRUE(ours.get().again) << order;
        if (order.front() == 'c') {
            EXPECT_EQ(ours.get().reason, "going home") << order;
        }
        EXPECT_THAT(raw_.written_by(client), IsEmpty()) << order;
    }
}

TEST_F(odd_listening, SUB_3_what_comes_before_the_acknowledgement_or_was_not_asked_for_is_dropped) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    const auto ours = listen(client);
    tell("notifications/resources/updated", {{"uri", "a:b"}});
    acknowledge();
    tell("notifications/resources/updated", {{"uri", "b:c"}});
    tell("notifications/tools/list_changed", {});
    tell("notifications/resources/updated", {{"uri", "a:b"}});
    ASSERT_TRUE(events_.reach(1));
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    EXPECT_THAT(events_.all(), ElementsAre("notifications/resources/updated"));
}

TEST_F(odd_listening, DIR_2_a_server_cancels_nothing_but_subscriptions) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    const auto call = client.call_tool("work");
    id_ = raw_.read().at("id");
    cancel();
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    EXPECT_FALSE(call.done());
    raw_.answer_text(id_, "done");
    EXPECT_EQ(text_of(call.get()), "done");
}

TEST_F(odd_listening, a_refusal_is_the_end_for_good) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    const auto ours = client.listen({.tools = true}, {.listen_again = true});
    raw_.write({{"jsonrpc", "2.0"}, {"id", raw_.read().at("id")}, {"error", {{"code", -32601}, {"message", "no"}}}});
    EXPECT_EQ(ours.get().who, by::refusal);
    EXPECT_EQ(ours.get().code, -32601);
    EXPECT_THROW(static_cast<void>(ours.agreed()), std::runtime_error);
}

TEST_F(odd_listening, one_resource_that_is_refused_takes_the_others_back) {
    auto client = raw_.connect(quiet_client({newest_legacy}));
    const auto ours = client.listen({.uris = {"a:good", "a:bad", "a:slow"}});
    const json::value good = raw_.read();
    const json::value bad = raw_.read();
    const json::value slow = raw_.read();
    raw_.answer(good.at("id"), {});
    raw_.write({{"jsonrpc", "2.0"}, {"id", bad.at("id")}, {"error", {{"code", -32002}, {"message", "no such"}}}});
    EXPECT_EQ(ours.get().who, by::refusal);
    const json::value cancelled = raw_.read();
    EXPECT_EQ(cancelled.at("method"), "notifications/cancelled");
    EXPECT_EQ(cancelled.at("params").at("requestId"), slow.at("id"));
    EXPECT_THAT(raw_.written_by(client),
                ElementsAre("resources/unsubscribe", "resources/unsubscribe", "resources/unsubscribe"));
}

TEST_F(odd_listening, SUB_1_the_end_sends_the_notification) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    auto ours = listen(client);
    acknowledge();
    static_cast<void>(ours.agreed());
    EXPECT_TRUE(ours.end("enough"));
    const json::value cancelled = raw_.read();
    EXPECT_EQ(cancelled.at("method"), "notifications/cancelled");
    EXPECT_EQ(cancelled.at("params").at("requestId"), id_);
}

TEST_F(odd_listening, a_server_that_dies_is_the_end_of_the_connection) {
    auto client = raw_.connect(quiet_client({newest_modern}));
    const auto ours = listen(client);
    acknowledge();
    static_cast<void>(ours.agreed());
    raw_.die();
    EXPECT_EQ(ours.get().who, by::connection);
    EXPECT_FALSE(ours.get().again);  // there is no other
}

}  // namespace
}  // namespace andon
