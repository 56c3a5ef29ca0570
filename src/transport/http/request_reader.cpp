#include "transport/http/request_reader.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "andon/wire/line_splitter.hpp"

namespace andon::detail {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

std::string text(string_view from) { return {from.data(), from.size()}; }

std::string lower(string_view from) {
    std::string out = text(from);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// What is acted upon. Twice the same of these, and two readers may see two requests.
bool decides(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 9> names{"host",           "origin", "authorization",     "content-type",
                                                    "content-length", "accept", "transfer-encoding", "last-event-id",
                                                    "expect"};
    return name.substr(0, 4) == "mcp-" || std::find(names.begin(), names.end(), name) != names.end();
}

bool has_folded_line(std::string_view head) noexcept {
    head = head.substr(0, head.find("\r\n\r\n"));
    return head.find("\r\n ") != std::string_view::npos || head.find("\r\n\t") != std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> http_request::header(std::string_view name) const noexcept {
    for (const auto& [each, value] : headers) {
        if (each == name) return value;
    }
    return std::nullopt;
}

class request_reader::parser final : public http::basic_parser<true> {
public:
    explicit parser(const http_request_limits& limits) : head_limit_bytes(limits.head), body_limit_bytes(limits.body) {
        header_limit(static_cast<std::uint32_t>(limits.head));
        body_limit(limits.body);
        eager(true);
    }

    http_request request;
    std::size_t head_limit_bytes;
    std::size_t body_limit_bytes;
    bool wants_continue = false;
    bool ambiguous = false;
    bool head_over = false;
    int status = 400;
    std::string fault;

private:
    void on_request_impl(http::verb, string_view method, string_view target, int version, error_code& failed) override {
        failed = {};
        request.method = text(method);
        request.target = text(target);
        request.chunks = version >= 11;
    }
    void on_response_impl(int, string_view, int, error_code& failed) override { failed = {}; }
    void on_field_impl(http::field, string_view name, string_view value, error_code& failed) override {
        failed = {};
        if (head_over) return;  // a trailer: nobody has looked at it who looked at the headers
        std::string key = lower(name);
        if (decides(key) && request.header(key)) ambiguous = true;
        if (key == "expect") wants_continue = lower(value) == "100-continue";
        request.headers.emplace_back(std::move(key), text(value));
    }
    void on_header_impl(error_code& failed) override {
        failed = {};
        head_over = true;
        const auto encoding = request.header("transfer-encoding");
        if (encoding && request.header("content-length")) ambiguous = true;
        // Beast sees no body where it does not know the encoding, and what is in it would be the next request.
        if (encoding && lower({encoding->data(), encoding->size()}) != "chunked") ambiguous = true;
        if (ambiguous) failed = http::error::bad_field;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& failed) override {
        failed = {};
        // Only so much on the client's word: the rest when it comes.
        constexpr std::size_t at_first = std::size_t{64} << 10U;
        if (length)
            request.body.reserve(std::min(static_cast<std::size_t>(*length), at_first) + line_splitter::padding);
    }
    std::size_t on_body_impl(string_view piece, error_code& failed) override {
        failed = {};
        request.body.append(piece.data(), piece.size());
        return piece.size();
    }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code& failed) override { failed = {}; }
    std::size_t on_chunk_body_impl(std::uint64_t, string_view piece, error_code& failed) override {
        return on_body_impl(piece, failed);
    }
    void on_finish_impl(error_code& failed) override { failed = {}; }
};

request_reader::request_reader(const http_request_limits& limits) : parser_(std::make_unique<parser>(limits)) {}
request_reader::~request_reader() = default;

request_reader::fed request_reader::feed(std::string_view bytes) {
    std::size_t used = 0;
    while (!parser_->is_done()) {
        error_code failed;
        const bool in_head = !parser_->is_header_done();
        const std::size_t took = parser_->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), failed);
        // It takes a head in one piece, and makes one line of a folded one.
        if (in_head && parser_->head_over && has_folded_line(bytes.substr(used, took))) {
            parser_->ambiguous = true;
            failed = http::error::bad_field;
        }
        used += took;
        if (failed == http::error::need_more || (!failed && took == 0)) {
            // Beast bounds the headers. The line before a chunk and the trailer behind the last have no end of their
            // own.
            if (bytes.size() - used <= parser_->head_limit_bytes) return {used, progress::more};
            failed = http::error::header_limit;
        }
        if (!failed) continue;
        if (failed == http::error::body_limit) {
            parser_->status = 413;
            parser_->fault = "the body is larger than " + std::to_string(parser_->body_limit_bytes) + " bytes";
        } else if (failed == http::error::header_limit) {
            parser_->status = 431;
            parser_->fault = "the headers are too large";
        } else if (parser_->ambiguous) {
            parser_->fault = "the headers can be understood in two ways";
        } else {
            parser_->fault = "not an HTTP request: " + failed.message();
        }
        return {used, progress::failed};
    }
    return {used, progress::done};
}

http_request request_reader::take() {
    http_request request = std::move(parser_->request);
    request.keep_alive = parser_->keep_alive();
    request.body.reserve(request.body.size() + line_splitter::padding);
    return request;
}

bool request_reader::wants_continue() {
    return parser_->is_header_done() && !parser_->is_done() && std::exchange(parser_->wants_continue, false);
}

int request_reader::fault_status() const noexcept { return parser_->status; }
const std::string& request_reader::fault() const noexcept { return parser_->fault; }

}  // namespace andon::detail
