#include "transport/http/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <stdexcept>

#include "andon/core/visible_text.hpp"

namespace andon::detail {
namespace {

[[noreturn]] void refuse(std::string_view url, const char* why) {
    throw std::invalid_argument("'" + visible_text(without_password(url), 256) +
                                "' is no address of an MCP server: " + why);
}

bool consume(std::string_view& text, std::string_view prefix) {
    const bool there = text.size() >= prefix.size() &&
                       std::equal(prefix.begin(), prefix.end(), text.begin(),
                                  [](char want, char is) { return (is >= 'A' && is <= 'Z' ? is + 32 : is) == want; });
    if (there) text.remove_prefix(prefix.size());
    return there;
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && port != 0;
}

}  // namespace

std::string without_password(std::string_view url) {
    std::string shown(url);
    const std::size_t scheme = shown.find("://");
    if (scheme == std::string::npos) return shown;
    const std::size_t begin = scheme + 3;
    const std::size_t end = std::min(shown.find_first_of("/?#", begin), shown.size());
    const std::size_t at = std::string_view(shown).substr(0, end).rfind('@');
    if (at != std::string::npos && at >= begin) shown.replace(begin, at - begin, "***");
    return shown;
}

endpoint endpoint::from_url(std::string_view url) {
    endpoint made;
    std::string_view rest = url;
    // Each of these would end up inside a header.
    const bool clean = std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (!clean) refuse(url, "it has characters that must be written as %XX");
    if (consume(rest, "https://")) {
        made.tls = true;
    } else if (!consume(rest, "http://")) {
        refuse(url, "it must begin with http:// or https://");
    }
    rest = rest.substr(0, rest.find('#'));
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view authority = rest.substr(0, end);
    made.target = rest.substr(end);
    if (made.target.empty() || made.target.front() != '/') made.target.insert(0, "/");

    if (authority.find('@') != std::string_view::npos) refuse(url, "give a token as an option, not in the URL");
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t bracket = authority.find(']');
        if (bracket == std::string_view::npos) refuse(url, "the bracket is not closed");
        made.host = authority.substr(1, bracket - 1);
        port = authority.substr(bracket + 1);
    } else {
        made.host = authority.substr(0, authority.find(':'));
        port = authority.substr(made.host.size());
    }
    if (made.host.empty()) refuse(url, "it names no host");
    if (port.empty()) {
        made.port = made.tls ? "443" : "80";
    } else {
        if (port.front() != ':' || !is_port(port.substr(1))) refuse(url, "the port is a number up to 65535");
        made.port = port.substr(1);
    }
    made.authority = authority;
    return made;
}

bool endpoint::is_address() const {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

void endpoint::resolve() {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | (is_address() ? AI_NUMERICHOST : 0);
    addrinfo* found = nullptr;
    const char* const name = host == "localhost" ? nullptr : host.c_str();  // null: this machine
    const int failed = ::getaddrinfo(name, port.c_str(), &wanted, &found);
    if (failed != 0) throw std::runtime_error("cannot find " + host + ": " + ::gai_strerror(failed));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
    addresses.clear();
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        address& one = addresses.emplace_back();
        one.size = each->ai_addrlen;
        std::memcpy(&one.bytes, each->ai_addr, each->ai_addrlen);
    }
    if (addresses.empty()) throw std::runtime_error("cannot find " + host + ": it has no address");
}

}  // namespace andon::detail
