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

/// A process of a server.
struct of_process : own_activity {
    explicit of_process(std::shared_ptr<own_rates> server = std::make_shared<own_rates>())
        : own_activity(std::move(server)) {}
};

TEST(own_activity, one_that_was_never_seen_in_a_pause_counts_as_idle) { EXPECT_EQ(of_process().rate(), 0); }

TEST(own_activity, is_what_was_used_in_a_pause) {
    of_process of;
    pause(of, 0s, 2s, 3s);
    EXPECT_DOUBLE_EQ(of.rate(), 1.5);
}

TEST(own_activity, a_little_is_nothing) {
    of_process of;
    pause(of, 0s, 2s, 90ms);
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, threads_that_ended_meanwhile_leave_nothing) {
    of_process of;
    pause(of, 0s, 2s, -5s);
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, is_the_most_of_two_pauses_and_older_ones_are_forgotten) {
    of_process of;
    pause(of, 0s, 1s, 1s);
    pause(of, 2s, 1s, 100ms);
    EXPECT_DOUBLE_EQ(of.rate(), 1);
    pause(of, 4s, 1s, 200ms);
    EXPECT_DOUBLE_EQ(of.rate(), 0.2);
}

TEST(own_activity, a_short_pause_says_nothing_and_does_not_go_on_behind_the_next_call) {
    of_process of;
    of.pause_began(start, 10s);
    EXPECT_FALSE(of.wants_end(start + 99ms));
    of.pause_ended(start + 99ms, 11s);
    EXPECT_FALSE(of.wants_end(start + 10s));
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, of_pauses_in_a_quick_row_the_first_few_are_looked_at_and_then_four_a_second) {
    of_process of;
    int looked_at = 0;
    for (auto at = 0ms; at < 10s; at += 1ms) looked_at += of.wants_beginning(start + at) ? 1 : 0;
    EXPECT_EQ(looked_at, 8 + 39);
    EXPECT_TRUE(of.wants_beginning(start + 10s + 250ms));
}

// What belongs to the server.

TEST(own_activity, a_process_that_replaces_another_begins_with_what_was_learnt) {
    const auto server = std::make_shared<own_rates>();
    of_process first(server);
    pause(first, 0s, 1s, 1s);
    of_process next(server);
    EXPECT_DOUBLE_EQ(next.rate(), 1);
    pause(next, 2s, 1s, 0s);
    EXPECT_DOUBLE_EQ(next.rate(), 1) << "one pause says little";
    pause(next, 4s, 1s, 0s);
    EXPECT_EQ(next.rate(), 0);
}

TEST(own_activity, one_that_has_seen_enough_itself_does_not_mind_what_others_do) {
    const auto server = std::make_shared<own_rates>();
    of_process idle(server);
    of_process busy(server);
    for (const auto at : {0s, 2s}) {
        pause(idle, at, 1s, 0s);
        pause(busy, at, 1s, 1s);
    }
    EXPECT_EQ(idle.rate(), 0);
    EXPECT_DOUBLE_EQ(busy.rate(), 1);
}

TEST(own_activity, what_was_seen_before_the_first_call_counts_until_there_was_a_pause) {
    of_process of;
    of.pause_began(start, 10s, true);
    ASSERT_TRUE(of.wants_end(start + 1s));
    of.pause_ended(start + 1s, 11s);
    EXPECT_DOUBLE_EQ(of.rate(), 1);
    pause(of, 2s, 1s, 0s);
    EXPECT_EQ(of.rate(), 0);
}

TEST(own_activity, a_server_is_in_question_as_long_as_nobody_has_looked) {
    const auto server = std::make_shared<own_rates>();
    EXPECT_FALSE(of_process(server).in_question());
    of_process(server).suspect();
    EXPECT_TRUE(of_process(server).in_question());
    of_process(server).seen_at_start(0);
    EXPECT_FALSE(of_process(server).in_question());
}

TEST(own_activity, one_that_was_seen_in_a_pause_is_not_in_question) {
    const auto server = std::make_shared<own_rates>();
    of_process of(server);
    pause(of, 0s, 1s, 0s);
    of.suspect();
    EXPECT_FALSE(of_process(server).in_question());
}

}  // namespace
}  // namespace andon::gateway
