// The plain server over Streamable HTTP: a thread for each connection, and each connection for one request.
#pragma once

#include <cstdint>

#include "check/plain_server.hpp"

namespace broken {

/// Never returns. `sessions`: legacy clients get one.
void serve_http(plain_server& server, std::uint16_t port, bool sessions);

}  // namespace broken
