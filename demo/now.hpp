// The one clock of the demonstration: the core has none and is told the time.
#pragma once

#include <chrono>

#include "andon/core/time.hpp"

namespace demo {

[[nodiscard]] inline andon::time_point now() noexcept { return std::chrono::steady_clock::now(); }

}  // namespace demo
