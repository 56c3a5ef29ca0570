// Time for tests: it is what the test says it is.
#pragma once

#include "andon/core/time.hpp"

namespace andon {

/// `after` some moment that has nothing to do with any clock.
inline time_point at(duration after) { return time_point(std::chrono::hours(1'000)) + after; }
inline const time_point start = at(duration::zero());

}  // namespace andon
