// Accepts connections, and keeps them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "andon/server/http.hpp"
#include "process/descriptor.hpp"
#include "transport/event_loop.hpp"
#include "transport/http/http_connection.hpp"

namespace andon::detail {

/// All but open() on the loop's thread.
class http_listener {
public:
    http_listener(event_loop& loop, const http_options& options, http_connection::owner& told);

    /// Binds, on any thread, before start(). The port. Throws where that cannot be done.
    std::uint16_t open();
    void start();
    /// A connection that was accepted, here or elsewhere.
    void take(int socket, std::string address);
    /// No further connection is accepted.
    void stop_accepting();
    void forget(const http_connection& gone) { connections_.erase(&gone); }
    [[nodiscard]] std::size_t size() const noexcept { return connections_.size(); }
    /// Those that are open now; each may close meanwhile.
    void for_each(const std::function<void(http_connection&)>& f) const;

private:
    void accept_later();
    void accept();

    event_loop* loop_;
    const http_options* options_;
    http_connection::owner* owner_;
    http_connection_limits limits_;
    std::shared_ptr<tls_context> tls_;
    descriptor socket_;
    std::unique_ptr<event_loop::watch> watch_;
    event_loop::timer again_;
    std::unordered_map<const http_connection*, std::shared_ptr<http_connection>> connections_;
};

}  // namespace andon::detail
