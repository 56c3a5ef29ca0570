// When calls run, who may stop them, and what is known of them from the outside.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>

#include "core/named_case.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A tool `work{key}` whose calls start, and stay until they are let go or cancelled.
class stage {
public:
    void add_to(server& server, tool_options options, bool as_coroutine) {
        if (as_coroutine) {
            server.tool(std::move(options), [this](json::object given, call& call) -> async<std::string> {
                const std::string key(given.at("key").as_string());
                const entered here(*this, key);
                while (!let_go(key)) co_await call.async_sleep_for(1ms);
                co_return key;
            });
        } else {
            server.tool(std::move(options), [this](const json::object& given, call& call) {
                const std::string key(given.at("key").as_string());
                const entered here(*this, key);
                std::unique_lock lock(mutex_);
                call.wait(changed_, lock, [&] { return free_.contains(key); });
                return key;
            });
        }
    }
    void let_one_go(const std::string& key) {
        const std::lock_guard lock(mutex_);
        free_.insert(key);
        changed_.notify_all();
    }
    [[nodiscard]] int most_at_once() {
        const std::lock_guard lock(mutex_);
        return most_;
    }
    recorded<std::string> started;

private:
    struct entered {
        entered(stage& on, const std::string& key) : of(on) {
            {
                const std::lock_guard lock(of.mutex_);
                of.most_ = std::max(of.most_, ++of.running_);
            }
            of.started.add(key);
        }
        entered(const entered&) = delete;
        entered& operator=(const entered&) = delete;
        ~entered() {
            const std::lock_guard lock(of.mutex_);
            --of.running_;
        }
        stage& of;
    };
    [[nodiscard]] bool let_go(const std::string& key) {
        const std::lock_guard lock(mutex_);
        return free_.contains(key);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<std::string> free_;
    int running_ = 0;
    int most_ = 0;
};

pending_call work(client& client, const std::string& key) { return client.call_tool("work", {{"key", key}}); }

struct kind_case {
    std::string name;
    bool as_coroutine;
};

class tool_kind : public testing::TestWithParam<kind_case> {
protected:
    stage stage_;
    server server_{quiet_server()};
};

INSTANTIATE_TEST_SUITE_P(scheduling, tool_kind,
                         testing::Values(kind_case{"function", false}, kind_case{"coroutine", true}), by_name());

TEST_P(tool_kind, RCV_1_no_more_run_at_once_than_may_and_what_is_cancelled_in_the_queue_never_starts) {
    stage_.add_to(server_, {.name = "work", .concurrency = 2}, GetParam().as_coroutine);
    auto client = connected(server_);
    std::vector<pending_call> calls;
    for (const char* const key : {"a", "b", "c", "d", "e", "f"}) calls.push_back(work(client, key));
    ASSERT_TRUE(stage_.started.reach(2));
    ASSERT_TRUE(eventually([&] { return server_.requests().size() == 6; }));
    EXPECT_TRUE(calls[2].cancel());
    EXPECT_TRUE(calls[4].cancel());
    // They end in the queue: nothing has made room for them.
    ASSERT_TRUE(eventually([&] { return server_.requests().size() == 4; }));
    for (const char* const key : {"a", "b", "d", "f"}) stage_.let_one_go(key);
    EXPECT_EQ(text_of(calls[0].get()), "a");
    EXPECT_EQ(text_of(calls[1].get()), "b");
    EXPECT_EQ(text_of(calls[3].get()), "d");
    EXPECT_EQ(text_of(calls[5].get()), "f");
    EXPECT_THAT(stage_.started.all(), UnorderedElementsAre("a", "b", "d", "f"));
    EXPECT_LE(stage_.most_at_once(), 2);
}

TEST_P(tool_kind, a_running_call_that_is_cancelled_makes_room_for_the_next) {
    stage_.add_to(server_, {.name = "work", .concurrency = 1}, GetParam().as_coroutine);
    auto client = connected(server_);
    auto first = work(client, "a");
    auto second = work(client, "b");
    ASSERT_TRUE(stage_.started.reach(1));
    EXPECT_TRUE(first.cancel());
    ASSERT_TRUE(stage_.started.reach(2));
    stage_.let_one_go("b");
    EXPECT_EQ(text_of(second.get()), "b");
    EXPECT_EQ(stage_.most_at_once(), 1);
}

TEST_P(tool_kind, RCV_5_an_uncancellable_call_goes_on_and_only_others_than_the_peer_can_stop_it) {
    stage_.add_to(server_, {.name = "work", .uncancellable = true}, GetParam().as_coroutine);
    auto client = connected(server_);
    auto refused = work(client, "a");
    const auto kept = work(client, "b");
    ASSERT_TRUE(stage_.started.reach(2));
    EXPECT_TRUE(refused.cancel());
    ASSERT_TRUE(eventually([&] { return server_.requests().counters().uncancellable == 1; }));
    stage_.let_one_go("a");
    ASSERT_TRUE(eventually([&] { return server_.requests().size() == 1; }));
    EXPECT_THAT(server_.requests().recent_outcomes(), IsEmpty()) << "it was answered, not cancelled";
    const request_info left = server_.requests().list().at(0);
    server_.requests().cancel({left.session, left.way, left.id}, cancel_cause::operator_, "",
                              std::chrono::steady_clock::now());
    EXPECT_EQ(text_of(kept.get()), "stopped by an operator");
}

TEST_P(tool_kind, DIR_6_equal_ids_of_two_clients_are_two_requests) {
    stage_.add_to(server_, {.name = "work"}, GetParam().as_coroutine);
    auto one = connected(server_);
    auto other = connected(server_);
    auto stopped = work(one, "a");
    const auto kept = work(other, "b");
    ASSERT_TRUE(stage_.started.reach(2));
    const auto both = server_.requests().list();
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].id, both[1].id);
    EXPECT_NE(both[0].session, both[1].session);
    EXPECT_TRUE(stopped.cancel());
    ASSERT_TRUE(eventually([&] { return server_.requests().size() == 1; }));
    stage_.let_one_go("b");
    EXPECT_EQ(text_of(kept.get()), "b");
}

TEST_P(tool_kind, REG_1_REG_3_session_and_id_are_enough_to_ask_until_it_ends) {
    event asked;
    event go;
    recorded<bool> seen;
    const auto ask = [&](call& call) {
        const auto id = server_.requests().list().at(0).id;
        const auto session = call.session();
        const auto is_cancelled = [&, session] { return server_.requests().is_cancelled(session, id); };
        std::thread([&] { seen.add(is_cancelled()); }).join();
        asked.set();
        EXPECT_TRUE(eventually(is_cancelled));
        std::thread([&] { seen.add(is_cancelled()); }).join();
    };
    if (GetParam().as_coroutine) {
        server_.tool("ask", "", [&](call& call) -> async<void> {
            co_await call.async_sleep_for(0ms);
            const auto id = server_.requests().list().at(0).id;
            seen.add(server_.requests().is_cancelled(call.session(), id));
            asked.set();
            co_await call.async_cancelled();
            seen.add(server_.requests().is_cancelled(call.session(), id));
        });
    } else {
        server_.tool("ask", "", ask);
    }
    auto client = connected(server_);
    auto pending = client.call_tool("ask");
    ASSERT_TRUE(asked.happens());
    const request_info running = server_.requests().list().at(0);
    EXPECT_TRUE(pending.cancel());
    ASSERT_TRUE(seen.reach(2));
    EXPECT_THAT(seen.all(), ElementsAre(false, true));
    static_cast<void>(only_outcome(server_.requests()));
    EXPECT_FALSE(server_.requests().is_cancelled(running.session, running.id));
}

TEST_P(tool_kind, an_operator_stops_it_and_the_client_is_told_why) {
    stage_.add_to(server_, {.name = "work"}, GetParam().as_coroutine);
    auto client = connected(server_);
    const auto pending = work(client, "a");
    ASSERT_TRUE(stage_.started.reach(1));
    const request_info running = server_.requests().list().at(0);
    EXPECT_EQ(running.label, "tools/call work");
    const auto result = server_.requests().cancel({running.session, running.way, running.id}, cancel_cause::operator_,
                                                  "maintenance", std::chrono::steady_clock::now());
    EXPECT_TRUE(result.accepted());
    EXPECT_TRUE(is_error(pending.get()));
    EXPECT_EQ(text_of(pending.get()), "stopped by an operator: maintenance");
    const outcome left = only_outcome(server_.requests());
    EXPECT_EQ(left.cause, cancel_cause::operator_);
    EXPECT_EQ(left.why.text(), "maintenance");
    EXPECT_TRUE(left.noticed);
    EXPECT_TRUE(left.stopped);
}

TEST(outcomes, RCV_11_say_that_a_handler_never_looked_and_what_it_said_in_vain) {
    event started;
    event go;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) {
        started.set();
        EXPECT_TRUE(go.happens());
        call.progress(1);
        call.log(message_level::error, "in vain");
        return "in vain";
    });
    auto client = connected(server, quiet_client({newest_legacy}));
    auto pending = client.call_tool("work");
    ASSERT_TRUE(started.happens());
    EXPECT_TRUE(pending.cancel("Stop"));
    ASSERT_TRUE(eventually([&] { return server.requests().counters().accepted == 1; }));
    go.set();
    const outcome left = only_outcome(server.requests());
    EXPECT_FALSE(left.noticed);
    EXPECT_TRUE(left.stopped);
    EXPECT_EQ(left.discarded, 3U);
    EXPECT_EQ(server.requests().counters()[cancel_cause::peer].ignored, 1U);
}

TEST(workers, no_more_than_allowed_and_the_others_wait_while_coroutines_and_cancels_get_through) {
    stage stage;
    server_options options = quiet_server();
    options.workers = 2;
    server server(options);
    stage.add_to(server, {.name = "work"}, false);
    server.tool("at_once", "", [](call&) -> async<std::string> { co_return "here"; });
    auto client = connected(server);
    std::vector<pending_call> calls;
    for (const char* const key : {"a", "b", "c", "d"}) calls.push_back(work(client, key));
    ASSERT_TRUE(stage.started.reach(2));
    EXPECT_EQ(text_of(client.call_tool("at_once").get()), "here");
    EXPECT_TRUE(calls[2].cancel());
    ASSERT_TRUE(eventually([&] { return server.requests().size() == 3; }));
    for (const char* const key : {"a", "b", "d"}) stage.let_one_go(key);
    EXPECT_EQ(text_of(calls[3].get()), "d");
    EXPECT_THAT(stage.started.all(), testing::Not(Contains("c")));
    EXPECT_EQ(stage.most_at_once(), 2);
}

struct hook_case {
    std::string name;
    void (*ends)(call&);
    bool cancel;
    std::vector<std::string> expected;
};

class hooks : public testing::TestWithParam<hook_case> {};

TEST_P(hooks, REG_5_before_and_after_a_call_see_whether_it_is_cancelled) {
    for (const bool as_coroutine : {false, true}) {
        event started;
        event go;
        recorded<std::string> seen;
        server server(quiet_server());
        const auto state = [](call& call) { return call.cancelled() ? " cancelled" : ""; };
        server.before_tool([&](call& call) { seen.add("before " + std::string(call.name()) + state(call)); });
        server.after_tool([&](call& call) { seen.add("after " + std::string(call.name()) + state(call)); });
        if (as_coroutine) {
            server.tool("work", "", [&](call& call) -> async<void> {
                started.set();
                while (!go.happened()) co_await call.async_sleep_for(1ms);
                if (GetParam().cancel) co_await call.async_cancelled();
                GetParam().ends(call);
            });
        } else {
            server.tool("work", "", [&](call& call) {
                started.set();
                EXPECT_TRUE(go.happens());
                if (GetParam().cancel) call.token().wait();
                GetParam().ends(call);
            });
        }
        auto client = connected(server);
        auto pending = client.call_tool("work");
        ASSERT_TRUE(started.happens());
        go.set();
        EXPECT_EQ(GetParam().cancel && pending.cancel(), GetParam().cancel);
        ASSERT_TRUE(seen.reach(2));
        EXPECT_THAT(seen.all(), testing::ElementsAreArray(GetParam().expected));
    }
}

INSTANTIATE_TEST_SUITE_P(
    scheduling, hooks,
    testing::Values(
        hook_case{"of_a_call_that_returns", [](call&) {}, false, {"before work", "after work"}},
        hook_case{"of_a_call_that_throws",
                  [](call&) { throw std::runtime_error("no"); },
                  false,
                  {"before work", "after work"}},
        hook_case{"of_a_cancelled_call_that_returns", [](call&) {}, true, {"before work", "after work cancelled"}},
        hook_case{"of_a_cancelled_call_that_throws",
                  [](call& call) { call.throw_if_cancelled(); },
                  true,
                  {"before work", "after work cancelled"}}),
    by_name());

TEST(hook, what_the_one_before_throws_is_the_answer_and_the_handler_does_not_run) {
    std::atomic<bool> ran = false;
    server server(quiet_server());
    server.before_tool([](call&) { throw rpc_error(-32001, "not you"); });
    server.tool("function", "", [&](call&) { ran = true; });
    server.tool("coroutine", "", [&](call&) -> async<void> {
        ran = true;
        co_return;
    });
    auto client = connected(server);
    for (const char* const tool : {"function", "coroutine"}) {
        const call_outcome outcome = client.call_tool(tool).get();
        EXPECT_EQ(outcome.code, -32001);
        EXPECT_EQ(outcome.message, "not you");
    }
    EXPECT_FALSE(ran);
}

TEST(offers, come_and_go_while_it_serves_and_what_runs_goes_on) {
    stage stage;
    server server(quiet_server());
    stage.add_to(server, {.name = "work", .concurrency = 1}, false);
    recorded<std::string> told;
    client_options options = quiet_client({newest_legacy});
    options.on_notification = [&](std::string_view method, const json::object&) { told.add(std::string(method)); };
    auto client = connected(server, options);
    const auto running = work(client, "a");
    const auto queued = work(client, "b");
    ASSERT_TRUE(stage.started.reach(1));
    server.tool("later", "", [](call&) { return "new"; });
    ASSERT_TRUE(told.reach(1));
    EXPECT_EQ(text_of(client.call_tool("later").get()), "new");
    EXPECT_TRUE(server.remove_tool("work"));
    EXPECT_FALSE(server.remove_tool("work"));
    ASSERT_TRUE(told.reach(2));
    EXPECT_THAT(told.all(), Each("notifications/tools/list_changed"));
    EXPECT_EQ(work(client, "c").get().code, error_code::invalid_params);
    stage.let_one_go("a");
    stage.let_one_go("b");
    EXPECT_EQ(text_of(running.get()), "a");
    EXPECT_EQ(text_of(queued.get()), "b");
}

TEST(server_end, tells_every_handler_and_the_clients_hear_that_it_is_gone) {
    recorded<cancel_cause> causes;
    stage stage;
    auto leaving = std::make_unique<server>(quiet_server());
    stage.add_to(*leaving, {.name = "work", .concurrency = 1}, false);
    leaving->tool("thread", "", [&](call& call) {
        stage.started.add("thread");
        call.token().wait();
        causes.add(call.cause());
        return "in vain";
    });
    leaving->tool("coroutine", "", [&](call& call) -> async<void> {
        stage.started.add("coroutine");
        co_await call.async_cancelled();
        causes.add(call.cause());
    });
    auto client = connected(*leaving);
    std::vector<pending_call> calls;
    for (const char* const tool : {"thread", "coroutine"}) calls.push_back(client.call_tool(tool));
    for (const char* const key : {"a", "b"}) calls.push_back(work(client, key));
    ASSERT_TRUE(stage.started.reach(3));
    ASSERT_TRUE(eventually([&] { return leaving->requests().size() == 4; }));
    leaving.reset();
    EXPECT_THAT(causes.all(), ElementsAre(cancel_cause::shutdown, cancel_cause::shutdown));
    for (const auto& call : calls) EXPECT_EQ(call.get().status, call_status::disconnected);
    EXPECT_THAT(stage.started.all(), testing::Not(Contains("b")));
}

}  // namespace
}  // namespace andon
