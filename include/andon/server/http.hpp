// How a server is reached over Streamable HTTP, and what it allows there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "andon/core/time.hpp"
#include "andon/server/authorization.hpp"

namespace andon {

struct http_limits {
    std::size_t head = std::size_t{16} << 10U;           ///< bytes of a request's headers
    std::size_t body = std::size_t{16} << 20U;           ///< bytes of a message
    std::size_t connections = 65'536;                    ///< at once; those above it are closed at once
    std::size_t per_client = 16'384;                     ///< requests and streams at once, of one principal or address
    std::size_t sessions = 16'384;                       ///< up to 2025-11-25
    std::size_t waiting_soft = std::size_t{256} << 10U;  ///< bytes a slow reader may leave unread: progress is lost
    std::size_t waiting_hard = std::size_t{4} << 20U;    ///< and then its connection
    std::size_t kept = std::size_t{256} << 10U;          ///< bytes of a stream for a client that was cut off, as many
                                                         ///< of what it was not sent, and the last event
    std::size_t kept_streams = 64;                       ///< of one session, ended ones included
    std::size_t kept_by_all = std::size_t{64} << 20U;    ///< bytes of all sessions: above it the oldest are forgotten
    duration receive_within = std::chrono::seconds(30);  ///< a request, from its first byte to its last
    duration idle_connection = std::chrono::minutes(2);
    duration idle_session = std::chrono::minutes(30);
    duration stalled = std::chrono::seconds(30);  ///< a client that reads nothing, or does not acknowledge
};

struct http_options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: any that is free; listen_http() says which
    std::string path = "/mcp";

    /// Names under which the server is reached, for the check of Host, without ports. Loopback names always are; `*` is
    /// any. A server that listens on another address than loopback must name them.
    std::vector<std::string> hosts{};
    /// Web pages that may call, as `https://app.example`; those of loopback may. `*` is any.
    std::vector<std::string> origins{};

    std::string certificate{};  ///< files in PEM form; with them the server speaks TLS
    std::string private_key{};

    /// Who is calling: with it every request needs a bearer token. Runs on the loop's thread: it must not block.
    token_verifier verify{};
    /// For the metadata document that tells clients where to get a token (RFC 9728).
    std::string resource{};  ///< this server's own URL; empty: made from the request's Host
    std::vector<std::string> authorization_servers{};
    std::vector<std::string> scopes{};

    bool sessions = true;    ///< up to 2025-11-25; false: every request stands alone
    bool resumable = true;   ///< with sessions: streams that were cut off can be picked up again
    bool json_only = false;  ///< never answers in events: progress and log messages are lost
    /// How often a client that waits hears of us: it keeps proxies from hanging up, and finds clients that vanished.
    duration comment_every = std::chrono::seconds(15);
    /// Up to 2025-11-25 a client's disconnect is no cancel. One that is not back after this time is gone for good, and
    /// the call is cancelled; unset: never.
    std::optional<duration> abandon_after = std::chrono::minutes(5);
    http_limits limits{};
};

}  // namespace andon
