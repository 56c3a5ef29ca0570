// One host on standard input and output, one server behind it.
#pragma once

#include "gateway/config/config.hpp"

namespace andon::gateway {

/// Until the host is gone or the process is asked to leave, and nothing is left of the server. Throws where the server
/// cannot be started. False: the host was given up, because it did not read what it was sent.
[[nodiscard]] bool run_wrap(const configuration& config, const server_config& server);

}  // namespace andon::gateway
