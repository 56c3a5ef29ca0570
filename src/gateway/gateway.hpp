// Hosts over Streamable HTTP, any number of servers behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gateway/config/config.hpp"

namespace andon::gateway {

/// `http://127.0.0.1:7780`, `https://[::1]:7780`.
[[nodiscard]] std::string base_url(const gateway_config& config, std::uint16_t port);

/// Until the process is asked to leave, and nothing is left of the servers. `on_listening` is told the port. Throws
/// config_error where the configuration cannot work, and std::system_error where the address cannot be had.
void run_gateway(const configuration& config, const std::function<void(std::uint16_t)>& on_listening);

}  // namespace andon::gateway
