// A proxy under measurement, with a server behind it.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

using words = std::vector<std::string>;

/// The command of a proxy, in which `{port}` is the port on which it is to listen, `{server}` the server's command in
/// one word, and `{server...}` the same in as many as it has.
[[nodiscard]] words proxy_command(const words& proxy, const words& server, std::uint16_t port);
/// Nobody listens there now.
[[nodiscard]] std::uint16_t free_port();

/// Asked to leave in the end, and what it has left behind is killed and reaped: what they all took of the processor
/// counts as ours, and the next measurement is alone.
class proxy_process {
public:
    proxy_process(const words& proxy, const words& server, const placement& cores, std::uint16_t port = 0);
    ~proxy_process();
    proxy_process(const proxy_process&) = delete;
    proxy_process& operator=(const proxy_process&) = delete;

    [[nodiscard]] server_process& process() noexcept { return process_; }
    /// The proxy and all that it started, but for the servers.
    [[nodiscard]] std::vector<pid_t> own_processes() const;
    [[nodiscard]] std::vector<pid_t> servers() const;
    /// The resident sets of its own, in bytes.
    [[nodiscard]] std::int64_t memory() const;

private:
    std::string server_;
    server_process process_;
};

/// Once, before the first: what a proxy leaves behind becomes ours.
void adopt_orphans();

}  // namespace andon::bench
