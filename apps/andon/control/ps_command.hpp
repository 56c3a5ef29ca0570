// `andon ps`: what is in flight.
#pragma once

namespace andon::app {

struct ps_options {
    bool json = false;
    bool all = false;      ///< with those that have stopped
    bool servers = false;  ///< the servers instead of the calls
};

[[nodiscard]] int run_ps(const ps_options& options);

}  // namespace andon::app
