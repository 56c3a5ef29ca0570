// Hosts over Streamable HTTP, any number of servers behind them.
#pragma once

#include <cstdint>
#include <functional>

#include "gateway/config/config.hpp"

namespace andon::gateway {

/// Until the process is asked to leave, and nothing is left of the servers. `on_listening` is told the port. Throws
/// where the address cannot be used.
void run_gateway(const configuration& config, const std::function<void(std::uint16_t)>& on_listening);

}  // namespace andon::gateway
