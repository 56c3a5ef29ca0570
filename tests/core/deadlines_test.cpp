#include "andon/core/deadlines.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <rapidcheck/gtest.h>
#include <vector>

#include "core/test_time.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

struct timer : deadline_hook {
    time_point when;
};

// What a caller without others to make way for does.
deadline_hook* take_due(deadlines& wheel, time_point now) {
    for (;;) {
        auto* hook = wheel.next_due(now);
        if (hook != nullptr || !wheel.busy()) return hook;
    }
}

TEST(deadlines, fire_in_their_time_never_early_and_at_most_a_millisecond_late) {
    for (const duration wait :
         {duration(1ns), duration(999us), duration(1ms), duration(1001us), duration(63ms), duration(64ms),
          duration(65ms), duration(4095ms), duration(4096ms), duration(30s), duration(10h), duration(24h * 365)}) {
        for (const duration passed : {duration(0), duration(1ms), duration(100us), duration(77s)}) {
            deadlines wheel(start);
            timer t;
            ASSERT_EQ(wheel.next_due(at(passed)), nullptr);
            wheel.set(t, at(passed + wait));
            EXPECT_EQ(wheel.next_due(at(passed + wait - 1ns)), nullptr);
            EXPECT_EQ(wheel.next_due(at(passed + wait + 1ms)), &t);
            EXPECT_FALSE(t.set());
            EXPECT_TRUE(wheel.empty());
        }
    }
}

TEST(deadlines, one_that_has_passed_already_is_due_at_once) {
    deadlines wheel(start);
    ASSERT_EQ(wheel.next_due(at(1h)), nullptr);
    timer t;
    wheel.set(t, at(1s));
    EXPECT_EQ(wheel.next_due(at(1h)), &t);
}

TEST(deadlines, next_wake_is_never_later_than_the_earliest) {
    deadlines wheel(start);
    EXPECT_FALSE(wheel.next_wake());
    timer late;
    timer early;
    wheel.set(late, at(10min));
    ASSERT_TRUE(wheel.next_wake());
    EXPECT_LE(*wheel.next_wake(), at(10min));
    wheel.set(early, at(20ms));
    EXPECT_EQ(*wheel.next_wake(), at(20ms));
    wheel.clear(early);
    EXPECT_GT(*wheel.next_wake(), at(20ms));
    wheel.clear(late);
    EXPECT_FALSE(wheel.next_wake());
}

TEST(deadlines, waking_when_told_reaches_a_far_deadline_in_a_few_steps) {
    deadlines wheel(start);
    timer t;
    wheel.set(t, at(24h * 30));
    int wakes = 0;
    while (wheel.next_due(*wheel.next_wake()) == nullptr) ASSERT_LE(++wakes, 7);
}

TEST(deadlines, set_again_moves_it) {
    deadlines wheel(start);
    timer t;
    wheel.set(t, at(1s));
    wheel.set(t, at(2s));
    EXPECT_EQ(wheel.next_due(at(1900ms)), nullptr);
    EXPECT_EQ(wheel.next_due(at(2s)), &t);
}

TEST(deadlines, beyond_all_reach_does_not_overflow) {
    deadlines wheel(start);
    timer t;
    wheel.set(t, time_point::max());
    EXPECT_EQ(wheel.next_due(at(24h * 365 * 100)), nullptr);
    wheel.clear(t);
}

TEST(deadlines, a_million_at_once) {
    deadlines wheel(start);
    constexpr std::size_t many = 1'000'000;
    std::vector<timer> timers(many);
    for (std::size_t i = 0; i < many; ++i) wheel.set(timers[i], at(std::chrono::milliseconds(i * 7919 % 3'600'000)));
    for (std::size_t i = 0; i < many; i += 2) wheel.clear(timers[i]);
    std::size_t due = 0;
    while (take_due(wheel, at(1h)) != nullptr) ++due;
    EXPECT_EQ(due, many / 2);
    EXPECT_TRUE(wheel.empty());
}

TEST(deadlines, many_that_move_down_together_do_so_a_few_at_a_time) {
    deadlines wheel(start);
    std::vector<timer> timers(1'000);
    for (auto& t : timers) wheel.set(t, at(10s + std::chrono::milliseconds(&t - timers.data())));
    ASSERT_EQ(wheel.next_due(at(9s)), nullptr);
    EXPECT_TRUE(wheel.busy());
    EXPECT_LE(*wheel.next_wake(), at(9s)) << "there is work to do at once";
    wheel.clear(timers[0]);  // also one that is on its way
    wheel.clear(timers[999]);
    timer early;
    wheel.set(early, at(9s + 500ms));
    EXPECT_EQ(take_due(wheel, at(9s)), nullptr);
    EXPECT_EQ(take_due(wheel, at(9s + 500ms)), &early);
    EXPECT_EQ(take_due(wheel, at(10s)), nullptr);
    for (std::size_t i = 1; i < 999; ++i)
        ASSERT_EQ(take_due(wheel, timers[i].when = at(10s + std::chrono::milliseconds(i))), &timers[i]);
    EXPECT_TRUE(wheel.empty());
}

// Against the obvious: a list that is searched.
RC_GTEST_PROP(deadlines, behave_like_a_plain_list, ()) {
    deadlines wheel(start);
    std::vector<std::unique_ptr<timer>> pending;
    auto now = start;
    const auto steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
        const auto what = *rc::gen::inRange(0, 4);
        if (what <= 1) {
            const auto scale = *rc::gen::element(1, 100, 10'000, 1'000'000, 100'000'000);
            auto t = std::make_unique<timer>();
            t->when = now + std::chrono::microseconds(*rc::gen::inRange(-1'000, 5'000)) * scale / 10;
            wheel.set(*t, t->when);
            pending.push_back(std::move(t));
        } else if (what == 2 && !pending.empty()) {
            const auto victim = *rc::gen::inRange<std::size_t>(0, pending.size());
            wheel.clear(*pending[victim]);
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(victim));
        } else {
            now += std::chrono::milliseconds(*rc::gen::element(0, 1, 17, 64, 1'000, 70'000, 5'000'000));
            while (auto* hook = take_due(wheel, now)) {
                const auto found =
                    std::find_if(pending.begin(), pending.end(), [&](const auto& t) { return t.get() == hook; });
                RC_ASSERT(found != pending.end());
                RC_ASSERT((*found)->when <= now);
                pending.erase(found);
            }
            for (const auto& t : pending) RC_ASSERT(t->when > now - 1ms);
        }
        RC_ASSERT(wheel.empty() == pending.empty());
        if (!pending.empty()) {
            const auto earliest = std::min_element(pending.begin(), pending.end(),
                                                   [](const auto& a, const auto& b) { return a->when < b->when; });
            RC_ASSERT(wheel.next_wake().has_value());
            RC_ASSERT(*wheel.next_wake() < std::max((*earliest)->when, now) + 1ms);
        }
    }
}

}  // namespace
}  // namespace andon
