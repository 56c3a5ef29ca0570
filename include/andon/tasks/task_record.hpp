// A task: work that outlives the request it came with. What is kept of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace andon {

enum class task_status : std::uint8_t { working, input_required, completed, failed, cancelled };

/// As it is on the wire, in both dialects.
[[nodiscard]] std::string_view to_string(task_status status) noexcept;
[[nodiscard]] std::optional<task_status> task_status_from(std::string_view name) noexcept;
/// Completed, failed, cancelled: from there nothing leads on.
[[nodiscard]] constexpr bool is_terminal(task_status status) noexcept { return status >= task_status::completed; }

/// The wall clock, as tasks outlive the process, in milliseconds, as they are on the wire.
using task_time = std::chrono::sys_time<std::chrono::milliseconds>;

struct task_record {
    std::string id{};
    std::string owner{};  ///< to whom it answers, and to nobody else (TASK-5)
    std::string label{};  ///< the tool
    task_status status = task_status::working;
    std::string status_message{};
    task_time created{};
    task_time updated{};
    std::optional<std::chrono::milliseconds> ttl{};  ///< from its creation; nothing: for ever
    std::string raw_result{};                        ///< of a request that was answered, as JSON
    std::string raw_error{};                         ///< of one that failed, as JSON

    [[nodiscard]] std::optional<task_time> expires() const noexcept {
        return ttl ? std::optional(created + *ttl) : std::nullopt;
    }
    friend bool operator==(const task_record&, const task_record&) = default;
};

/// 128 bits from a secure source, as text: it cannot be guessed, and whoever has it may be the owner. Before them the
/// second, so that new ones lie side by side in a store, however many there are.
[[nodiscard]] std::string new_task_id();

}  // namespace andon
