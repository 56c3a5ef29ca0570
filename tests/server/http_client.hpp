// A client of HTTP/1.1 for tests: one connection, every byte in the test's hand.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/http/byte_stream.hpp"

namespace andon {

namespace json = boost::json;

using http_headers = std::vector<std::pair<std::string, std::string>>;

/// A whole request, with its Content-Length where it has a body. Host is added where the headers have none.
[[nodiscard]] std::string http_message(std::string_view method, const http_headers& headers, std::string_view body = {},
                                       std::string_view target = "/mcp");

/// The head of an answer.
struct http_answer {
    int status = 0;
    http_headers headers{};  ///< names in lower case

    [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
    /// The media type, without its parameters.
    [[nodiscard]] std::string type() const;
    [[nodiscard]] bool in_events() const { return type() == "text/event-stream"; }
};

struct http_event {
    std::optional<std::string> id{};
    std::optional<long> retry{};  ///< milliseconds
    std::string data{};

    [[nodiscard]] json::object message() const;
};

struct http_socket_options {
    std::string trusted{};   ///< a file of certificates: the connection speaks TLS
    int receive_buffer = 0;  ///< bytes that the kernel holds for a client that does not read; 0: its own choice
    std::string address = "127.0.0.1";
    std::string from{};  ///< the client's own address; empty: the kernel's choice
};

/// Every wait is for an event, and ends the test with what was heard instead when that does not come.
class http_client {
public:
    explicit http_client(std::uint16_t port, const http_socket_options& options = {});
    /// On a connection that is there already.
    explicit http_client(detail::descriptor socket) : stream_(std::move(socket), nullptr, false) {}
    http_client(http_client&&) noexcept = default;
    http_client& operator=(http_client&&) noexcept = default;

    // What goes out.

    void write(std::string_view bytes);
    /// The same in pieces of so many bytes, each in a packet of its own.
    void write_in_pieces(std::string_view bytes, std::size_t size);
    /// Nothing more will be sent; reading goes on.
    void half_close() { stream_.shutdown_write(); }
    /// Gone, with a reset instead of an orderly end.
    void reset();
    void close() { stream_.close(); }

    // What comes in, in this order: the head, then what belongs to it.

    [[nodiscard]] http_answer head();
    /// The rest of the present answer, to its end.
    [[nodiscard]] std::string body();
    /// The same as JSON.
    [[nodiscard]] json::object json_body();
    /// The next event of the present answer. Nothing: the stream has ended as it should.
    [[nodiscard]] std::optional<http_event> event();
    /// Comments that went by between the events.
    [[nodiscard]] int comments() const noexcept { return comments_; }

    /// All that comes until the server closes.
    [[nodiscard]] std::string rest();
    /// Waits for the server to close, and throws if anything more comes. False: by a reset.
    bool closed();
    /// Whether the server has said nothing more, so far.
    [[nodiscard]] bool quiet();
    [[nodiscard]] int fd() const noexcept { return stream_.fd(); }

private:
    enum class framing : std::uint8_t { none, length, chunks, until_close };
    enum class arrived : std::uint8_t { something, nothing, end, broken };

    arrived read_now();
    /// False: it has ended, or was broken.
    bool read_more();
    void wait_for(const std::function<bool()>& done, std::string_view what);
    [[nodiscard]] std::string line(std::string_view what);
    /// Moves more of the body to `body_`. False: that was all.
    bool more_body();
    [[nodiscard]] std::string heard() const;

    detail::byte_stream stream_;
    std::string input_;  // of the connection, not looked at yet
    std::string body_;   // of the present answer, not given out yet
    std::string all_;    // ever heard, for the failure's words
    framing framing_ = framing::none;
    std::size_t left_ = 0;  // of the body or the chunk
    int comments_ = 0;
    arrived state_ = arrived::nothing;
};

}  // namespace andon
