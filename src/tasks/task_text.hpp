// Tasks as they go over the wire, in both dialects.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "andon/tasks/task_store.hpp"
#include "andon/wire/error.hpp"

namespace andon::detail {

/// 2025-11-25, where the client asks for a task; and `io.modelcontextprotocol/tasks` of 2026-07-28, where the server
/// makes one on its own.
enum class task_dialect : std::uint8_t { requested, extension };

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view related_task = "io.modelcontextprotocol/related-task";

/// Whether a client of these capabilities knows the extension.
[[nodiscard]] bool knows_tasks(const json::object& capabilities) noexcept;
[[noreturn]] void throw_tasks_missing();

[[nodiscard]] task_time task_now() noexcept;

/// The members of a task, without braces.
[[nodiscard]] std::string task_members(const task_record& task, task_dialect dialect,
                                       std::chrono::milliseconds poll_interval);
/// The same with what it waits for or how it ended, as the extension has it.
[[nodiscard]] std::string detailed_members(const task_record& task, const json::object& questions,
                                           std::chrono::milliseconds poll_interval);
/// `{"io.modelcontextprotocol/related-task":{"taskId":...}}`
[[nodiscard]] json::object meta_of_task(std::string_view id);

/// What a failed task failed with: its own error, or one that says what became of it.
[[nodiscard]] std::string raw_error_of(const task_record& task);
[[nodiscard]] std::string raw_error(int code, std::string_view message, const json::value& data = nullptr);

/// `2026-07-28T10:30:00.250Z`
[[nodiscard]] std::string timestamp(task_time time);

/// Where a page of the list ended, for the client to bring back. Nothing where it is none of ours.
[[nodiscard]] std::string cursor_of(const task_place& place);
[[nodiscard]] std::optional<task_place> place_from(std::string_view cursor);

}  // namespace andon::detail
