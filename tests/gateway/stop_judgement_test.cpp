// Whether work has stopped, as a table: what was seen and heard, look by look, and what is concluded.
#include "gateway/relay/stop_judgement.hpp"

#include <gtest/gtest.h>
#include <ostream>
#include <vector>

namespace andon::gateway {

void PrintTo(stop_judgement::verdict what, std::ostream* to) {
    constexpr const char* names[] = {"wait", "quiet", "ignoring", "unseen"};
    *to << names[static_cast<int>(what)];
}

namespace {

using namespace std::chrono_literals;
using enum stop_judgement::verdict;

constexpr time_point asked = time_point(1h);
constexpr duration grace = 500ms;

/// At so many milliseconds after the cancel.
struct step {
    int at;
    enum { looks, hears_progress } what;
    sighting seen;
    stop_judgement::verdict expected;
};

constexpr step heard(int at) { return {at, step::hears_progress, {}, wait}; }
constexpr step look(int at, sighting seen, stop_judgement::verdict expected) {
    return {at, step::looks, seen, expected};
}

constexpr sighting idle{.alone = true, .process = true};
constexpr sighting busy{.alone = true, .process = true, .span = 50ms, .busy = 30ms};
constexpr sighting barely_busy{.alone = true, .process = true, .span = 20ms, .busy = 2ms};
constexpr sighting on_a_busy_machine{.alone = true, .process = true, .span = 50ms, .busy = 3ms};
constexpr sighting starved{.alone = true, .process = true, .span = 50ms, .ready = true};
constexpr sighting after_a_long_pause{.alone = true, .process = true, .span = 250ms, .busy = 12ms};
constexpr sighting with_child{.alone = true, .process = true, .children = 1};
constexpr sighting among_others{.alone = false, .process = true, .span = 50ms, .busy = 30ms, .children = 3};
constexpr sighting after_another{.alone = true, .mixed = true, .process = true, .span = 50ms, .busy = 30ms};
constexpr sighting idle_after_another{.alone = true, .mixed = true, .process = true};
constexpr sighting behind_url{.alone = true, .process = false};
constexpr sighting explained{.alone = true, .process = true, .another_works = true, .span = 50ms, .busy = 30ms};
constexpr sighting explained_idle{.alone = true, .process = true, .another_works = true};

// Of a server that has one processor busy by itself.
constexpr sighting as_by_itself{.alone = true, .process = true, .own_rate = 1, .span = 50ms, .busy = 60ms};
constexpr sighting more_than_by_itself{.alone = true, .process = true, .own_rate = 1, .span = 50ms, .busy = 90ms};
constexpr sighting less_than_by_itself{.alone = true, .process = true, .own_rate = 1, .span = 50ms};
constexpr sighting child_of_one_that_computes{
    .alone = true, .process = true, .own_rate = 1, .span = 50ms, .busy = 50ms, .children = 1};

struct judgement_case {
    const char* name;
    std::vector<step> steps;
    std::optional<int> quiet_since{};
    duration cadence{};  // of its progress, before it was cancelled
    duration grace = gateway::grace;
};

void PrintTo(const judgement_case& which, std::ostream* to) { *to << which.name; }

class judged : public testing::TestWithParam<judgement_case> {};

TEST_P(judged, as_it_should_be) {
    stop_judgement judgement(asked, GetParam().grace, GetParam().cadence);
    for (step each : GetParam().steps) {
        const time_point now = asked + std::chrono::milliseconds(each.at);
        each.seen.at = now;
        if (each.what == step::hears_progress) {
            judgement.heard_progress(now);
        } else {
            EXPECT_EQ(judgement.look(each.seen), each.expected) << "at " << each.at;
        }
    }
    if (const auto since = GetParam().quiet_since) {
        EXPECT_EQ(judgement.quiet_since(), asked + std::chrono::milliseconds(*since));
    }
}

const judgement_case all_cases[] = {
    // Alone, with a process.
    {"quiet_on_two_looks_in_a_row", {look(20, idle, wait), look(70, idle, quiet)}, 20},
    {"a_busy_look_begins_anew",
     {look(20, idle, wait), look(70, busy, wait), look(120, idle, wait), look(170, idle, quiet)},
     120},
    {"a_garbage_collector_is_no_work", {look(20, barely_busy, wait), look(70, barely_busy, quiet)}, 20},
    {"a_little_of_a_processor_is_work",
     {look(20, on_a_busy_machine, wait), look(70, on_a_busy_machine, wait), look(500, on_a_busy_machine, ignoring)}},
    {"one_that_waits_for_a_processor_is_not_quiet",
     {look(20, starved, wait), look(70, starved, wait), look(500, starved, wait), look(550, busy, ignoring)}},
    {"as_little_over_a_longer_time_is_not",
     {look(250, after_a_long_pause, wait), look(500, after_a_long_pause, quiet)},
     250},
    {"busy_up_to_the_grace_time_waits", {look(20, busy, wait), look(499, busy, wait)}},
    {"busy_at_the_grace_time_ignores", {look(20, busy, wait), look(500, busy, ignoring)}},
    {"a_child_that_lives_on_ignores", {look(20, with_child, wait), look(500, with_child, ignoring)}},
    {"progress_that_goes_on_ignores", {heard(10), look(20, idle, wait), heard(480), look(500, idle, ignoring)}},
    {"progress_on_its_way_is_forgiven",
     {heard(10), look(20, idle, wait), look(70, idle, wait), look(120, idle, wait), look(170, idle, quiet)},
     120},
    {"it_stops_in_the_last_moment",  // the first quiet look is behind the grace time
     {look(20, busy, wait), look(470, busy, wait), look(520, idle, wait), look(570, idle, quiet)},
     520},
    {"it_rests_for_one_look_behind_the_grace_time",
     {look(470, busy, wait), look(520, idle, wait), look(570, busy, ignoring)}},
    {"ignores_and_stops_in_the_end",
     {look(500, busy, ignoring), look(750, busy, ignoring), look(1000, idle, wait), look(1250, idle, quiet)},
     1000},
    {"no_grace_time_and_nothing_seen", {look(20, idle, wait), look(70, idle, quiet)}, 20, {}, 0ms},
    {"no_grace_time_and_busy", {look(20, busy, ignoring)}, {}, {}, 0ms},
    {"no_grace_time_and_progress_on_its_way",
     {heard(5), look(20, idle, wait), look(120, idle, wait), look(170, idle, quiet)},
     120,
     {},
     0ms},

    // It used to send progress: silence counts once the next would have come.
    {"a_slow_cadence_is_waited_for",
     {look(20, idle, wait), look(70, idle, wait), look(199, idle, wait), look(200, idle, quiet)},
     20,
     100ms},
    {"a_slow_cadence_goes_on",
     {look(20, idle, wait), look(70, idle, wait), heard(95), look(120, idle, wait), heard(195), heard(495),
      look(500, idle, ignoring)},
     {},
     100ms},
    {"no_longer_than_the_grace_time", {look(20, idle, wait), look(499, idle, wait), look(500, idle, quiet)}, 20, 10s},

    // Others are in flight there: only the wire counts.
    {"among_others_waits", {look(20, among_others, wait), look(499, among_others, wait)}},
    {"among_others_unseen", {look(500, among_others, unseen)}},
    {"among_others_progress_ignores", {heard(300), look(500, among_others, ignoring)}},
    {"among_others_progress_long_ago", {heard(249), look(500, among_others, unseen)}},
    {"among_others_progress_on_its_way_with_a_short_grace_time",
     {heard(20), look(100, among_others, unseen)},
     {},
     {},
     100ms},
    {"among_others_progress_with_a_short_grace_time", {heard(120), look(150, among_others, ignoring)}, {}, {}, 100ms},
    {"others_come_and_go",  // looks among others tell nothing
     {look(20, idle, wait), look(70, among_others, wait), look(120, idle, wait), look(170, idle, quiet)},
     120},
    {"once_seen_at_work_others_change_nothing",
     {look(500, busy, ignoring), look(750, among_others, ignoring), look(1000, idle, wait), look(1250, idle, quiet)}},
    {"once_heard_and_silent_since_among_others",
     {heard(450), look(500, among_others, ignoring), look(1000, among_others, unseen)}},

    {"what_another_did_until_now_is_not_its", {look(450, after_another, wait), look(500, after_another, unseen)}},
    {"at_rest_whoever_was_there", {look(20, idle_after_another, wait), look(70, idle_after_another, quiet)}, 20},

    // Another one that was cancelled was seen at work: what the process does may be its.
    {"anothers_work_is_not_held_against_it", {look(20, explained, wait), look(500, explained, unseen)}},
    {"progress_is_its_own", {heard(490), look(500, explained, ignoring)}},
    {"seen_at_work_before_the_other", {look(500, busy, ignoring), look(750, explained, ignoring)}},
    {"two_that_ignored_become_quiet",
     {look(500, busy, ignoring), look(750, explained_idle, wait), look(1000, explained_idle, quiet)}},

    // A server that computes for itself.
    {"what_it_does_by_itself_is_unseen", {look(20, as_by_itself, wait), look(500, as_by_itself, unseen)}},
    {"clearly_more_on_four_looks_ignores",
     {look(400, more_than_by_itself, wait), look(450, more_than_by_itself, wait), look(500, more_than_by_itself, wait),
      look(550, more_than_by_itself, ignoring)}},
    {"clearly_more_now_and_then_does_not",
     {look(400, more_than_by_itself, wait), look(450, as_by_itself, wait), look(500, more_than_by_itself, wait),
      look(550, more_than_by_itself, wait), look(600, more_than_by_itself, wait), look(650, as_by_itself, unseen)}},
    {"a_child_counts_there_as_well", {look(500, child_of_one_that_computes, ignoring)}},
    {"it_can_be_at_rest_all_the_same", {look(20, less_than_by_itself, wait), look(70, less_than_by_itself, quiet)}, 20},
    {"its_progress_counts", {heard(490), look(500, as_by_itself, ignoring)}},

    // Behind a URL there is only the wire.
    {"behind_a_url_unseen", {look(20, behind_url, wait), look(499, behind_url, wait), look(500, behind_url, unseen)}},
    {"behind_a_url_progress_ignores", {heard(400), look(500, behind_url, ignoring)}},
    {"behind_a_url_progress_ends", {heard(400), look(500, behind_url, ignoring), look(750, behind_url, unseen)}},
};
INSTANTIATE_TEST_SUITE_P(stop_judgement, judged, testing::ValuesIn(all_cases),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace andon::gateway
