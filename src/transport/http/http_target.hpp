// A server behind a URL, as everybody who talks to it has to know it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/time.hpp"
#include "transport/http/endpoint.hpp"
#include "transport/http/tls_context.hpp"

namespace andon::detail {

/// Made once, where somebody can wait: the trusted certificates are read, and the host is looked up. Afterwards any
/// number of transports share it, and nothing waits any more, so that a loop that serves others can begin a session.
///
/// Addresses change. Unless they are good for ever they are looked up again by a thread that lives for that alone: when
/// they are used and too old, and when none of them takes a connection. Until then, and if the host is not found any
/// more, those that are known are used. The thread shares nothing with us but the addresses, and nobody waits for it: a
/// resolver may take its half minute while the program leaves.
///
/// All of it from any thread.
class http_target {
public:
    using addresses_t = std::vector<endpoint::address>;
    static constexpr duration usually_good_for = std::chrono::minutes(1);

    /// Throws std::invalid_argument where the URL cannot be used, std::runtime_error where the certificates cannot.
    /// That the host is not known is said by addresses().
    http_target(std::string_view url, const std::string& ca_file, std::optional<duration> good_for = std::nullopt);

    /// Its addresses are not there.
    [[nodiscard]] const endpoint& where() const noexcept { return where_; }
    /// Null: without TLS.
    [[nodiscard]] const std::shared_ptr<tls_context>& tls() const noexcept { return tls_; }
    /// At least one. Throws std::runtime_error where the host was not found.
    [[nodiscard]] std::shared_ptr<const addresses_t> addresses() const;
    /// None of them took a connection.
    void unreachable() const;

private:
    struct known;

    void renew(duration if_older_than) const;

    endpoint where_;
    std::shared_ptr<tls_context> tls_;
    std::shared_ptr<known> known_;
    std::optional<duration> good_for_;  // nothing: for ever
};

}  // namespace andon::detail
