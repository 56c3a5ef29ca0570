#include "andon/wire/revision.hpp"

#include <algorithm>

#include "andon/wire/error.hpp"

namespace andon {
namespace {

constexpr std::array<std::string_view, all_revisions.size()> names{"2024-11-05", "2025-03-26", "2025-06-18",
                                                                   "2025-11-25", "2026-07-28"};

constexpr std::array<revision_policy, all_revisions.size()> policies{{
    {.which = revision::v2024_11_05,
     .batches = false,
     .server_may_request = true,
     .input_required_results = false,
     .elicitation = false,
     .structured_content = false,
     .progress_message = false,
     .log_level_per_request = false,
     .result_type = false,
     .cache_hints = false,
     .subscriptions_listen = false,
     .task_requests = false,
     .tasks_extension = false,
     .error_id_may_be_absent = false,
     .resource_not_found = error_code::resource_not_found},
    {.which = revision::v2025_03_26,
     .batches = true,
     .server_may_request = true,
     .input_required_results = false,
     .elicitation = false,
     .structured_content = false,
     .progress_message = true,
     .log_level_per_request = false,
     .result_type = false,
     .cache_hints = false,
     .subscriptions_listen = false,
     .task_requests = false,
     .tasks_extension = false,
     .error_id_may_be_absent = false,
     .resource_not_found = error_code::resource_not_found},
    {.which = revision::v2025_06_18,
     .batches = false,
     .server_may_request = true,
     .input_required_results = false,
     .elicitation = true,
     .structured_content = true,
     .progress_message = true,
     .log_level_per_request = false,
     .result_type = false,
     .cache_hints = false,
     .subscriptions_listen = false,
     .task_requests = false,
     .tasks_extension = false,
     .error_id_may_be_absent = false,
     .resource_not_found = error_code::resource_not_found},
    {.which = revision::v2025_11_25,
     .batches = false,
     .server_may_request = true,
     .input_required_results = false,
     .elicitation = true,
     .structured_content = true,
     .progress_message = true,
     .log_level_per_request = false,
     .result_type = false,
     .cache_hints = false,
     .subscriptions_listen = false,
     .task_requests = true,
     .tasks_extension = false,
     .error_id_may_be_absent = true,
     .resource_not_found = error_code::resource_not_found},
    {.which = revision::v2026_07_28,
     .batches = false,
     .server_may_request = false,
     .input_required_results = true,
     .elicitation = true,
     .structured_content = true,
     .progress_message = true,
     .log_level_per_request = true,
     .result_type = true,
     .cache_hints = true,
     .subscriptions_listen = true,
     .task_requests = false,
     .tasks_extension = true,
     .error_id_may_be_absent = true,
     .resource_not_found = error_code::invalid_params},
}};

}  // namespace

std::string_view to_string(revision which) noexcept { return names[static_cast<std::size_t>(which)]; }

std::optional<revision> revision_from(std::string_view name) noexcept {
    const auto* found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<revision>(found - names.begin());
}

const revision_policy& policy_of(revision which) noexcept { return policies[static_cast<std::size_t>(which)]; }

}  // namespace andon
