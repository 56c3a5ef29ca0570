// Writing lines of a log to a descriptor, whoever reads them or does not.
#pragma once

#include <optional>
#include <string_view>

#include "andon/transport/log.hpp"

namespace andon::detail {

/// What a pipe takes in one piece, where it takes anything.
inline constexpr std::size_t longest_log_write = 4'096;

[[nodiscard]] std::string_view to_string(log_level level) noexcept;
/// Nothing: no level has that name.
[[nodiscard]] std::optional<log_level> log_level_named(std::string_view name) noexcept;
/// What ANDON_LOG says; nothing: it is unset, or no level.
[[nodiscard]] std::optional<log_level> log_level_of_environment();

/// From any thread. Waits for nobody: lines that nobody takes at once are dropped. A reader that left does not end the
/// program.
void write_log(int descriptor, std::string_view lines) noexcept;

}  // namespace andon::detail
