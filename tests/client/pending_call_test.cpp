// A call as its caller has it: what it says when it is over, and what the server is told.
#include "andon/client/pending_call.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "andon/core/async.hpp"
#include "client/era_case.hpp"
#include "client/raw_server.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Against a server that a test writes by hand.
class pending_call_test : public testing::TestWithParam<era_case> {
protected:
    [[nodiscard]] client_options options() const { return quiet_client({GetParam().speaks}); }
    /// The request that the client has just made.
    [[nodiscard]] json::object next() const { return raw_.read().as_object(); }
    /// The cancel that it has just sent.
    void expect_cancel_of(const json::object& request, const json::value& why) const {
        const json::object cancel = next();
        EXPECT_EQ(cancel.at("method"), "notifications/cancelled");
        EXPECT_FALSE(cancel.contains("id"));
        const json::object& params = cancel.at("params").as_object();
        EXPECT_EQ(params.at("requestId"), request.at("id"));
        const json::value* const reason = params.if_contains("reason");
        EXPECT_EQ(reason == nullptr ? json::value() : *reason, why);
    }

    raw_server raw_;
};

INSTANTIATE_TEST_SUITE_P(client, pending_call_test,
                         testing::Values(era_case{"legacy", newest_legacy}, era_case{"modern", newest_modern}),
                         by_name());

TEST_P(pending_call_test, SND_2_SND_3_SND_6_a_cancel_is_over_at_once_and_sends_the_id_and_the_reason) {
    auto client = raw_.connect(options());
    auto pending = client.call_tool("work");
    const json::object request = next();
    EXPECT_TRUE(pending.cancel("the user pressed Stop"));
    EXPECT_TRUE(pending.done());
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_EQ(pending.get().message, "the user pressed Stop");
    EXPECT_THROW(static_cast<void>(pending.value()), cancelled_error);
    expect_cancel_of(request, "the user pressed Stop");
    EXPECT_FALSE(pending.cancel("again"));
    EXPECT_EQ(pending.get().message, "the user pressed Stop");
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_P(pending_call_test, SND_3_without_a_reason_none_is_sent) {
    auto client = raw_.connect(options());
    auto pending = client.call_tool("work");
    const json::object request = next();
    EXPECT_TRUE(pending.cancel());
    expect_cancel_of(request, nullptr);
}

TEST_P(pending_call_test, SND_1_a_late_answer_is_dropped_and_the_connection_goes_on) {
    auto client = raw_.connect(options());
    auto pending = client.call_tool("work");
    const json::object request = next();
    EXPECT_TRUE(pending.cancel());
    expect_cancel_of(request, nullptr);
    raw_.answer_text(request.at("id"), "too late");
    raw_.write({{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"error", {{"code", -32603}, {"message", "later yet"}}}});
    raw_.progress(request.at("id"), 1);
    const auto following = client.call_tool("work");
    raw_.answer_text(next().at("id"), "in time");
    EXPECT_EQ(text_of(following.get()), "in time");
    EXPECT_EQ(pending.get().status, call_status::cancelled);
}

TEST_P(pending_call_test, SND_2_an_error_of_the_server_is_no_cancel) {
    auto client = raw_.connect(options());
    const auto pending = client.call_tool("work");
    raw_.write({{"jsonrpc", "2.0"},
                {"id", next().at("id")},
                {"error", {{"code", -32001}, {"message", "no"}, {"data", {{"n", 1}}}}}});
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_EQ(pending.get().code, -32001);
    EXPECT_EQ(pending.get().data, json::value({{"n", 1}}));
    EXPECT_THROW(static_cast<void>(pending.value()), rpc_error);
}

TEST_P(pending_call_test, DIR_3_what_was_answered_is_not_cancelled) {
    auto client = raw_.connect(options());
    {
        auto pending = client.call_tool("work");
        raw_.answer_text(next().at("id"), "done");
        EXPECT_EQ(text_of(pending.get()), "done");
        EXPECT_FALSE(pending.cancel("too late"));
        EXPECT_TRUE(pending.get().completed());
    }
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_P(pending_call_test, DIR_3_what_was_not_sent_yet_is_never_sent) {
    event busy;
    event go;
    auto with = options();
    with.on_notification = [&](std::string_view, const json::object&) {
        busy.set();
        EXPECT_TRUE(go.happens());
    };
    auto client = raw_.connect(with);
    raw_.write({{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", json::object()}});
    ASSERT_TRUE(busy.happens());  // the client's thread is held up: it sends nothing
    auto pending = client.call_tool("work");
    EXPECT_TRUE(pending.cancel("at once"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    go.set();
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    EXPECT_EQ(client.requests().size(), 0U);
}

TEST_P(pending_call_test, DIR_4_the_handshake_is_neither_made_nor_cancelled_by_hand) {
    auto client = raw_.connect(options());
    EXPECT_THROW(client.request("initialize").detach(), std::invalid_argument);
    {
        auto discover = client.request("server/discover");
        EXPECT_THROW(discover.cancel(), std::logic_error);
        EXPECT_FALSE(discover.done());
    }
    EXPECT_THAT(raw_.written_by(client), ElementsAre("server/discover"));
}

TEST_P(pending_call_test, DIR_4_a_discover_that_takes_too_long_is_given_up_without_a_word) {
    auto client = raw_.connect(options());
    const auto discover = client.request("server/discover", {}, {.timeout = 20ms});
    EXPECT_EQ(discover.get().status, call_status::timed_out);
    EXPECT_THAT(raw_.written_by(client), ElementsAre("server/discover"));
}

TEST_P(pending_call_test, TIME_1_TIME_2_every_call_has_a_timeout_that_cancels_it) {
    auto with = options();
    with.timeout = 30ms;
    auto client = raw_.connect(with);
    const auto pending = client.call_tool("work");
    const json::object request = next();
    EXPECT_EQ(pending.get().status, call_status::timed_out);
    EXPECT_THROW(static_cast<void>(pending.value()), std::runtime_error);
    EXPECT_EQ(next().at("params").at("requestId"), request.at("id"));
    const auto own = client.call_tool("work", {}, {.timeout = patience});
    raw_.answer_text(next().at("id"), "in time");
    EXPECT_EQ(text_of(own.get()), "in time");
    EXPECT_EQ(client_options().timeout, 60s) << "and so it has one where nobody said anything";
}

TEST_P(pending_call_test, TIME_3_progress_restarts_the_idle_clock_unless_it_should_not) {
    auto client = raw_.connect(options());
    recorded<double> seen;
    const auto on_progress = [&](const progress_update& update) { seen.add(update.progress); };
    const auto kept = client.call_tool("work", {}, {.timeout = 500ms, .on_progress = on_progress});
    const auto id = next().at("params").at("_meta").at("progressToken");
    const auto began = std::chrono::steady_clock::now();
    for (double done = 1; std::chrono::steady_clock::now() - began < 1s; ++done) {
        raw_.progress(id, done);
        ASSERT_TRUE(seen.reach(static_cast<std::size_t>(done)));
        std::this_thread::sleep_for(10ms);  // what a server does between two signs of life
    }
    raw_.answer_text(id, "alive");
    EXPECT_EQ(text_of(kept.get()), "alive");

    const auto given_up = client.call_tool(
        "work", {}, {.timeout = 200ms, .on_progress = on_progress, .progress_restarts_timeout = false});
    const auto token = next().at("params").at("_meta").at("progressToken");
    for (double done = 1; !given_up.done(); ++done) {
        raw_.progress(token, done);
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(given_up.get().status, call_status::timed_out);
}

TEST_P(pending_call_test, TIME_4_the_maximum_holds_with_and_without_progress_and_is_sent) {
    auto client = raw_.connect(options());
    const auto silent = client.call_tool("work", {}, {.timeout = patience, .max_timeout = 30ms});
    const json::object first = next();
    EXPECT_EQ(silent.get().status, call_status::timed_out);
    EXPECT_EQ(next().at("params").at("requestId"), first.at("id"));
    const auto lively = client.call_tool("work", {}, {.timeout = patience, .max_timeout = 100ms});
    const json::object second = next();
    for (double done = 1; !lively.done(); ++done) {
        raw_.progress(second.at("id"), done);
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(lively.get().status, call_status::timed_out);
    EXPECT_EQ(next().at("params").at("requestId"), second.at("id"));
}

TEST_P(pending_call_test, SND_3_a_dropped_call_is_cancelled_and_a_detached_one_is_not) {
    auto client = raw_.connect(options());
    json::object request;
    {
        const auto dropped = client.call_tool("work");
        request = next();
    }
    expect_cancel_of(request, "nobody waits for it any more");
    client.call_tool("work").detach();
    const json::object detached = next();
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    raw_.answer_text(detached.at("id"), "to nobody");
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_P(pending_call_test, SND_2_a_cancel_from_inside_its_own_progress) {
    auto client = raw_.connect(options());
    std::optional<pending_call> pending;
    event held;
    event cancelled;
    pending = client.call_tool("work", {}, {.on_progress = [&](const progress_update&) {
                                   EXPECT_TRUE(held.happens());
                                   EXPECT_TRUE(pending->cancel("enough"));
                                   EXPECT_TRUE(pending->done());
                                   cancelled.set();
                               }});
    held.set();
    const json::object request = next();
    raw_.progress(request.at("id"), 1);
    ASSERT_TRUE(cancelled.happens());
    expect_cancel_of(request, "enough");
    EXPECT_EQ(pending->get().status, call_status::cancelled);
}

TEST_P(pending_call_test, what_a_callback_throws_does_not_end_the_client) {
    auto with = options();
    event told;
    with.on_notification = [&](std::string_view, const json::object&) {
        told.set();
        throw std::runtime_error("of the user's");
    };
    auto client = raw_.connect(with);
    const auto pending = client.call_tool(
        "work", {}, {.on_progress = [](const progress_update&) { throw std::runtime_error("of the user's"); }});
    const json::object request = next();
    raw_.progress(request.at("id"), 1);
    raw_.write({{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", json::object()}});
    ASSERT_TRUE(told.happens());
    raw_.answer_text(request.at("id"), "still there");
    EXPECT_EQ(text_of(pending.get()), "still there");
}

/// The root of coroutines of the caller's: runs until its first wait where it is made, then on the client's thread.
struct detached_coroutine {
    struct promise_type {
        detached_coroutine get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

detached_coroutine await_one(pending_call pending, recorded<std::string>& said, recorded<std::thread::id>& where) {
    const call_outcome& outcome = co_await pending;
    where.add(std::this_thread::get_id());
    said.add(text_of(outcome));
}

TEST_P(pending_call_test, SND_2_co_await_goes_on_on_the_clients_thread_with_the_answer_or_the_cancel) {
    recorded<std::string> said;
    recorded<std::thread::id> where;
    auto client = raw_.connect(options());
    await_one(client.call_tool("work"), said, where);
    raw_.answer_text(next().at("id"), "answered");
    ASSERT_TRUE(said.reach(1));
    await_one(client.call_tool("work", {}, {.timeout = 20ms}), said, where);
    ASSERT_TRUE(said.reach(2));
    EXPECT_EQ(said.all()[0], "answered");
    EXPECT_THAT(said.all()[1], HasSubstr("timed out"));
    EXPECT_EQ(where.all()[0], where.all()[1]);
    EXPECT_NE(where.all()[0], std::this_thread::get_id());
}

TEST_P(pending_call_test, get_on_the_clients_own_thread_is_refused) {
    auto client = raw_.connect(options());
    std::optional<pending_call> other = client.call_tool("other");
    const json::object unanswered = next();
    recorded<std::string> said;
    const auto pending = client.call_tool("work", {}, {.on_progress = [&](const progress_update&) {
                                              try {
                                                  static_cast<void>(other->get());
                                              } catch (const std::logic_error& error) {
                                                  said.add(error.what());
                                              }
                                          }});
    raw_.progress(next().at("id"), 1);
    ASSERT_TRUE(said.reach(1));
    EXPECT_THAT(said.all()[0], HasSubstr("co_await"));
}

TEST(pending_call_race, RCV_9_SND_2_a_cancel_against_the_answer_has_exactly_one_outcome) {
    server server(quiet_server());
    server.tool("echo", "", [](call&) -> async<std::string> { co_return "echo"; });
    for (const revision speaks : {newest_legacy, newest_modern}) {
        auto client = connected(server, quiet_client({speaks}));
        int cancelled = 0;
        int completed = 0;
        for (int i = 0; i < 400; ++i) {
            auto pending = client.call_tool("echo");
            std::latch both(2);
            bool accepted = false;
            std::thread canceller([&] {
                both.arrive_and_wait();
                for (int spin = 0; spin < i * 20; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
                accepted = pending.cancel("now");
            });
            both.arrive_and_wait();
            const call_status status = pending.get().status;
            canceller.join();
            EXPECT_EQ(accepted, status == call_status::cancelled);
            EXPECT_TRUE(accepted || status == call_status::completed) << to_string(status);
            ++(accepted ? cancelled : completed);
        }
        EXPECT_EQ(cancelled + completed, 400);
        EXPECT_TRUE(eventually([&] { return client.requests().size() == 0 && server.requests().size() == 0; }));
    }
}

}  // namespace
}  // namespace andon
