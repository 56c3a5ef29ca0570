// The time type of the core. The core never reads a clock: whoever calls it passes the time in.
#pragma once

#include <chrono>

namespace andon {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Stands for a moment that nobody told us. Figures that would need it are left out.
inline constexpr time_point unknown_time = time_point::min();

}  // namespace andon
