#include "andon/core/cancel_token.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

using clock = std::chrono::steady_clock;
constexpr auto long_time = std::chrono::minutes(5);  // a test that waits this long has failed

TEST(cancel_token, made_from_nothing_is_never_cancelled) {
    const cancel_token token;
    EXPECT_FALSE(token.cancelled());
    EXPECT_FALSE(token.can_be_cancelled());
    EXPECT_EQ(token.state(), nullptr);
    EXPECT_TRUE(token.why().empty());
    EXPECT_NO_THROW(token.throw_if_cancelled());
    EXPECT_FALSE(token.wait_until(clock::now()));
    token.wait();
    EXPECT_FALSE(uninterrupted_section(token).protects());
}

TEST(cancel_token, outlives_the_work_and_still_knows) {
    cancel_token token;
    {
        cancel_source source;
        token = source.token();
        source.cancel(cancel_cause::disconnect, "gone", start);
    }
    EXPECT_TRUE(token.cancelled());
    EXPECT_EQ(token.cause(), cancel_cause::disconnect);
    EXPECT_EQ(token.why().text(), "gone");
}

TEST(cancel_token, copies_and_moves_look_at_the_same_work) {
    cancel_source source;
    cancel_token a = source.token();
    cancel_token b = a;
    cancel_token c = std::move(a);
    EXPECT_EQ(b, c);
    EXPECT_FALSE(a.can_be_cancelled());  // NOLINT(bugprone-use-after-move): moved from, it is made from nothing
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_TRUE(b.cancelled());
    EXPECT_TRUE(c.cancelled());
    const cancel_token& itself = b;
    b = itself;
    EXPECT_TRUE(b.cancelled());
}

TEST(cancel_token, throws_with_cause_and_reason_in_words) {
    cancel_source source;
    EXPECT_NO_THROW(source.token().throw_if_cancelled());
    source.cancel(cancel_cause::operator_, "maintenance", start);
    try {
        source.token().throw_if_cancelled();
        FAIL() << "did not throw";
    } catch (const cancelled_error& error) {
        EXPECT_EQ(error.cause(), cancel_cause::operator_);
        EXPECT_EQ(error.why().text(), "maintenance");
        EXPECT_STREQ(error.what(), "cancelled (operator): maintenance");
    }
}

TEST(cancel_token, RCV_1_a_sleeper_wakes_when_the_cancel_comes) {
    cancel_source source;
    std::latch sleeping(2);
    std::atomic<int> woken{0};
    const auto sleep = [&](auto how) {
        sleeping.count_down();
        how(source.token());
        ++woken;
    };
    {
        const std::jthread timed(
            [&] { sleep([](const cancel_token& token) { EXPECT_TRUE(token.wait_until(clock::now() + long_time)); }); });
        const std::jthread untimed([&] { sleep([](const cancel_token& token) { token.wait(); }); });
        sleeping.wait();
        source.cancel(cancel_cause::peer, "Stop", start);
    }
    EXPECT_EQ(woken, 2);
}

TEST(cancel_token, a_sleeper_wakes_at_its_deadline) {
    cancel_source source;
    const auto deadline = clock::now() + std::chrono::milliseconds(5);
    EXPECT_FALSE(source.token().wait_until(deadline));
    EXPECT_GE(clock::now(), deadline);
}

TEST(cancel_token, a_wait_after_the_cancel_returns_at_once) {
    cancel_source source;
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_TRUE(source.token().wait_until(clock::now() + long_time));
    source.token().wait();
}

TEST(cancel_token, RCV_13_a_sleeper_inside_a_section_is_not_woken_by_the_cancel) {
    cancel_source source;
    const uninterrupted_section section(source.token());
    std::thread([&] { source.cancel(cancel_cause::peer, "Stop", start); }).join();
    EXPECT_FALSE(source.token().wait_until(clock::now() + std::chrono::milliseconds(5)));
}

TEST(cancel_token, every_race_of_sleep_and_cancel_wakes_the_sleeper) {
    for (int round = 0; round < 1'000; ++round) {
        cancel_source source;
        std::jthread canceller([&] { source.cancel(cancel_cause::peer, "Stop", start); });
        ASSERT_TRUE(source.token().wait_until(clock::now() + long_time));
    }
}

}  // namespace
}  // namespace andon
