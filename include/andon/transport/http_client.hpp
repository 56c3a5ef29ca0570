// Streamable HTTP, from the client's side.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andon/core/time.hpp"
#include "andon/transport/transport.hpp"

namespace andon {

struct http_client_options {
    std::string bearer_token{};  ///< for `Authorization: Bearer`
    /// More headers, with every request.
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string ca_file{};  ///< whose certificates are trusted, as PEM; empty: those that the system trusts
    /// Calls under way at the same time; each has a connection to itself. The others wait, and can be cancelled there.
    std::size_t max_connections = 256;
    duration connect_timeout = std::chrono::seconds(10);
    duration idle_timeout = std::chrono::seconds(30);  ///< how long a connection without a call is kept
    /// Up to 2025-11-25 a server may have something to say without being asked; with false nobody listens.
    bool listen = true;
};

/// Every message is a POST of its own to `url`, http or https. Looks the host up, once. Throws std::invalid_argument
/// where the URL or an option cannot be used, std::runtime_error where the host is not known.
[[nodiscard]] std::unique_ptr<transport> http_client_transport(std::string_view url, http_client_options options = {},
                                                               const transport_limits& limits = {});

}  // namespace andon
