// The watched server over Streamable HTTP, on 127.0.0.1.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "check/client_watch.hpp"
#include "process/descriptor.hpp"

struct pollfd;

namespace andon::check {

/// Never waits. Whoever owns it polls what add_to() names, and calls go_on().
class client_http {
public:
    /// Port 0: any that is free. Throws std::runtime_error where it cannot be had.
    client_http(client_watch& watch, std::uint16_t port);
    ~client_http();
    client_http(const client_http&) = delete;
    client_http& operator=(const client_http&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
    /// Whether anybody has spoken to it.
    [[nodiscard]] bool used() const noexcept { return used_; }

    void add_to(std::vector<pollfd>& polled) const;
    void go_on(time_point now);

private:
    class connection;

    client_watch& watch_;
    detail::descriptor listener_;
    std::uint16_t port_ = 0;
    std::string session_;
    bool used_ = false;
    std::size_t streams_ = 0;
    std::vector<std::unique_ptr<connection>> connections_;
};

}  // namespace andon::check
