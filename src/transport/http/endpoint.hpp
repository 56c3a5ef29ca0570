// Where an HTTP server is: its URL, taken apart, and its addresses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace andon::detail {

struct endpoint {
    struct address {
        sockaddr_storage bytes{};
        socklen_t size = 0;
    };

    bool tls = false;
    std::string host;       ///< without the brackets of an IPv6 address
    std::string port;       ///<
    std::string authority;  ///< as the header `Host` has it
    std::string target;     ///< path and query
    std::vector<address> addresses{};

    /// Throws std::invalid_argument where it is no http or https URL.
    [[nodiscard]] static endpoint from_url(std::string_view url);
    /// Whether the host is an address, or localhost: then nobody has to be asked for it.
    [[nodiscard]] bool is_address() const;
    /// Looks the host up, which may take its time. Throws std::runtime_error where it has no address.
    void resolve();
};

/// A URL as it may be shown: `https://***@host/` where it has a user or a password.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace andon::detail
