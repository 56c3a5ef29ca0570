#include "andon/core/cancel_state.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/cancel_source.hpp"
#include "core/named_case.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

// The interleavings of one request's life, as tables: what is done, in which order, and what each is told.
enum class step { cancel_by_peer, cancel_by_timeout, respond, end, enter, leave, poll };

std::string describe(const cancel_result& result) {
    std::string text(to_string(result.what));
    if (result.what != cancel_result::verdict::too_late) text += " by " + std::string(to_string(result.by));
    return text;
}

// Applies steps to a state of its own and says what each answered.
class request_life {
public:
    std::string apply(step s) {
        switch (s) {
            case step::cancel_by_peer: return describe(source_.cancel(cancel_cause::peer, "Stop", start));
            case step::cancel_by_timeout: return describe(source_.cancel(cancel_cause::timeout, "too slow", start));
            case step::respond: return source_.begin_response() ? "respond" : "silence";
            case step::end: return source_.end(start) ? "ended" : "had ended";
            case step::enter: return source_.token().state()->enter_section() ? "protected" : "unprotected";
            case step::leave: source_.token().state()->leave_section(); return "left";
            case step::poll: return source_.token().cancelled() ? "stop" : "go on";
        }
        return "?";
    }

    [[nodiscard]] cancel_token token() const { return source_.token(); }

private:
    cancel_source source_;
};

struct life_case {
    const char* name;
    std::vector<std::pair<step, const char*>> steps;
};

class one_request : public testing::TestWithParam<life_case> {};

TEST_P(one_request, is_told_exactly_this) {
    request_life life;
    for (const auto& [what, expected] : GetParam().steps) EXPECT_EQ(life.apply(what), expected);
}

using enum step;

INSTANTIATE_TEST_SUITE_P(
    cancel_against_completion, one_request,
    testing::Values(life_case{"RCV_9_response_first_then_the_cancel_is_too_late",
                              {{respond, "respond"}, {cancel_by_peer, "too late"}, {poll, "go on"}, {end, "ended"}}},
                    life_case{
                        "RCV_9_cancel_first_then_silence",
                        {{cancel_by_peer, "accepted by peer"}, {poll, "stop"}, {respond, "silence"}, {end, "ended"}}},
                    life_case{"RCV_9_response_and_end_then_the_cancel_is_too_late",
                              {{respond, "respond"}, {end, "ended"}, {cancel_by_peer, "too late"}, {poll, "go on"}}},
                    life_case{"RCV_9_end_without_an_answer_leaves_nothing_to_cancel_or_answer",
                              {{end, "ended"}, {cancel_by_peer, "too late"}, {respond, "silence"}, {poll, "go on"}}},
                    life_case{"RCV_9_only_one_response", {{respond, "respond"}, {respond, "silence"}}},
                    life_case{"RCV_9_a_cancelled_request_that_ended_stays_cancelled",
                              {{cancel_by_peer, "accepted by peer"},
                               {end, "ended"},
                               {poll, "stop"},
                               {cancel_by_timeout, "already cancelled by peer"},
                               {respond, "silence"}}},
                    life_case{"RCV_9_ends_once", {{end, "ended"}, {end, "had ended"}}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    cancel_against_cancel, one_request,
    testing::Values(life_case{"RCV_7_the_peer_was_first",
                              {{cancel_by_peer, "accepted by peer"}, {cancel_by_timeout, "already cancelled by peer"}}},
                    life_case{
                        "RCV_7_the_timeout_was_first",
                        {{cancel_by_timeout, "accepted by timeout"}, {cancel_by_peer, "already cancelled by timeout"}}},
                    life_case{"RCV_7_the_same_cancel_twice",
                              {{cancel_by_peer, "accepted by peer"}, {cancel_by_peer, "already cancelled by peer"}}},
                    life_case{"RCV_7_both_too_late",
                              {{respond, "respond"}, {cancel_by_peer, "too late"}, {cancel_by_timeout, "too late"}}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    uninterrupted_section, one_request,
    testing::Values(life_case{"RCV_13_a_cancel_inside_takes_effect_at_the_end",
                              {{enter, "protected"},
                               {cancel_by_peer, "accepted by peer"},
                               {poll, "go on"},
                               {respond, "silence"},
                               {leave, "left"},
                               {poll, "stop"}}},
                    life_case{"RCV_13_of_two_sections_the_last_counts",
                              {{enter, "protected"},
                               {enter, "protected"},
                               {cancel_by_peer, "accepted by peer"},
                               {leave, "left"},
                               {poll, "go on"},
                               {leave, "left"},
                               {poll, "stop"}}},
                    life_case{"RCV_13_a_section_begun_after_the_cancel_was_accepted_but_not_delivered_counts_too",
                              {{enter, "protected"},
                               {cancel_by_peer, "accepted by peer"},
                               {enter, "protected"},
                               {leave, "left"},
                               {poll, "go on"},
                               {leave, "left"},
                               {poll, "stop"}}},
                    life_case{"RCV_13_a_cancel_before_is_not_taken_back",
                              {{cancel_by_peer, "accepted by peer"}, {enter, "unprotected"}, {poll, "stop"}}},
                    life_case{"RCV_13_without_a_cancel_nothing_happens",
                              {{enter, "protected"}, {leave, "left"}, {poll, "go on"}, {respond, "respond"}}},
                    life_case{"RCV_13_the_response_inside_wins",
                              {{enter, "protected"},
                               {respond, "respond"},
                               {cancel_by_peer, "too late"},
                               {leave, "left"},
                               {poll, "go on"}}},
                    life_case{"RCV_13_and_RCV_7_the_first_cause_stands_through_the_section",
                              {{enter, "protected"},
                               {cancel_by_timeout, "accepted by timeout"},
                               {cancel_by_peer, "already cancelled by timeout"},
                               {leave, "left"},
                               {poll, "stop"}}}),
    by_name());

TEST(one_request, RCV_9_in_every_order_of_two_cancels_a_response_and_the_end_exactly_one_wins) {
    std::vector<step> order{cancel_by_peer, cancel_by_timeout, respond, end};
    std::sort(order.begin(), order.end());
    int orders = 0;
    do {
        request_life life;
        int responses = 0;
        int accepted = 0;
        bool ended_first = order.front() == end;
        for (const auto s : order) {
            const auto said = life.apply(s);
            responses += said == "respond" ? 1 : 0;
            accepted += said.starts_with("accepted") ? 1 : 0;
        }
        EXPECT_EQ(responses + accepted, ended_first ? 0 : 1);
        EXPECT_EQ(life.token().cancelled(), accepted == 1);
        ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(orders, 24);
}

TEST(one_request, RCV_9_holds_between_threads) {
    for (int round = 0; round < 1'000; ++round) {
        cancel_source source;
        std::atomic<int> ready{0};
        bool responded = false;
        cancel_result by_peer;
        cancel_result by_timeout;
        const auto together = [&ready](auto act) {
            ++ready;
            while (ready < 3) std::this_thread::yield();
            act();
        };
        {
            const std::jthread a([&] { together([&] { responded = source.begin_response(); }); });
            const std::jthread b(
                [&] { together([&] { by_peer = source.cancel(cancel_cause::peer, "Stop", start); }); });
            const std::jthread c(
                [&] { together([&] { by_timeout = source.cancel(cancel_cause::timeout, "slow", start); }); });
        }
        ASSERT_EQ((responded ? 1 : 0) + (by_peer.accepted() ? 1 : 0) + (by_timeout.accepted() ? 1 : 0), 1);
        ASSERT_EQ(source.token().cancelled(), !responded);
        if (!responded) {
            ASSERT_EQ(by_peer.by, by_timeout.by) << "both are told whose cancel stands";
            ASSERT_EQ(source.token().why().text(), by_peer.accepted() ? "Stop" : "slow");
        }
    }
}

TEST(cancel_state, RCV_7_first_cause_reason_and_time_stand) {
    cancel_source source;
    source.cancel(cancel_cause::operator_, "first", start);
    source.cancel(cancel_cause::peer, "second", at(std::chrono::seconds(1)));
    EXPECT_EQ(source.token().cause(), cancel_cause::operator_);
    EXPECT_EQ(source.token().why().text(), "first");
    EXPECT_EQ(source.token().state()->asked_at(), start);
}

TEST(cancel_state, a_reason_that_came_too_late_is_not_kept) {
    cancel_source source;
    ASSERT_TRUE(source.begin_response());
    source.cancel(cancel_cause::peer, "too late", start);
    EXPECT_TRUE(source.token().why().empty());
    EXPECT_EQ(source.token().state()->asked_at(), unknown_time);
}

TEST(cancel_state, says_where_it_stands) {
    cancel_source source;
    EXPECT_EQ(to_string(source.state()), "running");
    EXPECT_TRUE(source.begin_response());
    EXPECT_EQ(to_string(source.state()), "responding");
    source.end(start);
    EXPECT_EQ(to_string(source.state()), "done");
    cancel_source other;
    other.cancel(cancel_cause::shutdown, "", start);
    EXPECT_EQ(to_string(other.state()), "cancelled");
}

}  // namespace
}  // namespace andon
