#include "server/http_client.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>

#include "process/process_watch.hpp"

namespace andon {
namespace {

using detail::byte_stream;

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
}

detail::descriptor connected(std::uint16_t port, const http_socket_options& options) {
    // A server that is gone is an error of write() here, and not the end of the tests.
    static const auto ignored [[maybe_unused]] = ::signal(SIGPIPE, SIG_IGN);
    detail::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (options.receive_buffer > 0) {
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof options.receive_buffer);
    }
    const int at_once = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr);
    if (!options.from.empty()) {
        sockaddr_in own{};
        own.sin_family = AF_INET;
        ::inet_pton(AF_INET, options.from.c_str(), &own.sin_addr);
        if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
            throw std::system_error(errno, std::generic_category(), "bind");
        }
    }
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw std::system_error(errno, std::generic_category(), "connect");
    }
    return socket;
}

}  // namespace

std::string http_message(std::string_view method, const http_headers& headers, std::string_view body,
                         std::string_view target) {
    std::string out = std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\n";
    bool host = false;
    for (const auto& [name, value] : headers) {
        host = host || lower(name) == "host";
        ((out += name) += ": ") += value + "\r\n";
    }
    if (!host) out += "Host: localhost\r\n";
    if (!body.empty()) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return (out += "\r\n") += body;
}

std::optional<std::string> http_answer::header(std::string_view name) const {
    for (const auto& [each, value] : headers) {
        if (each == name) return value;
    }
    return std::nullopt;
}

std::string http_answer::type() const {
    const std::string whole = header("content-type").value_or("");
    return trimmed(whole.substr(0, whole.find(';')));
}

json::object http_event::message() const { return json::parse(data).as_object(); }

http_client::http_client(std::uint16_t port, const http_socket_options& options)
    : stream_(connected(port, options),
              options.trusted.empty() ? nullptr : detail::tls_context::client(options.trusted), false, "localhost") {}

std::string http_client::heard() const {
    constexpr std::size_t most = 3'000;
    return all_.size() <= most ? all_ : "..." + all_.substr(all_.size() - most);
}

// Out.

void http_client::write(std::string_view bytes) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!bytes.empty() || stream_.wants_write()) {
        const auto wrote = bytes.empty() ? stream_.flush() : stream_.write(bytes);
        bytes.remove_prefix(bytes.empty() ? 0 : wrote.bytes);
        if (wrote.what == byte_stream::status::failed || wrote.what == byte_stream::status::closed) {
            throw std::runtime_error("cannot write: " + std::string(stream_.error()));
        }
        if (wrote.what != byte_stream::status::would_block) continue;
        if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("the server does not read");
        pollfd ready{stream_.fd(), static_cast<short>(POLLIN | (stream_.wants_write() ? POLLOUT : 0)), 0};
        ::poll(&ready, 1, 1'000);
        if ((ready.revents & POLLIN) != 0) read_now();  // a handshake
    }
}

void http_client::write_in_pieces(std::string_view bytes, std::size_t size) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) write(bytes.substr(0, size));
}

void http_client::reset() {
    const linger at_once{1, 0};
    ::setsockopt(stream_.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    stream_.close();
}

// In.

http_client::arrived http_client::read_now() {
    if (state_ == arrived::end || state_ == arrived::broken) return state_;
    std::array<char, 65'536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    const auto got = stream_.read(bytes);
    switch (got.what) {
        case byte_stream::status::ok:
            input_.append(bytes.data(), got.bytes);
            all_.append(bytes.data(), got.bytes);
            return arrived::something;
        case byte_stream::status::would_block: return arrived::nothing;
        case byte_stream::status::closed: return state_ = arrived::end;
        case byte_stream::status::failed: break;
    }
    return state_ = arrived::broken;
}

bool http_client::read_more() {
    const auto limit = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const arrived what = read_now();
        if (what == arrived::something) return true;
        if (what != arrived::nothing) return false;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
        if (left.count() <= 0) throw std::runtime_error("the server says nothing more; heard:\n" + heard());
        pollfd ready{stream_.fd(), POLLIN, 0};
        ::poll(&ready, 1, static_cast<int>(left.count()));
    }
}

void http_client::wait_for(const std::function<bool()>& done, std::string_view what) {
    while (!done()) {
        if (read_more()) continue;
        throw std::runtime_error("the connection " +
                                 std::string(state_ == arrived::end ? "was closed" : "was broken off") +
                                 " instead of " + std::string(what) + "; heard:\n" + heard());
    }
}

std::string http_client::line(std::string_view what) {
    std::size_t end = std::string::npos;
    wait_for([&] { return (end = input_.find("\r\n")) != std::string::npos; }, what);
    std::string found = input_.substr(0, end);
    input_.erase(0, end + 2);
    return found;
}

http_answer http_client::head() {
    if (framing_ != framing::none) throw std::logic_error("the answer before was not read to its end");
    body_.clear();
    http_answer answer;
    const std::string first = line("an answer");
    if (first.substr(0, 9) != "HTTP/1.1 ") throw std::runtime_error("not an answer: " + first);
    answer.status = std::stoi(first.substr(9, 3));
    for (std::string next = line("a header"); !next.empty(); next = line("a header")) {
        const std::size_t colon = next.find(':');
        if (colon == std::string::npos) throw std::runtime_error("not a header: " + next);
        answer.headers.emplace_back(lower(next.substr(0, colon)), trimmed(next.substr(colon + 1)));
    }
    if (answer.status / 100 == 1 || answer.status == 204) return answer;
    if (answer.header("transfer-encoding") == "chunked") {
        framing_ = framing::chunks;
        left_ = 0;
    } else if (const auto length = answer.header("content-length")) {
        left_ = std::stoul(*length);
        framing_ = left_ == 0 ? framing::none : framing::length;
    } else {
        framing_ = framing::until_close;
    }
    return answer;
}

bool http_client::more_body() {
    if (framing_ == framing::none) return false;
    if (framing_ == framing::until_close) {
        if (input_.empty() && !read_more()) {
            framing_ = framing::none;
            return false;
        }
        body_ += std::exchange(input_, {});
        return true;
    }
    if (framing_ == framing::chunks && left_ == 0) {
        left_ = std::stoul(line("a chunk"), nullptr, 16);
        if (left_ == 0) {
            if (!line("the end of the chunks").empty()) throw std::runtime_error("a trailer; heard:\n" + heard());
            framing_ = framing::none;
            return false;
        }
    }
    wait_for([&] { return !input_.empty(); }, "the rest of the body");
    const std::size_t size = std::min(left_, input_.size());
    body_.append(input_, 0, size);
    input_.erase(0, size);
    left_ -= size;
    if (left_ == 0 && framing_ == framing::length) framing_ = framing::none;
    if (left_ == 0 && framing_ == framing::chunks && !line("the end of a chunk").empty()) {
        throw std::runtime_error("a chunk is longer than it says; heard:\n" + heard());
    }
    return true;
}

std::string http_client::body() {
    while (more_body()) {
    }
    return std::exchange(body_, {});
}

json::object http_client::json_body() { return json::parse(body()).as_object(); }

std::optional<http_event> http_client::event() {
    for (;;) {
        std::size_t end = 0;
        while ((end = body_.find("\n\n")) == std::string::npos) {
            if (more_body()) continue;
            if (!body_.empty()) throw std::runtime_error("half an event: " + body_);
            return std::nullopt;
        }
        const std::string block = body_.substr(0, end + 1);
        body_.erase(0, end + 2);
        http_event found;
        bool anything = false;
        std::size_t begin = 0;
        for (std::size_t stop = 0; (stop = block.find('\n', begin)) != std::string::npos; begin = stop + 1) {
            const std::string field = block.substr(begin, stop - begin);
            const std::size_t colon = std::min(field.find(':'), field.size());
            const std::string name = field.substr(0, colon);
            std::string value = field.substr(std::min(colon + 1, field.size()));
            if (value.substr(0, 1) == " ") value.erase(0, 1);
            if (name.empty()) {
                ++comments_;
                continue;
            }
            anything = true;
            if (name == "id") found.id = value;
            if (name == "retry") found.retry = std::stol(value);
            if (name == "data") found.data += (found.data.empty() ? "" : "\n") + value;
        }
        if (anything) return found;
    }
}

std::string http_client::rest() {
    while (read_more()) {
    }
    return std::exchange(input_, {});
}

bool http_client::closed() {
    if (const std::string more = rest(); !more.empty()) {
        throw std::runtime_error("more came before the end: " + more);
    }
    return state_ == arrived::end;
}

bool http_client::quiet() {
    while (read_now() == arrived::something) {
    }
    return input_.empty() && body_.empty() && state_ == arrived::nothing;
}

}  // namespace andon
