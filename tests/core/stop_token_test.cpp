#include "andon/core/stop_token.hpp"

#include <condition_variable>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

TEST(stop_on_cancel, RCV_1_wakes_what_the_standard_library_waits_with) {
    cancel_source source;
    const stop_on_cancel bridge(source.token());
    std::latch waiting(1);
    bool satisfied = true;
    std::jthread waiter([&] {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock hold(mutex);
        waiting.count_down();
        satisfied = changed.wait(hold, bridge.token(), [] { return false; });
    });
    waiting.wait();
    EXPECT_FALSE(bridge.token().stop_requested());
    source.cancel(cancel_cause::peer, "Stop", start);
    waiter.join();
    EXPECT_FALSE(satisfied);
    EXPECT_TRUE(bridge.token().stop_requested());
}

TEST(stop_on_cancel, of_a_cancelled_token_is_stopped_from_the_start) {
    cancel_source source;
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_TRUE(stop_on_cancel(source.token()).token().stop_requested());
}

TEST(stop_on_cancel, a_bridge_that_is_gone_no_longer_follows) {
    cancel_source source;
    std::stop_token token;
    {
        const stop_on_cancel bridge(source.token());
        token = bridge.token();
    }
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_FALSE(token.stop_requested());
}

TEST(stop_on_cancel, may_be_destroyed_by_a_stop_callback) {
    cancel_source source;
    auto bridge = std::make_unique<stop_on_cancel>(source.token());
    std::stop_token token = bridge->token();
    int ran = 0;
    const std::stop_callback callback(token, [&] {
        bridge.reset();
        ++ran;
    });
    token = std::stop_token();
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(ran, 1);
}

TEST(cancel_on_stop, hands_cause_reason_and_time_over) {
    cancel_source source;
    std::stop_source stop;
    const cancel_on_stop bridge(stop.get_token(), source.token(), cancel_cause::shutdown, reason("leaving"),
                                [] { return at(std::chrono::seconds(3)); });
    EXPECT_FALSE(source.token().cancelled());
    stop.request_stop();
    EXPECT_TRUE(source.token().cancelled());
    EXPECT_EQ(source.token().cause(), cancel_cause::shutdown);
    EXPECT_EQ(source.token().why().text(), "leaving");
    EXPECT_EQ(source.token().state()->asked_at(), at(std::chrono::seconds(3)));
}

TEST(cancel_on_stop, of_a_stopped_token_cancels_at_once_and_knows_no_time_without_a_clock) {
    cancel_source source;
    std::stop_source stop;
    stop.request_stop();
    const cancel_on_stop bridge(stop.get_token(), source.token(), cancel_cause::shutdown);
    EXPECT_TRUE(source.token().cancelled());
    EXPECT_EQ(source.token().state()->asked_at(), unknown_time);
}

TEST(cancel_on_stop, a_jthread_that_is_joined_cancels_its_work) {
    cancel_token seen;
    {
        std::latch started(1);
        std::jthread worker([&](const std::stop_token& stop) {
            cancel_source source;
            seen = source.token();
            const cancel_on_stop bridge(stop, source.token(), cancel_cause::shutdown);
            started.count_down();
            source.token().wait();
        });
        started.wait();
    }
    EXPECT_EQ(seen.cause(), cancel_cause::shutdown);
}

}  // namespace
}  // namespace andon
