// Durations and sizes as people write them: "30s", "1h30m", "16MiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"

namespace andon::gateway {

/// Longer ones are refused: nobody means them, and a deadline made of one must not overflow.
inline constexpr duration longest_duration = std::chrono::hours(24 * 366);

/// A number and a unit, or several: "250ms", "1.5s", "1h30m". Nothing: it is none, or too long.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);
/// Those that it knows: "ms, s, m, h or d".
[[nodiscard]] std::string duration_units();
/// The shortest text that parse_duration() reads as the same. What is below a millisecond is lost.
[[nodiscard]] std::string duration_text(duration d);

/// A number of bytes, with a unit (KiB, MiB, GiB, kB, MB, GB) or without. Nothing: it is none, or too large.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace andon::gateway
