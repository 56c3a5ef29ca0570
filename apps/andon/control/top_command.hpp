// `andon top`: what is in flight, as it changes.
#pragma once

#include <chrono>

namespace andon::app {

struct top_options {
    std::chrono::duration<double> interval{1};
};

[[nodiscard]] int run_top(const top_options& options);

}  // namespace andon::app
