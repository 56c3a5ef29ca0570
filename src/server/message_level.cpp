#include "server/message_level.hpp"

#include <array>

namespace andon::detail {
namespace {

constexpr std::array<std::string_view, 8> names{"debug", "info",     "notice", "warning",
                                                "error", "critical", "alert",  "emergency"};

}  // namespace

std::optional<message_level> message_level_from(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<message_level>(i);
    }
    return std::nullopt;
}

std::string_view to_string(message_level level) noexcept { return names[static_cast<std::size_t>(level)]; }

}  // namespace andon::detail
