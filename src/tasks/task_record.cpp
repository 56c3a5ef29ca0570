#include "andon/tasks/task_record.hpp"

#include <array>
#include <cstdio>

#include "wire/unguessable.hpp"

namespace andon {
namespace {

constexpr std::array<std::string_view, 5> names{"working", "input_required", "completed", "failed", "cancelled"};

}  // namespace

std::string_view to_string(task_status status) noexcept { return names[static_cast<std::size_t>(status)]; }

std::optional<task_status> task_status_from(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<task_status>(i);
    }
    return std::nullopt;
}

std::string new_task_id() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    std::array<char, 9> time{};
    std::snprintf(time.data(), time.size(), "%08x", static_cast<unsigned>(now.time_since_epoch().count()));
    return time.data() + detail::unguessable_name(16);
}

}  // namespace andon
