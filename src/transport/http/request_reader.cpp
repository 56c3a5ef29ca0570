#include "transport/http/request_reader.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "andon/wire/line_splitter.hpp"
#include "transport/http/end_of_head.hpp"

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
    explicit parser(const http_request_limits& given) : limits(given) {
        header_limit(static_cast<std::uint32_t>(limits.head));
        body_limit(limits.body);
        eager(true);
    }

    http_request request;
    http_request_limits limits;
    std::size_t searched = 0;  // of the head, for its end
    std::size_t trailers = 0;  // bytes of them
    std::uint64_t chunk_left = 0;
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
        constexpr std::size_t usual_headers = 12;
        request.headers.reserve(usual_headers);
        request.chunks = version >= 11;
    }
    void on_response_impl(int, string_view, int, error_code& failed) override { failed = {}; }
    void on_field_impl(http::field, string_view name, string_view value, error_code& failed) override {
        failed = {};
        if (head_over) {  // a trailer: nobody has looked at it who looked at the headers
            trailers += name.size() + value.size();
            if (trailers > limits.head) failed = http::error::header_limit;
            return;
        }
        std::string key = lower(name);
        if (decides(key) && request.header(key)) ambiguous = true;
        if (key == "expect") wants_continue = request.chunks && lower(value) == "100-continue";
        request.headers.emplace_back(std::move(key), text(value));
    }
    void on_header_impl(error_code& failed) override {
        failed = {};
        head_over = true;
        const auto encoding = request.header("transfer-encoding");
        if (encoding && request.header("content-length")) ambiguous = true;
        // Beast sees no body where it does not know the encoding, and what is in it would be the next request.
        if (encoding && lower({encoding->data(), encoding->size()}) != "chunked") ambiguous = true;
        // It takes a list of equal lengths for one of them.
        const auto length = request.header("content-length");
        if (length && length->find(',') != std::string_view::npos) ambiguous = true;
        if (ambiguous) failed = http::error::bad_field;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& failed) override {
        failed = {};
        // Only so much on the client's word: the rest when it comes.
        constexpr std::size_t at_first = std::size_t{64} << 10U;
        if (length) {
            request.body.reserve(std::min(static_cast<std::size_t>(*length), at_first) + line_splitter::padding);
        }
    }
    std::size_t on_body_impl(string_view piece, error_code& failed) override {
        failed = {};
        request.body.append(piece.data(), piece.size());
        return piece.size();
    }
    void on_chunk_header_impl(std::uint64_t size, string_view extension, error_code& failed) override {
        failed = {};
        chunk_left = size;
        if (extension.size() > limits.head) failed = http::error::header_limit;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, string_view piece, error_code& failed) override {
        chunk_left -= piece.size();
        return on_body_impl(piece, failed);
    }
    void on_finish_impl(error_code& failed) override { failed = {}; }
};

request_reader::request_reader(const http_request_limits& limits) : parser_(std::make_unique<parser>(limits)) {}
request_reader::~request_reader() = default;

/// The head goes to Beast in one piece. In several it would take line by line, limit each instead of all of them, and
/// say what is wrong sooner or later depending on the pieces.
request_reader::fed request_reader::feed_head(std::string_view bytes) {
    // Whoever tries TLS, say, need not wait to be told.
    if (!bytes.empty() && (bytes.front() < 'A' || bytes.front() > 'z')) return failed(400, "not an HTTP request");
    const std::string_view window = bytes.substr(0, parser_->limits.head);
    const std::size_t from = parser_->searched - std::min(parser_->searched, end_of_head.size() - 1);
    const std::size_t end = window.find(end_of_head, from);
    parser_->searched = window.size();
    if (end == std::string_view::npos) {
        if (window.size() == parser_->limits.head) return failed(431, "the headers are too large");
        return {0, progress::more};
    }
    const std::string_view head = bytes.substr(0, end + end_of_head.size());
    error_code wrong;
    if (has_folded_line(head)) parser_->ambiguous = true;  // it would make one line of them
    static_cast<void>(parser_->put(boost::asio::buffer(head.data(), head.size()), wrong));
    if (wrong || parser_->ambiguous) return failed(wrong);
    return {head.size(), parser_->is_done() ? progress::done : progress::more};
}

request_reader::fed request_reader::feed(std::string_view bytes) {
    std::size_t used = 0;
    if (!parser_->is_header_done()) {
        // An empty line in front: old clients end a body with one.
        if (parser_->searched == 0 && bytes == "\r") return {0, progress::more};
        if (parser_->searched == 0 && bytes.starts_with("\r\n")) used = 2;
        const fed head = feed_head(bytes.substr(used));
        used += head.used;
        if (head.what != progress::more || head.used == 0) return {used, head.what};
    }
    while (!parser_->is_done()) {
        // An assertion of Beast's wants to see that much; more comes in any case.
        const std::string_view rest = bytes.substr(used);
        if (parser_->chunked() && parser_->chunk_left == 0 && rest.size() < 5) return {used, progress::more};
        error_code wrong;
        const std::size_t took = parser_->put(boost::asio::buffer(rest.data(), rest.size()), wrong);
        used += took;
        if (wrong == http::error::need_more || (!wrong && took == 0)) {
            // Only of what stands between chunks does anything stay behind.
            if (bytes.size() - used > parser_->limits.head) return failed(431, "the headers of a chunk are too large");
            return {used, progress::more};
        }
        if (wrong) return failed(wrong);
    }
    return {used, progress::done};
}

request_reader::fed request_reader::failed(const boost::system::error_code& wrong) {
    if (wrong == http::error::body_limit) {
        return failed(413, "the body is larger than " + std::to_string(parser_->limits.body) + " bytes");
    }
    if (wrong == http::error::header_limit) return failed(431, "the headers are too large");
    if (parser_->ambiguous) return failed(400, "the headers can be understood in two ways");
    return failed(400, "not an HTTP request: " + wrong.message());
}

request_reader::fed request_reader::failed(int status, std::string why) {
    parser_->status = status;
    parser_->fault = std::move(why);
    return {0, progress::failed};
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
