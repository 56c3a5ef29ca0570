#include "http_response.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace andon::bench {
namespace {

constexpr std::string_view line_end = "\r\n";

bool same_name(std::string_view name, std::string_view lower) {
    return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

bool read_size(std::string_view digits, int base, std::size_t& size) {
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, size, base);
    return error == std::errc{} && stopped == end && size < (std::size_t{1} << 30U);
}

}  // namespace

http_response::state http_response::take(std::string_view bytes) {
    received_.append(bytes);
    if (framing_ == framing::head) {
        const auto end = received_.find("\r\n\r\n", at_);
        if (end == std::string::npos) {
            at_ = received_.size() < 3 ? 0 : received_.size() - 3;
            return state::incomplete;
        }
        at_ = end + 2;  // a line end closes the last header
        if (!take_head()) return state::broken;
        at_ = end + 4;
    }
    if (framing_ == framing::chunked) return take_chunks();
    if (framing_ == framing::until_close) return state::incomplete;
    if (received_.size() < at_ + length_) return state::incomplete;
    return received_.size() == at_ + length_ ? state::complete : state::broken;
}

http_response::state http_response::take_end() {
    return framing_ == framing::until_close ? state::complete : state::broken;
}

void http_response::clear() {
    received_.clear();
    unchunked_.clear();
    session_id_.clear();
    at_ = 0;
    framing_ = framing::head;
    status_ = 0;
    length_ = 0;
}

std::string_view http_response::body() const {
    if (framing_ == framing::chunked) return unchunked_;
    return std::string_view(received_).substr(at_);
}

std::string http_response::drain() {
    received_.erase(0, at_);
    at_ = 0;
    return std::exchange(unchunked_, {});
}

// The head is what lies before at_, each of its lines with its end.
bool http_response::take_head() {
    auto rest = std::string_view(received_).substr(0, at_);
    std::size_t status = 0;
    // "HTTP/1.1 200 OK"
    if (!rest.starts_with("HTTP/1.1 ") || rest.size() < 12 || !read_size(rest.substr(9, 3), 10, status)) return false;
    status_ = static_cast<int>(status);
    framing_ = status == 204 || status == 304 ? framing::length : framing::until_close;
    for (rest.remove_prefix(rest.find(line_end) + 2); !rest.empty();) {
        const auto end = rest.find(line_end);
        const auto line = rest.substr(0, end);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) return false;
        auto value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        if (!take_header(line.substr(0, colon), value)) return false;
        rest.remove_prefix(end + 2);
    }
    return true;
}

bool http_response::take_header(std::string_view name, std::string_view value) {
    if (same_name(name, "content-length")) {
        framing_ = framing::length;
        return read_size(value, 10, length_);
    }
    if (same_name(name, "transfer-encoding")) {
        framing_ = framing::chunked;
        return value == "chunked";
    }
    if (same_name(name, "mcp-session-id")) session_id_ = value;
    return true;
}

// SIZE CRLF that many bytes CRLF, again and again; the last has the size 0. Trailers are not expected.
http_response::state http_response::take_chunks() {
    const auto all = std::string_view(received_);
    for (;;) {
        const auto end = all.find(line_end, at_);
        if (end == std::string_view::npos) return state::incomplete;
        const auto digits = all.substr(at_, std::min(all.find(';', at_), end) - at_);
        std::size_t size = 0;
        if (!read_size(digits, 16, size)) return state::broken;
        const auto begin = end + 2;
        if (all.size() < begin + size + 2) return state::incomplete;
        if (all.substr(begin + size, 2) != line_end) return state::broken;
        unchunked_.append(all.substr(begin, size));
        at_ = begin + size + 2;
        if (size == 0) return at_ == all.size() ? state::complete : state::broken;
    }
}

}  // namespace andon::bench
