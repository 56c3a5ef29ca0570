// What a server does by itself, measured from pause to pause.
#include "gateway/relay/own_activity.hpp"

#include <gtest/gtest.h>

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;

constexpr time_point start = time_point(1h);

/// The processor time at its two ends.
void pause(own_activity& of, duration at, duration span, std::chrono::nanoseconds used) {
    of.pause_began(start + at, 10s);
    ASSERT_TRUE(of.wants_end(start + at + span));
    of.pause_ended(start + at + span, 10s + used);
}

TEST(own_activity, one_that_was_never_seen_in_a_pause_counts_as_idle) { EXPECT_EQ(own_activity().rate(), 0); }

TEST(own_activity, is_what_was_used_in_a_pause) {
    own_activity of;
    pause(of, 0s, 2s, 3s);
    EXPECT_DOUBLE_EQ(of.rate(), 1.5);
}

TEST(own_activity, a_little_is_nothing) {
    own_activity of;
    pause(of, 0s, 2s, 90ms);
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, threads_that_ended_meanwhile_leave_nothing) {
    own_activity of;
    pause(of, 0s, 2s, -5s);
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, is_the_most_of_two_pauses_and_older_ones_are_forgotten) {
    own_activity of;
    pause(of, 0s, 1s, 1s);
    pause(of, 2s, 1s, 100ms);
    EXPECT_DOUBLE_EQ(of.rate(), 1);
    pause(of, 4s, 1s, 200ms);
    EXPECT_DOUBLE_EQ(of.rate(), 0.2);
}

TEST(own_activity, a_short_pause_says_nothing_and_does_not_go_on_behind_the_next_call) {
    own_activity of;
    of.pause_began(start, 10s);
    EXPECT_FALSE(of.wants_end(start + 99ms));
    of.pause_ended(start + 99ms, 11s);
    EXPECT_FALSE(of.wants_end(start + 10s));
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, of_pauses_in_a_quick_row_the_first_few_are_looked_at_and_then_four_a_second) {
    own_activity of;
    int looked_at = 0;
    for (auto at = 0ms; at < 10s; at += 1ms) looked_at += of.wants_beginning(start + at) ? 1 : 0;
    EXPECT_EQ(looked_at, 8 + 39);
    EXPECT_TRUE(of.wants_beginning(start + 10s + 250ms));
}

}  // namespace
}  // namespace andon::gateway
