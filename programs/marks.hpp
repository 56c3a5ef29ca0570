// What tests and benchmarks watch: when a handler started, when it noticed its cancel, when it ended.
#pragma once

#include <string_view>

namespace everything {

/// With ANDON_MARKS=1 in the environment, one line to standard error: `@what KEY NS`, NS being CLOCK_MONOTONIC.
void mark(std::string_view what, std::string_view key);

}  // namespace everything
