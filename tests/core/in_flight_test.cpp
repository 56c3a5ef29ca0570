#include "andon/core/in_flight.hpp"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using verdict = cancel_result::verdict;

class in_flight_test : public testing::Test {
protected:
    active_request begin(request_id_view id, const begin_options& options = {}) {
        auto result = table.begin(in, direction::incoming, id, start, options);
        EXPECT_TRUE(result) << to_string(result.refusal);
        return std::move(result.request);
    }
    verdict cancel(request_id_view id, cancel_cause cause = cancel_cause::peer) {
        return table.cancel({in.id(), direction::incoming, id}, cause, "Stop", start).what;
    }
    begin_refusal refusal(const session& where, request_id_view id) {
        return table.begin(where, direction::incoming, id, start).refusal;
    }

    in_flight table{{.max_per_session = 100, .longest_id = 32}};
    session in = table.open_session();
};

TEST_F(in_flight_test, RCV_1_a_cancel_by_key_reaches_the_request) {
    auto request = begin(7);
    EXPECT_EQ(cancel(7), verdict::accepted);
    EXPECT_TRUE(request.token().cancelled());
    EXPECT_EQ(request.token().why().text(), "Stop");
    EXPECT_FALSE(request.begin_response());
}

TEST_F(in_flight_test, MSG_3_ids_match_by_type_and_value) {
    const auto number = begin(1);
    const auto text = begin("1");
    const auto big = begin(9007199254740993);
    const auto bigger = begin(9007199254740994);
    const auto zero = begin(0);
    const auto minus = begin(-1);
    const auto empty = begin("");
    EXPECT_EQ(cancel("1"), verdict::accepted);
    EXPECT_FALSE(number.token().cancelled());
    EXPECT_EQ(cancel(9007199254740994), verdict::accepted);
    EXPECT_FALSE(big.token().cancelled());
    EXPECT_EQ(cancel(""), verdict::accepted);
    EXPECT_FALSE(zero.token().cancelled());
    EXPECT_FALSE(minus.token().cancelled());
    EXPECT_TRUE(text.token().cancelled() && bigger.token().cancelled() && empty.token().cancelled());
}

TEST_F(in_flight_test, a_request_knows_its_key) {
    const auto request = begin("a");
    const auto ours = table.begin(request, direction::outgoing, 9, start).request;
    EXPECT_EQ(request.key(), (request_key{in.id(), direction::incoming, "a"}));
    EXPECT_EQ(ours.key(), (request_key{in.id(), direction::outgoing, 9}));
    EXPECT_EQ(table.cancel(ours.key(), cancel_cause::operator_, "", start).what, verdict::accepted);
}

TEST_F(in_flight_test, RCV_1_a_request_still_queued_may_end_inside_its_own_cancel_callback) {
    std::optional<active_request> queued(begin(1));
    const cancel_callback at_once(queued->token(), [&] { queued->finish(start); });
    EXPECT_EQ(cancel(1), verdict::accepted);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.recent_outcomes().size(), 1U);
}

TEST_F(in_flight_test, RCV_5_unknown_and_completed_are_ignored) {
    EXPECT_EQ(cancel(1), verdict::unknown);
    begin(1).finish(start);
    EXPECT_EQ(cancel(1), verdict::unknown);
    EXPECT_EQ(table.cancel({session_id(999'999), direction::incoming, 1}, cancel_cause::peer, "", start).what,
              verdict::unknown);
    EXPECT_EQ(table.counters().unknown, 3U);
}

TEST_F(in_flight_test, RCV_7_a_second_cancel_by_key_is_told_who_was_first) {
    const auto request = begin(1);
    cancel(1, cancel_cause::operator_);
    const auto second = table.cancel({in.id(), direction::incoming, 1}, cancel_cause::peer, "", start);
    EXPECT_EQ(second.what, verdict::already_cancelled);
    EXPECT_EQ(second.by, cancel_cause::operator_);
}

TEST_F(in_flight_test, DIR_1_the_directions_never_meet) {
    const auto theirs = begin(5);
    const auto ours = table.begin(in, direction::outgoing, 5, start).request;
    EXPECT_EQ(cancel(5), verdict::accepted);
    EXPECT_TRUE(theirs.token().cancelled());
    EXPECT_FALSE(ours.token().cancelled());
}

TEST_F(in_flight_test, DIR_6_sessions_never_meet) {
    const auto other = table.open_session();
    const auto mine = begin(5);
    const auto theirs = table.begin(other, direction::incoming, 5, start).request;
    EXPECT_EQ(cancel(5), verdict::accepted);
    EXPECT_FALSE(theirs.token().cancelled());
    EXPECT_TRUE(table.is_cancelled(in.id(), 5));
    EXPECT_FALSE(table.is_cancelled(other.id(), 5));
}

TEST_F(in_flight_test, DIR_4_what_the_peer_may_not_cancel_others_still_stop) {
    const auto initialize = begin(0, {.label = "initialize", .peer_may_cancel = false});
    EXPECT_EQ(cancel(0), verdict::uncancellable);
    EXPECT_FALSE(initialize.token().cancelled());
    EXPECT_EQ(cancel(0, cancel_cause::operator_), verdict::accepted);
}

TEST_F(in_flight_test, RCV_10_an_id_in_flight_is_refused_and_the_first_untouched) {
    const auto first = begin(1);
    EXPECT_EQ(refusal(in, 1), begin_refusal::duplicate_id);
    EXPECT_EQ(first.state(), request_state::running);
    EXPECT_EQ(in.size(), 1U);
    EXPECT_EQ(table.size(), 1U);
    EXPECT_EQ(cancel(1), verdict::accepted);
    EXPECT_EQ(refusal(in, 1), begin_refusal::duplicate_id) << "cancelled, but not over";
}

TEST_F(in_flight_test, RCV_8_an_id_used_again_starts_clean) {
    {
        const auto first = begin(1);
        cancel(1);
    }
    const auto second = begin(1);
    EXPECT_FALSE(second.token().cancelled());
    EXPECT_FALSE(table.is_cancelled(in.id(), 1));
    EXPECT_TRUE(second.token().why().empty());
}

TEST_F(in_flight_test, RCV_8_the_token_of_an_ended_request_does_not_see_the_next_with_its_id) {
    const auto old = begin(1).token();
    const auto second = begin(1);
    cancel(1);
    EXPECT_FALSE(old.cancelled());
    EXPECT_TRUE(second.token().cancelled());
}

// finish against the use of the id again: every order of the two ends, and of a cancel.
TEST_F(in_flight_test, RCV_8_a_request_that_ends_late_does_not_erase_the_newer_one) {
    for (const bool cancel_between : {false, true}) {
        auto first = begin(1);
        first.finish(start);
        auto second = begin(1);
        if (cancel_between) {
            EXPECT_EQ(cancel(1), verdict::accepted);
        }
        first.finish(start);  // again: nothing
        first = active_request();
        EXPECT_EQ(table.size(), 1U);
        EXPECT_EQ(second.token().cancelled(), cancel_between);
        second.finish(start);
        EXPECT_EQ(cancel(1), verdict::unknown);
    }
}

TEST_F(in_flight_test, REG_1_and_REG_3_code_that_has_only_session_and_id_can_ask_until_the_request_ends) {
    auto request = begin("abc");
    EXPECT_FALSE(table.is_cancelled(in.id(), "abc"));
    cancel("abc");
    std::thread([&] { EXPECT_TRUE(table.is_cancelled(in.id(), "abc")); }).join();
    request.finish(start);
    EXPECT_FALSE(table.is_cancelled(in.id(), "abc"));
}

TEST_F(in_flight_test, RCV_13_is_cancelled_is_protected_by_a_section_too) {
    const auto request = begin(1);
    {
        const uninterrupted_section section(request.token());
        EXPECT_EQ(cancel(1), verdict::accepted);
        EXPECT_FALSE(table.is_cancelled(in.id(), 1));
        EXPECT_TRUE(table.list().at(0).held);
    }
    EXPECT_FALSE(table.list().at(0).held);
    EXPECT_TRUE(table.is_cancelled(in.id(), 1));
}

TEST_F(in_flight_test, RCV_12_nested_requests_go_with_the_one_that_started_them) {
    const auto outer = begin(1);
    const auto nested = table.begin(outer, direction::outgoing, 1, start).request;
    EXPECT_EQ(in.size(), 2U);
    cancel(1);
    EXPECT_EQ(nested.token().cause(), cancel_cause::parent);
    EXPECT_EQ(nested.token().why().text(), "Stop");
}

TEST_F(in_flight_test, RCV_12_a_nested_request_is_one_of_the_session_after_its_parent_ended) {
    auto outer = begin(1);
    auto nested = table.begin(outer, direction::outgoing, 1, start).request;
    outer.finish(start);
    EXPECT_EQ(nested.token().cause(), cancel_cause::parent);
    EXPECT_EQ(in.size(), 1U);
    nested.finish(start);
    EXPECT_EQ(in.size(), 0U);
}

TEST_F(in_flight_test, limits_refuse_what_is_too_many_or_too_long_in_words) {
    std::vector<active_request> requests;
    for (int i = 0; i < 99; ++i) requests.push_back(begin(i));
    requests.push_back(table.begin(requests.front(), direction::outgoing, 1, start).request);
    EXPECT_EQ(refusal(in, 100), begin_refusal::too_many);
    EXPECT_EQ(table.begin(requests.front(), direction::outgoing, 2, start).refusal, begin_refusal::too_many);
    requests.pop_back();
    EXPECT_EQ(refusal(in, 100), begin_refusal::none);
    EXPECT_EQ(refusal(table.open_session(), 100), begin_refusal::none) << "another session has its own limit";
    EXPECT_EQ(refusal(in, std::string(33, 'x')), begin_refusal::id_too_long);
    EXPECT_EQ(refusal(in, std::string(1U << 20U, 'x')), begin_refusal::id_too_long);
    EXPECT_EQ(refusal(in, std::string(32, 'x')), begin_refusal::none);
    for (const auto why : {begin_refusal::duplicate_id, begin_refusal::id_too_long, begin_refusal::too_many,
                           begin_refusal::session_closed}) {
        EXPECT_THAT(std::string(to_string(why)), testing::HasSubstr(":"));
    }
}

TEST_F(in_flight_test, closing_a_session_cancels_all_in_it_with_its_own_cause_and_refuses_what_comes_after) {
    auto other = table.open_session();
    const auto a = begin(1);
    const auto b = begin(2);
    const auto nested = table.begin(b, direction::outgoing, 1, start).request;
    const auto elsewhere = table.begin(other, direction::incoming, 1, start).request;
    in.close(cancel_cause::disconnect, "connection lost", start);
    EXPECT_EQ(a.token().cause(), cancel_cause::disconnect);
    EXPECT_EQ(a.token().why().text(), "connection lost");
    EXPECT_EQ(nested.token().cause(), cancel_cause::parent);
    EXPECT_FALSE(elsewhere.token().cancelled());
    EXPECT_TRUE(in.token().cancelled());
    EXPECT_EQ(refusal(in, 3), begin_refusal::session_closed);
    EXPECT_FALSE(table.cancel_session(in.id(), cancel_cause::operator_, "", start)) << "it is closed";
}

TEST_F(in_flight_test, a_session_that_is_dropped_is_closed_and_its_requests_may_end_later) {
    std::optional<session> passing(table.open_session());
    auto request = table.begin(*passing, direction::incoming, 1, start).request;
    passing.reset();
    EXPECT_EQ(request.token().cause(), cancel_cause::disconnect);
    request.finish(start);
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(in_flight_test, cancelling_a_session_leaves_it_open) {
    const auto a = begin(1);
    const auto b = begin(2);
    EXPECT_TRUE(table.cancel_session(in.id(), cancel_cause::operator_, "stop all", start));
    EXPECT_EQ(a.token().cause(), cancel_cause::operator_);
    EXPECT_EQ(b.token().why().text(), "stop all");
    const auto later = begin(3);
    EXPECT_FALSE(later.token().cancelled());
    EXPECT_FALSE(table.cancel_session(session_id(12345), cancel_cause::operator_, "", start));
}

TEST_F(in_flight_test, TIME_3_progress_restarts_the_idle_clock) {
    auto request = begin(1, {.limits = {.idle = 100ms}});
    request.progress(at(90ms));
    EXPECT_EQ(table.expire(at(150ms)), 0U);
    EXPECT_EQ(request.deadline(), at(190ms));
    EXPECT_EQ(table.expire(at(191ms)), 1U);
    EXPECT_EQ(request.token().cause(), cancel_cause::timeout);
    EXPECT_THAT(std::string(request.token().why().text()), testing::HasSubstr("idle"));
}

TEST_F(in_flight_test, TIME_4_the_maximum_holds_whatever_progress_comes) {
    auto request = begin(1, {.limits = {.idle = 100ms, .maximum = 250ms}});
    std::size_t expired = 0;
    auto now = duration::zero();
    for (; expired == 0 && now < 1s; now += 10ms) {
        request.progress(at(now));
        expired += table.expire(at(now));
    }
    EXPECT_EQ(now, 260ms);
    EXPECT_THAT(std::string(request.token().why().text()), testing::HasSubstr("maximum"));
}

TEST_F(in_flight_test, TIME_4_the_maximum_holds_without_any_progress_and_without_an_idle_limit) {
    const auto request = begin(1, {.limits = {.maximum = 1s}});
    EXPECT_EQ(table.expire(at(999ms)), 0U);
    EXPECT_EQ(table.expire(at(1001ms)), 1U);
    EXPECT_TRUE(request.token().cancelled());
}

TEST_F(in_flight_test, a_deadline_is_gone_with_its_request) {
    begin(1, {.limits = {.idle = 100ms}}).finish(start);
    EXPECT_FALSE(table.next_wake());
    EXPECT_EQ(table.expire(at(1h)), 0U);
}

TEST_F(in_flight_test, a_request_that_was_answered_does_not_time_out) {
    auto request = begin(1, {.limits = {.idle = 100ms}});
    ASSERT_TRUE(request.begin_response());
    EXPECT_EQ(table.expire(at(1h)), 0U);
    EXPECT_FALSE(request.token().cancelled());
}

TEST_F(in_flight_test, limits_can_be_set_moved_and_taken_away_later) {
    auto request = begin(1);
    EXPECT_FALSE(request.deadline());
    request.limit({.maximum = 50ms}, start);
    EXPECT_EQ(request.deadline(), at(50ms));
    ASSERT_TRUE(table.next_wake());
    EXPECT_LE(*table.next_wake(), at(50ms));
    request.limit({.maximum = 500ms}, at(10ms));
    EXPECT_EQ(table.expire(at(100ms)), 0U);
    request.limit({}, at(100ms));
    EXPECT_FALSE(table.next_wake());
    EXPECT_EQ(table.expire(at(1h)), 0U);
}

TEST_F(in_flight_test, TIME_4_a_thread_with_an_older_time_does_no_harm) {
    const auto soon = begin(1, {.limits = {.idle = 15ms}});
    const auto later = begin(2, {.limits = {.idle = 40ms}});
    EXPECT_EQ(table.expire(at(10ms)), 0U);
    EXPECT_EQ(table.expire(at(30ms)), 1U);
    const auto between = begin(3, {.limits = {.idle = 25ms}});
    EXPECT_EQ(table.expire(at(20ms)), 0U);
    EXPECT_EQ(table.expire(at(30ms)), 1U);
    EXPECT_TRUE(between.token().cancelled());
    EXPECT_FALSE(later.token().cancelled());
    EXPECT_EQ(table.expire(at(41ms)), 1U);
}

TEST_F(in_flight_test, TIME_4_a_callback_may_expire_with_a_later_time_and_begin_what_is_overdue_by_that) {
    auto first = begin(1, {.limits = {.idle = 5ms}});
    std::optional<active_request> overdue;
    const cancel_callback callback(first.token(), [&] {
        table.expire(at(30ms));
        overdue = begin(2, {.limits = {.idle = 15ms}});
    });
    EXPECT_EQ(table.expire(at(10ms)), 1U);
    EXPECT_EQ(table.expire(at(31ms)), 1U);
    EXPECT_TRUE(overdue->token().cancelled());
}

TEST_F(in_flight_test, a_time_beyond_all_reason_is_forgotten_with_what_was_in_flight_then) {
    begin(1, {.limits = {.idle = 1ms}}).finish(start);
    {
        const auto overdue = begin(2, {.limits = {.idle = 1ms}});
        EXPECT_EQ(table.expire(time_point::max()), 1U);
    }
    const auto next = begin(3, {.limits = {.idle = 10ms}});
    EXPECT_EQ(table.expire(at(9ms)), 0U);
    EXPECT_EQ(table.expire(at(11ms)), 1U);
}

TEST_F(in_flight_test, without_a_time_there_is_no_limit) {
    auto untimed =
        table.begin(in, direction::incoming, 1, unknown_time, {.limits = {.idle = 1ms, .maximum = 1ms}}).request;
    EXPECT_FALSE(untimed.deadline());
    EXPECT_EQ(table.expire(at(1h)), 0U);
    auto timed = begin(2, {.limits = {.idle = 10ms}});
    timed.progress(unknown_time);
    EXPECT_EQ(timed.deadline(), at(10ms));
    timed.progress(time_point::max());
    EXPECT_EQ(table.expire(at(1h)), 0U) << "the idle clock started again at the end of time";
    EXPECT_FALSE(timed.token().cancelled());
    timed.limit({.maximum = 1ms}, unknown_time);
    EXPECT_FALSE(timed.deadline());
    EXPECT_FALSE(table.next_wake());
}

TEST_F(in_flight_test, a_request_that_is_assigned_to_ends_what_it_had) {
    auto request = begin(1);
    request = begin(2);
    EXPECT_EQ(table.size(), 1U);
    EXPECT_EQ(request.id(), request_id_view(2));
    request = active_request();
    EXPECT_EQ(table.size(), 0U);
}

// Closed between the look at the session and the joining: by the allocation's own hand, as it were.
TEST_F(in_flight_test, no_request_is_let_into_a_session_that_closes_meanwhile) {
    for (int round = 0; round < 300; ++round) {
        std::optional<session> closing(table.open_session());
        std::atomic<bool> go{false};
        std::jthread closer([&] {
            while (!go) std::this_thread::yield();
            closing->close(cancel_cause::disconnect, "gone", start);
        });
        go = true;
        std::vector<active_request> let_in;
        for (int id = 0; id < 50; ++id) {
            auto result = table.begin(*closing, direction::incoming, id, start);
            if (!result) {
                ASSERT_EQ(result.refusal, begin_refusal::session_closed);
                break;
            }
            let_in.push_back(std::move(result.request));
        }
        closer.join();
        closing.reset();
        for (const auto& request : let_in) {
            ASSERT_TRUE(request.token().cancelled());
            ASSERT_EQ(table.begin(request, direction::outgoing, 1, start).refusal, begin_refusal::session_closed);
        }
    }
}

TEST_F(in_flight_test, waking_when_told_expires_everything_in_time) {
    in_flight many;
    const auto session = many.open_session();
    std::vector<active_request> requests;
    for (int i = 0; i < 1'000; ++i) {
        const auto limit = std::chrono::milliseconds(1 + i * 37 % 5'000);
        requests.push_back(many.begin(session, direction::incoming, i, start, {.limits = {.idle = limit}}).request);
    }
    std::size_t expired = 0;
    while (const auto wake = many.next_wake()) {
        ASSERT_LE(*wake, at(5s));
        expired += many.expire(*wake);
    }
    EXPECT_EQ(expired, 1'000U);
    for (const auto& request : requests) {
        EXPECT_GE(request.token().state()->asked_at(), *request.deadline());
        EXPECT_LT(request.token().state()->asked_at(), *request.deadline() + 1ms);
    }
}

TEST_F(in_flight_test, lists_each_once_in_the_order_of_arrival) {
    in_flight big;
    const auto a = big.open_session();
    const auto b = big.open_session();
    std::vector<active_request> requests;
    for (int i = 0; i < 5'000; ++i) {
        requests.push_back(
            big.begin(i % 2 == 0 ? a : b, direction::incoming, i, at(std::chrono::microseconds(i)), {.label = "tool"})
                .request);
    }
    big.cancel({a.id(), direction::incoming, 4}, cancel_cause::peer, "Stop", at(1s));
    requests[4].notice(at(2s));
    const auto list = big.list();
    ASSERT_EQ(list.size(), 5'000U);
    for (std::size_t i = 0; i < list.size(); ++i) ASSERT_EQ(list[i].id, request_id(static_cast<int>(i)));
    EXPECT_EQ(list[4].state, request_state::cancelled);
    EXPECT_EQ(list[4].cause, cancel_cause::peer);
    EXPECT_EQ(list[4].why.text(), "Stop");
    EXPECT_EQ(list[4].asked, at(1s));
    EXPECT_EQ(list[4].noticed, at(2s));
    EXPECT_EQ(list[4].label, "tool");
    EXPECT_EQ(list[5].session, b.id());
    EXPECT_FALSE(list[5].asked);
}

// While others come and go, so many that the table grows and shrinks under the walk.
TEST_F(in_flight_test, a_list_has_all_that_stayed_while_the_table_changed) {
    in_flight busy;
    const auto steady = busy.open_session();
    const auto moving = busy.open_session();
    std::vector<active_request> stay;
    for (int i = 0; i < 2'000; ++i) stay.push_back(busy.begin(steady, direction::incoming, i, start).request);
    std::atomic<bool> stop{false};
    std::jthread churn([&] {
        while (!stop) {
            std::vector<active_request> wave;
            for (int i = 0; i < 5'000 && !stop; ++i) {
                wave.push_back(busy.begin(moving, direction::incoming, i, start).request);
            }
        }
    });
    for (int round = 0; round < 20; ++round) {
        std::set<request_id> seen;
        for (const auto& info : busy.list()) {
            if (info.session == steady.id()) {
                ASSERT_TRUE(seen.insert(info.id).second);
            }
        }
        ASSERT_EQ(seen.size(), stay.size());
    }
    stop = true;
}

// A cancelled request is found by everybody who asks, also while the table is rebuilt around it.
TEST_F(in_flight_test, REG_1_is_cancelled_never_misses_while_the_table_grows_and_shrinks) {
    in_flight busy;
    const auto watched = busy.open_session();
    const auto moving = busy.open_session();
    std::vector<active_request> cancelled;
    for (int i = 0; i < 500; ++i) {
        cancelled.push_back(busy.begin(watched, direction::incoming, i, start).request);
        cancelled.back().cancel(cancel_cause::peer, "", start);
    }
    std::atomic<bool> stop{false};
    std::jthread churn([&] {
        while (!stop) {
            std::vector<active_request> wave;
            for (int i = 0; i < 10'000; ++i) {
                wave.push_back(busy.begin(moving, direction::incoming, i, start).request);
            }
        }
    });
    for (int round = 0; round < 1'000; ++round) {
        for (int i = 0; i < 500; ++i) ASSERT_TRUE(busy.is_cancelled(watched.id(), i));
        ASSERT_FALSE(busy.is_cancelled(watched.id(), 500));
    }
    stop = true;
}

TEST_F(in_flight_test, many_threads_begin_the_same_id_and_one_is_let_in) {
    for (int round = 0; round < 500; ++round) {
        std::atomic<int> let_in{0};
        std::latch both_done(2);
        const auto attempt = [&] {
            const auto result = table.begin(in, direction::incoming, round, start);
            if (result) ++let_in;
            both_done.arrive_and_wait();
        };
        {
            const std::jthread a(attempt);
            const std::jthread b(attempt);
        }
        ASSERT_EQ(let_in, 1);
        ASSERT_EQ(in.size(), 0U);
    }
}

TEST_F(in_flight_test, counts_what_became_of_every_attempt) {
    const auto request = begin(1);
    auto answered = begin(2);
    ASSERT_TRUE(answered.begin_response());
    const auto guarded = begin(3, {.peer_may_cancel = false});
    for (const int id : {1, 1, 2, 3, 4}) cancel(id);
    const auto counters = table.counters();
    EXPECT_EQ(counters.accepted, 1U);
    EXPECT_EQ(counters.already_cancelled, 1U);
    EXPECT_EQ(counters.too_late, 1U);
    EXPECT_EQ(counters.uncancellable, 1U);
    EXPECT_EQ(counters.unknown, 1U);
}

}  // namespace
}  // namespace andon
