#include "andon/core/outcomes.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "andon/core/in_flight.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

TEST(outcomes, RCV_11_say_who_why_when_and_what_was_lost) {
    in_flight table;
    const auto in = table.open_session();
    auto request = table.begin(in, direction::incoming, "job", start, {.label = "tools/call wait"}).request;
    table.cancel({in.id(), direction::incoming, "job"}, cancel_cause::peer, "the user pressed Stop", at(10ms));
    request.notice(at(12ms));
    request.notice(at(99ms));
    request.count_killed(3);
    request.count_discarded(1);
    request.count_discarded(1);
    request.finish(at(15ms));

    const auto outcomes = table.recent_outcomes();
    ASSERT_EQ(outcomes.size(), 1U);
    const auto& o = outcomes.front();
    EXPECT_EQ(o.session, in.id());
    EXPECT_EQ(o.id, request_id("job"));
    EXPECT_EQ(o.label, "tools/call wait");
    EXPECT_EQ(o.cause, cancel_cause::peer);
    EXPECT_EQ(o.why.text(), "the user pressed Stop");
    EXPECT_EQ(o.started, start);
    EXPECT_EQ(o.asked, at(10ms));
    EXPECT_EQ(o.noticed, at(12ms));
    EXPECT_EQ(o.stopped, at(15ms));
    EXPECT_EQ(o.time_to_notice(), 2ms);
    EXPECT_EQ(o.time_to_stop(), 5ms);
    EXPECT_EQ(o.killed, 3U);
    EXPECT_EQ(o.discarded, 2U);
}

TEST(outcomes, of_one_that_ignored_its_cancel_say_so) {
    in_flight table;
    const auto in = table.open_session();
    {
        auto request = table.begin(in, direction::incoming, 1, start).request;
        request.cancel(cancel_cause::timeout, "", at(1s));
    }
    const auto outcome = table.recent_outcomes().at(0);
    EXPECT_FALSE(outcome.noticed);
    EXPECT_FALSE(outcome.stopped) << "nobody said when";
    EXPECT_FALSE(outcome.time_to_notice());
    EXPECT_FALSE(outcome.time_to_stop());
    EXPECT_EQ(table.counters()[cancel_cause::timeout].ended, 1U);
    EXPECT_EQ(table.counters()[cancel_cause::timeout].ignored, 1U);
    EXPECT_EQ(table.counters()[cancel_cause::timeout].time_to_stop.total, 0U);
}

TEST(outcomes, are_left_only_by_the_cancelled) {
    in_flight table;
    const auto in = table.open_session();
    auto answered = table.begin(in, direction::incoming, 1, start).request;
    ASSERT_TRUE(answered.begin_response());
    answered.cancel(cancel_cause::peer, "late", start);
    answered.finish(start);
    EXPECT_TRUE(table.recent_outcomes().empty());
}

TEST(outcomes, only_the_newest_are_kept_newest_first) {
    in_flight table({.outcomes_kept = 3});
    const auto in = table.open_session();
    for (int id = 1; id <= 5; ++id) {
        auto request = table.begin(in, direction::incoming, id, start).request;
        request.cancel(cancel_cause::peer, "", start);
        request.finish(start);
    }
    const auto outcomes = table.recent_outcomes();
    ASSERT_EQ(outcomes.size(), 3U);
    EXPECT_EQ(outcomes[0].id, request_id(5));
    EXPECT_EQ(outcomes[2].id, request_id(3));
    EXPECT_EQ(table.counters()[cancel_cause::peer].ended, 5U);
}

TEST(outcomes, none_are_kept_where_none_are_wanted) {
    in_flight table({.outcomes_kept = 0});
    const auto in = table.open_session();
    auto request = table.begin(in, direction::incoming, 1, start).request;
    request.cancel(cancel_cause::peer, "", start);
    request.finish(start);
    EXPECT_TRUE(table.recent_outcomes().empty());
    EXPECT_EQ(table.counters()[cancel_cause::peer].ended, 1U);
}

TEST(outcomes, outlive_the_session_they_came_from) {
    in_flight table;
    session_id gone{};
    {
        const auto in = table.open_session();
        gone = in.id();
        auto request = table.begin(in, direction::outgoing, "x", start, {.label = "a\nb"}).request;
        request.cancel(cancel_cause::peer, "why", start);
        request.finish(start);
    }
    const auto outcome = table.recent_outcomes().at(0);
    EXPECT_EQ(outcome.session, gone);
    EXPECT_EQ(outcome.way, direction::outgoing);
    EXPECT_EQ(outcome.label, "a\\nb") << "a label comes from a stranger too";
}

TEST(outcomes, figures_are_kept_by_cause) {
    in_flight table;
    auto in = table.open_session();
    for (int id = 0; id < 100; ++id) {
        auto request = table.begin(in, direction::incoming, id, start).request;
        const auto cause = id < 90 ? cancel_cause::peer : cancel_cause::operator_;
        request.cancel(cause, "", start);
        request.notice(at(1ms));
        request.finish(at(id == 89 ? duration(1s) : duration(2ms)));
    }
    const auto counters = table.counters();
    EXPECT_EQ(counters[cancel_cause::peer].ended, 90U);
    EXPECT_EQ(counters[cancel_cause::operator_].ended, 10U);
    EXPECT_EQ(counters[cancel_cause::peer].ignored, 0U);
    const auto& stop = counters[cancel_cause::peer].time_to_stop;
    EXPECT_NEAR(static_cast<double>(stop.quantile(0.5).count()), 2e6, 0.25e6);
    EXPECT_NEAR(static_cast<double>(stop.quantile(1).count()), 1e9, 0.125e9);
    EXPECT_EQ(counters[cancel_cause::timeout].time_to_stop.quantile(0.5), duration::zero());
}

TEST(outcomes, of_times_beyond_all_reason_do_not_overflow) {
    in_flight table;
    const auto in = table.open_session();
    auto request = table.begin(in, direction::incoming, 1, start).request;
    request.cancel(cancel_cause::peer, "", time_point(duration::min() + 1ns));
    request.notice(time_point::max());
    request.finish(time_point::max());
    EXPECT_EQ(table.recent_outcomes().at(0).time_to_stop(), duration::max());
}

TEST(histogram, quantiles_outside_of_zero_to_one_are_the_ends) {
    histogram h;
    h.add(5ns);
    h.add(7ns);
    EXPECT_EQ(h.read().quantile(-1), 5ns);
    EXPECT_EQ(h.read().quantile(2), 7ns);
    EXPECT_EQ(h.read().quantile(std::nan("")), 5ns);
}

TEST(histogram, puts_every_duration_in_one_bucket_in_order) {
    std::size_t last = 0;
    for (duration::rep n = 0; n < 100'000; ++n) {
        const auto bucket = histogram::bucket_of(duration(n));
        ASSERT_TRUE(bucket == last || bucket == last + 1) << n;
        ASSERT_GE(histogram::upper_end(bucket), duration(n));
        last = bucket;
    }
    EXPECT_EQ(histogram::bucket_of(duration(-5)), 0U);
    EXPECT_EQ(histogram::bucket_of(duration::max()), histogram::buckets - 1);
    EXPECT_EQ(histogram::upper_end(histogram::buckets - 1), duration::max());
}

RC_GTEST_PROP(histogram, a_bucket_is_at_most_an_eighth_wide, ()) {
    const auto n = *rc::gen::inRange<duration::rep>(16, std::numeric_limits<duration::rep>::max());
    const auto end = histogram::upper_end(histogram::bucket_of(duration(n))).count();
    RC_ASSERT(end >= n);
    RC_ASSERT(static_cast<double>(end - n) <= static_cast<double>(n) / 8.0);
}

}  // namespace
}  // namespace andon
