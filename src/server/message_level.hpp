// The levels of log messages by their names.
#pragma once

#include <optional>
#include <string_view>

#include "andon/server/call.hpp"

namespace andon::detail {

[[nodiscard]] std::optional<message_level> message_level_from(std::string_view name) noexcept;
[[nodiscard]] std::string_view to_string(message_level level) noexcept;

}  // namespace andon::detail
