#include "tasks/task_text.hpp"

#include <array>
#include <charconv>
#include <cstdio>

#include "andon/wire/message.hpp"

namespace andon::detail {
namespace {

void add(std::string& members, std::string_view name, std::string_view raw) {
    if (!members.empty()) members += ',';
    ((members += '"') += name) += "\":";
    members += raw;
}

}  // namespace

task_time task_now() noexcept {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

bool knows_tasks(const json::object& capabilities) noexcept {
    const json::value* const extensions = capabilities.if_contains("extensions");
    return extensions != nullptr && extensions->is_object() && extensions->get_object().contains(tasks_extension);
}

void throw_tasks_missing() {
    throw rpc_error(error_code::missing_client_capability,
                    "the client has not declared " + std::string(tasks_extension),
                    json::object{{"requiredCapabilities", {{"extensions", {{tasks_extension, json::object()}}}}}});
}

std::string timestamp(task_time time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    std::array<char, 40> text{};
    const int size =
        std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(size)};
}

std::string task_members(const task_record& task, task_dialect dialect, std::chrono::milliseconds poll_interval) {
    const bool in_extension = dialect == task_dialect::extension;
    std::string members;
    add(members, "taskId", json_quoted(task.id));
    add(members, "status", json_quoted(to_string(task.status)));
    if (!task.status_message.empty()) add(members, "statusMessage", json_quoted(task.status_message));
    add(members, "createdAt", json_quoted(timestamp(task.created)));
    add(members, "lastUpdatedAt", json_quoted(timestamp(task.updated)));
    add(members, in_extension ? "ttlMs" : "ttl", task.ttl ? std::to_string(task.ttl->count()) : "null");
    add(members, in_extension ? "pollIntervalMs" : "pollInterval", std::to_string(poll_interval.count()));
    return members;
}

std::string detailed_members(const task_record& task, const json::object& questions,
                             std::chrono::milliseconds poll_interval) {
    std::string members = task_members(task, task_dialect::extension, poll_interval);
    switch (task.status) {
        case task_status::input_required: add(members, "inputRequests", json_text(questions)); break;
        case task_status::completed: add(members, "result", task.raw_result); break;
        case task_status::failed: add(members, "error", raw_error_of(task)); break;
        case task_status::working:
        case task_status::cancelled: break;
    }
    return members;
}

json::object meta_of_task(std::string_view id) { return {{related_task, {{"taskId", id}}}}; }

std::string raw_error(int code, std::string_view message, const json::value& data) {
    json::object error{{"code", code}, {"message", message}};
    if (!data.is_null()) error["data"] = data;
    return json_text(error);
}

std::string raw_error_of(const task_record& task) {
    if (!task.raw_error.empty()) return task.raw_error;
    return raw_error(error_code::internal_error, task.status_message);
}

std::string cursor_of(const task_place& place) {
    return std::to_string(place.created.time_since_epoch().count()) + '-' + place.id;
}

std::optional<task_place> place_from(std::string_view cursor) {
    std::int64_t created = 0;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), created);
    const std::size_t read = static_cast<std::size_t>(end - cursor.data());
    if (error != std::errc() || read + 1 >= cursor.size() || cursor[read] != '-') return std::nullopt;
    return task_place{.created = task_time(std::chrono::milliseconds(created)),
                      .id = std::string(cursor.substr(read + 1))};
}

}  // namespace andon::detail
