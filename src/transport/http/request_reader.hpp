// HTTP requests out of bytes.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace andon::detail {

struct http_request {
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;  // readable for line_splitter::padding bytes behind its end
    bool keep_alive = true;
    bool chunks = true;  // the client understands a chunked answer: HTTP/1.1

    /// Nothing: it is not there. Twice the same name is refused by the reader for every header that decides something.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
};

struct http_request_limits {
    std::size_t head = std::size_t{16} << 10U;  ///< bytes of the request line and the headers
    std::size_t body = std::size_t{16} << 20U;
};

/// Beast's parser, fed with bytes at any split, without its I/O. What two readers could understand in two ways is
/// refused: a length and chunks together, a header that decides something twice, a folded line.
class request_reader {
public:
    explicit request_reader(const http_request_limits& limits);
    request_reader(const request_reader&) = delete;
    request_reader& operator=(const request_reader&) = delete;
    ~request_reader();

    enum class progress : std::uint8_t { more, done, failed };
    /// How many of the bytes were used; the others are to come again, with more behind them.
    struct fed {
        std::size_t used;
        progress what;
    };
    [[nodiscard]] fed feed(std::string_view bytes);
    /// Once done.
    [[nodiscard]] http_request take();

    /// The client waits to be told before it sends the body. Once.
    [[nodiscard]] bool wants_continue();
    /// Once failed: the status to answer with, and why.
    [[nodiscard]] int fault_status() const noexcept;
    [[nodiscard]] const std::string& fault() const noexcept;

private:
    class parser;

    [[nodiscard]] fed feed_head(std::string_view bytes);
    [[nodiscard]] fed failed(const boost::system::error_code& wrong);
    [[nodiscard]] fed failed(int status, std::string why);

    std::unique_ptr<parser> parser_;
};

}  // namespace andon::detail
