// `andon check` finds each defect that was planted, and blames the rule that it breaks.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>

#include "check/run.hpp"

namespace andon::check {
namespace {

enum class by : std::uint8_t { stdio, http };

struct planted {
    std::string defect;
    era which;
    by transport;
    std::string rule;
    result expected;
    std::set<std::string> also{};  ///< rules that the same defect breaks
    bool sessions = true;

    [[nodiscard]] target server() const {
        target made{.command = {ANDON_BROKEN_SERVER, "--defect", defect}};
        if (transport == by::http) {
            made.command.insert(made.command.end(), {"--http", "{port}"});
            made.url = "http://127.0.0.1:{port}/mcp";
        }
        if (!sessions) made.command.emplace_back("--no-sessions");
        return made;
    }
    friend void PrintTo(const planted& what, std::ostream* out) { *out << what.defect; }
};

const std::set<std::string>& bystanders() {
    static const std::set<std::string> rules{"MSG-2", "RCV-3", "RCV-5", "RCV-6", "RCV-9"};
    return rules;
}

class defects : public testing::TestWithParam<planted> {};

TEST_P(defects, are_found) {
    const planted& what = GetParam();
    run_options how{.legacy = what.which == era::legacy, .modern = what.which == era::modern, .era_forced = true};
    how.rules = bystanders();
    how.rules.insert(what.rule);
    how.search.jobs = 6;
    const checked_server found = check_server(what.server(), how);
    bool seen = false;
    for (const checked_rule& each : found.rules) {
        const std::string words = each.id + ": " + std::string(to_string(each.found.what)) + ", " + each.found.evidence;
        if (each.id == what.rule) {
            seen = true;
            EXPECT_EQ(each.found.what, what.expected) << words;
        } else if (!what.also.contains(each.id)) {
            EXPECT_NE(each.found.what, result::fail) << "blamed for " << what.defect << ": " << words;
        }
    }
    EXPECT_TRUE(seen) << what.rule;
}

constexpr era legacy = era::legacy;
constexpr era modern = era::modern;
constexpr result fails = result::fail;
constexpr result differs = result::differs;

INSTANTIATE_TEST_SUITE_P(
    check, defects,
    testing::Values(planted{"MSG_1_does_not_know_string_ids", legacy, by::stdio, "MSG-1", fails},
                    planted{"MSG_2_an_absent_id_means_all", legacy, by::stdio, "MSG-2", fails, {"RCV-6"}},
                    planted{"MSG_3_number_is_string", legacy, by::stdio, "MSG-3", differs},
                    planted{"MSG_3_ids_are_rounded", modern, by::stdio, "MSG-3", differs},
                    planted{"MSG_4_logs_the_reason_as_it_is", legacy, by::stdio, "MSG-4", differs},
                    planted{"DIR_1_lets_its_own_be_cancelled", legacy, by::stdio, "DIR-1", fails},
                    planted{"DIR_2_sends_the_cancel_back", modern, by::stdio, "DIR-2", fails},
                    planted{"DIR_3_cancels_what_it_never_sent", legacy, by::stdio, "DIR-3", fails},
                    planted{"DIR_4_initialize_can_be_cancelled", legacy, by::stdio, "DIR-4", differs},
                    planted{"DIR_5_cancels_the_task", legacy, by::stdio, "DIR-5", fails},
                    planted{"DIR_5_cancels_the_task", modern, by::stdio, "DIR-5", fails},
                    planted{"DIR_6_sessions_share_ids", legacy, by::http, "DIR-6", differs},
                    planted{"RCV_1_works_on_in_silence", legacy, by::stdio, "RCV-1", fails},
                    planted{"RCV_1_works_on_in_silence", modern, by::stdio, "RCV-1", fails},
                    planted{"RCV_2_leaks_a_file_for_each_call", legacy, by::stdio, "RCV-2", fails},
                    planted{"RCV_3_answers_with_an_error", legacy, by::stdio, "RCV-3", fails},
                    planted{"RCV_3_answers_when_it_is_done", legacy, by::stdio, "RCV-3", fails},
                    planted{"RCV_3_answers_when_it_is_done", legacy, by::http, "RCV-3", fails},
                    planted{"RCV_3_answers_when_it_is_done", modern, by::stdio, "RCV-4", fails},
                    planted{"RCV_4_goes_on_with_progress", modern, by::stdio, "RCV-4", fails},
                    planted{"RCV_4_goes_on_with_progress", legacy, by::stdio, "RCV-4", differs},
                    planted{"RCV_5_dies_of_an_unknown_id", legacy, by::stdio, "RCV-5", fails, {"RCV-9", "RCV-6"}},
                    planted{"RCV_5_answers_an_unknown_id", legacy, by::stdio, "RCV-5", fails, {"RCV-6"}},
                    planted{"RCV_5_cancels_another", legacy, by::stdio, "RCV-5", fails, {"RCV-6"}},
                    planted{"RCV_6_dies_of_a_malformed_one", modern, by::stdio, "RCV-6", fails},
                    planted{"RCV_6_answers_a_malformed_one", legacy, by::stdio, "RCV-6", fails},
                    planted{"RCV_6_answers_it_as_a_request", legacy, by::stdio, "RCV-6", fails},
                    planted{"RCV_7_answers_a_second_cancel", legacy, by::stdio, "RCV-7", differs},
                    planted{"RCV_8_an_id_stays_cancelled", legacy, by::stdio, "RCV-8", differs},
                    planted{"RCV_9_answers_twice", legacy, by::stdio, "RCV-9", fails},
                    planted{"RCV_10_takes_an_id_twice", legacy, by::stdio, "RCV-10", differs},
                    planted{"RCV_12_leaves_its_question", legacy, by::stdio, "RCV-12", differs},
                    planted{"RCV_12_leaves_its_child", legacy, by::stdio, "RCV-12", differs},
                    planted{"RCV_12_leaves_its_child", modern, by::stdio, "RCV-1", fails},
                    planted{"RCV_12_leaves_its_child", legacy, by::stdio, "RCV-2", fails},
                    planted{"HTTP_1_takes_no_notice_of_a_disconnect", modern, by::http, "HTTP-1", fails},
                    planted{"HTTP_2_takes_a_disconnect_for_a_cancel", legacy, by::http, "HTTP-2", fails},
                    planted{"HTTP_3_leaves_the_stream_open", legacy, by::http, "HTTP-3", differs},
                    planted{"HTTP_4_lets_anybody_cancel", legacy, by::http, "HTTP-4", differs, {}, false},
                    planted{"HTTP_5_says_200_to_everything", modern, by::http, "HTTP-5", fails},
                    planted{"TASK_1_answers_before_it_is_cancelled", legacy, by::stdio, "TASK-1", fails},
                    planted{"TASK_2_cancels_what_has_ended", legacy, by::stdio, "TASK-2", fails},
                    planted{"TASK_3_completes_what_was_cancelled", legacy, by::stdio, "TASK-3", fails},
                    planted{"TASK_3_completes_what_was_cancelled", modern, by::http, "TASK-3", fails},
                    planted{"TASK_4_answers_with_the_task", modern, by::stdio, "TASK-4", fails},
                    planted{"TASK_5_counts_its_tasks", legacy, by::stdio, "TASK-5", fails},
                    planted{"TASK_6_works_on", modern, by::stdio, "TASK-6", fails},
                    planted{"SUB_1_sends_after_the_end", modern, by::stdio, "SUB-1", fails},
                    planted{"SUB_3_sends_before_it_acknowledges", modern, by::stdio, "SUB-3", fails},
                    planted{"SUB_3_agrees_to_what_was_not_asked", modern, by::http, "SUB-3", fails}),
    [](const auto& each) {
        return each.param.defect + (each.param.which == legacy ? "_legacy" : "_modern") +
               (each.param.transport == by::http ? "_http" : "") + "_" + std::to_string(each.index);
    });

}  // namespace
}  // namespace andon::check
