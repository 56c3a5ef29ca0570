// The client's side of Streamable HTTP to a server under measurement, on bare sockets: light enough that the server is
// the limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http_response.hpp"
#include "server_errors.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// A connection with at most one request on it at a time.
struct http_connection {
    int fd = -1;
    http_response response;
    std::string_view unwritten;
    bool waits_for_answer = false;
    bool waits_for_room = false;
    /// Its response has no end: what has come of it is told as it comes.
    bool streams = false;
    /// For whoever opened it.
    std::size_t tag = 0;
};

/// All of the same width: one can take the place of another in a request.
inline constexpr std::int64_t first_http_id = 100'000'000;

/// Nothing here waits without a limit: what takes too long throws, and says what it was.
class http_client {
public:
    /// Waits until the server says where it listens: a line on stderr with `http://127.0.0.1:PORT/`.
    http_client(server_process& server, waiting how);
    /// For one that says nothing: waits until somebody listens there.
    http_client(server_process& server, waiting how, std::uint16_t port);
    ~http_client();
    http_client(const http_client&) = delete;
    http_client& operator=(const http_client&) = delete;

    /// Finds out whether the server speaks 2026-07-28, and opens a session in a legacy revision if it does not.
    void introduce();
    /// A session in a legacy revision, for all that follows.
    void open_session();
    [[nodiscard]] bool modern() const { return session_headers_.empty(); }

    // Whole requests, in the revision that the server speaks.
    [[nodiscard]] std::string echo(std::int64_t id) const;
    [[nodiscard]] std::string park(std::int64_t id) const;
    /// For a legacy session alone.
    [[nodiscard]] std::string cancel(std::int64_t id) const;
    [[nodiscard]] std::string post(std::string_view headers, std::string_view body) const;
    [[nodiscard]] std::string get(std::string_view path) const;
    /// Requests as of a legacy revision, in no session that a header names.
    void speak_legacy() { session_headers_ = "MCP-Protocol-Version: 2025-11-25\r\n"; }
    /// In place of /mcp.
    void post_to(std::string_view path) { path_ = path; }

    /// Begins to connect. The connection is ours, and may be another's once it is closed.
    http_connection& open();
    void close(http_connection& which);
    /// Puts a request on its way and returns without waiting. Its bytes stay where they are until they are written.
    void send(http_connection& on, std::string_view request);

    /// A response is there, whole.
    void on_response(std::function<void(http_connection&)> call) { response_ = std::move(call); }
    /// The server closed or refused a connection that waits for an answer. Without this it is a failure.
    void on_lost(std::function<void(http_connection&)> call) { lost_ = std::move(call); }
    /// There is more of a response that has no end.
    void on_stream(std::function<void(http_connection&)> call) { stream_ = std::move(call); }
    void on_mark(std::function<void(const mark&)> call) { errors_.on_mark(std::move(call)); }

    /// From now on.
    void wait(waiting how) { how_ = how; }
    /// Reads and writes what can be at the moment.
    void step();
    /// Reads and writes until `done()`; throws, naming `what`, when that takes longer than `seconds`.
    void wait_for(const std::string& what, double seconds, const std::function<bool()>& done);
    /// Sends a request on a connection of its own and waits for the response.
    http_response exchange(const std::string& what, const std::string& request);
    [[noreturn]] void fail(const std::string& what) { errors_.fail(what); }

private:
    http_client(server_process& server, waiting how, std::nullptr_t);
    [[nodiscard]] std::string call(std::string_view tool, const std::string& body) const;
    void listen_for(http_connection& on, std::uint32_t events, int operation) const;
    void write_some(http_connection& on);
    void read_some(http_connection& from);
    void lose(http_connection& which);

    waiting how_;
    server_errors errors_;
    int epoll_;
    std::uint16_t port_ = 0;
    std::string path_ = "/mcp";
    std::string session_headers_;
    std::vector<char> buffer_;
    std::vector<std::unique_ptr<http_connection>> connections_;
    std::vector<http_connection*> closed_;
    std::function<void(http_connection&)> response_;
    std::function<void(http_connection&)> lost_;
    std::function<void(http_connection&)> stream_;
};

}  // namespace andon::bench
