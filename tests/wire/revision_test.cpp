#include "andon/wire/revision.hpp"

#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

struct revision_case {
    const char* name;
    const char* published;
    revision which;
    era of;
    revision_policy policy;
};

class revision_table : public testing::TestWithParam<revision_case> {};

TEST_P(revision_table, is_as_the_specification_has_it) {
    const revision_case& given = GetParam();
    EXPECT_EQ(to_string(given.which), given.published);
    EXPECT_EQ(revision_from(given.published), given.which);
    EXPECT_EQ(era_of(given.which), given.of);
    const revision_policy& policy = policy_of(given.which);
    EXPECT_EQ(policy.which, given.which);
    EXPECT_EQ(policy.batches, given.policy.batches);
    EXPECT_EQ(policy.server_may_request, given.policy.server_may_request);
    EXPECT_EQ(policy.input_required_results, given.policy.input_required_results);
    EXPECT_EQ(policy.elicitation, given.policy.elicitation);
    EXPECT_EQ(policy.structured_content, given.policy.structured_content);
    EXPECT_EQ(policy.progress_message, given.policy.progress_message);
    EXPECT_EQ(policy.log_level_per_request, given.policy.log_level_per_request);
    EXPECT_EQ(policy.result_type, given.policy.result_type);
    EXPECT_EQ(policy.cache_hints, given.policy.cache_hints);
    EXPECT_EQ(policy.subscriptions_listen, given.policy.subscriptions_listen);
    EXPECT_EQ(policy.task_requests, given.policy.task_requests);
    EXPECT_EQ(policy.tasks_extension, given.policy.tasks_extension);
    EXPECT_EQ(policy.error_id_may_be_absent, given.policy.error_id_may_be_absent);
    EXPECT_EQ(policy.resource_not_found, given.policy.resource_not_found);
}

constexpr int not_found = error_code::resource_not_found;

// In the order of the struct: batches, requests by the server, input required, elicitation, structured content, words
// with progress, log level per request, result type, cache hints, subscriptions/listen, tasks on request, tasks as an
// extension, error without id.
INSTANTIATE_TEST_SUITE_P(
    revision, revision_table,
    testing::ValuesIn(std::vector<revision_case>{
        revision_case{
            "the_first",
            "2024-11-05",
            revision::v2024_11_05,
            era::legacy,
            {{}, false, true, false, false, false, false, false, false, false, false, false, false, false, not_found}},
        revision_case{
            "with_batches",
            "2025-03-26",
            revision::v2025_03_26,
            era::legacy,
            {{}, true, true, false, false, false, true, false, false, false, false, false, false, false, not_found}},
        revision_case{
            "with_elicitation",
            "2025-06-18",
            revision::v2025_06_18,
            era::legacy,
            {{}, false, true, false, true, true, true, false, false, false, false, false, false, false, not_found}},
        revision_case{
            "with_tasks",
            "2025-11-25",
            revision::v2025_11_25,
            era::legacy,
            {{}, false, true, false, true, true, true, false, false, false, false, true, false, true, not_found}},
        revision_case{"modern",
                      "2026-07-28",
                      revision::v2026_07_28,
                      era::modern,
                      {{},
                       false,
                       false,
                       true,
                       true,
                       true,
                       true,
                       true,
                       true,
                       true,
                       true,
                       false,
                       true,
                       true,
                       error_code::invalid_params}}}),
    by_name());

TEST(revision, names_that_are_none) {
    for (const std::string_view name : {"", "2024-11-5", "2025-03-26 ", "DRAFT-2026", "2026-07-29", "1.0"}) {
        EXPECT_FALSE(revision_from(name)) << name;
    }
}

TEST(revision, the_newest_of_each_era_is_the_newest) {
    for (const revision which : all_revisions) {
        EXPECT_LE(which, era_of(which) == era::legacy ? newest_legacy : newest_modern);
    }
}

}  // namespace
}  // namespace andon
