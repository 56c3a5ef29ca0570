// A server over HTTP in the test's own process, where its table can be looked at.
#pragma once

#include <memory>
#include <utility>

#include "server/http_caller.hpp"
#include "server/served.hpp"

namespace andon {

class http_listening {
public:
    explicit http_listening(server_options options = quiet_server())
        : server_(std::make_unique<server>(std::move(options))) {
        server_->tool("echo", "",
                      [](const json::object& given, call&) { return std::string(given.at("text").as_string()); });
    }

    [[nodiscard]] server& operator*() noexcept { return *server_; }
    [[nodiscard]] server* operator->() noexcept { return server_.get(); }
    void listen(http_options options = {}) { port_ = server_->listen_http(std::move(options)); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// A client that has shaken hands.
    [[nodiscard]] http_caller caller(revision speaks, http_caller_options how = {}) const {
        http_caller made(port_, speaks, std::move(how));
        made.open();
        return made;
    }
    /// Nothing is in flight any more.
    [[nodiscard]] bool empties() {
        return eventually([this] { return server_->requests().size() == 0; });
    }
    void destroy() { server_.reset(); }

private:
    std::unique_ptr<server> server_;
    std::uint16_t port_ = 0;
};

}  // namespace andon
