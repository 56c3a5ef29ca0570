// The published revisions of the protocol, and what each of them allows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace andon {

enum class revision : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

inline constexpr std::array all_revisions{revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18,
                                          revision::v2025_11_25, revision::v2026_07_28};
inline constexpr revision newest_legacy = revision::v2025_11_25;
inline constexpr revision newest_modern = revision::v2026_07_28;

/// Legacy: a session that begins with `initialize`. Modern: every request speaks for itself.
enum class era : std::uint8_t { legacy, modern };

[[nodiscard]] std::string_view to_string(revision which) noexcept;
[[nodiscard]] std::optional<revision> revision_from(std::string_view name) noexcept;

[[nodiscard]] constexpr era era_of(revision which) noexcept {
    return which >= revision::v2026_07_28 ? era::modern : era::legacy;
}

/// Everything that differs between the revisions, in one place: code asks this and never compares revisions.
struct revision_policy {
    revision which;
    bool batches;                 ///< an array of messages on one line
    bool server_may_request;      ///< sampling, elicitation and roots as requests of their own; and may cancel them
    bool input_required_results;  ///< the same, as an answer that asks for input and a retry
    bool elicitation;             ///<
    bool structured_content;      ///< results of tools may carry JSON
    bool progress_message;        ///<
    bool log_level_per_request;   ///< and no log message without it; before: logging/setLevel
    bool result_type;             ///< every result says whether it is complete
    bool cache_hints;             ///< ttlMs and cacheScope in lists and reads
    bool subscriptions_listen;  ///< one request that waits; before: resources/subscribe, and lists without being asked
    bool task_requests;         ///< a request may ask to be run as a task
    bool tasks_extension;       ///< the server makes tasks of what it wants to, for clients that declare the extension
    bool error_id_may_be_absent;  ///< where the id could not be read; before: null
    int resource_not_found;       ///< the error code
};

[[nodiscard]] const revision_policy& policy_of(revision which) noexcept;

}  // namespace andon
