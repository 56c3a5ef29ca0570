#pragma once

#include <chrono>

#include "andon/core/time.hpp"

namespace andon {

/// By the clock that every time limit here is measured with.
inline time_point now() noexcept { return std::chrono::steady_clock::now(); }

}  // namespace andon
