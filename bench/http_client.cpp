#include "http_client.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "messages.hpp"

namespace andon::bench {
namespace {

constexpr std::string_view modern_headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ";

// 0 when the line does not say where a server listens.
std::uint16_t port_in(std::string_view line) {
    constexpr std::string_view before = "http://127.0.0.1:";
    const auto at = line.find(before);
    if (at == std::string_view::npos) return 0;
    const auto digits = line.substr(at + before.size());
    std::int64_t port = 0;
    if (!read_number(digits.substr(0, digits.find_first_not_of("0123456789")), port)) return 0;
    return port > 0 && port < 65536 ? static_cast<std::uint16_t>(port) : 0;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool is_echo(const http_response& answer) {
    return answer.status() == 200 && answer.body().find(echo_text) != std::string_view::npos &&
           answer.body().find("\"result\":") != std::string_view::npos;
}

}  // namespace

http_client::http_client(server_process& server, waiting how, std::nullptr_t)
    : how_(how), errors_(server), epoll_(::epoll_create1(EPOLL_CLOEXEC)), buffer_(std::size_t{1} << 16U) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (epoll_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, errors_.fd(), &event) != 0) fail("epoll");
}

http_client::http_client(server_process& server, waiting how) : http_client(server, how, nullptr) {
    errors_.on_line([this](std::string_view line) {
        if (port_ == 0) port_ = port_in(line);
    });
    wait_for("the server to say where it listens", 30, [this] { return port_ != 0; });
    errors_.on_line({});
}

http_client::http_client(server_process& server, waiting how, std::uint16_t port) : http_client(server, how, nullptr) {
    port_ = port;
    auto next_try = now_ns();
    wait_for("the server to listen", 30, [&] {
        if (now_ns() < next_try) return false;
        next_try = now_ns() + 10'000'000;
        const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto address = loopback(port_);
        const bool listens = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(probe);
        return listens;
    });
}

http_client::~http_client() {
    for (const auto& each : connections_) {
        if (each->fd >= 0) ::close(each->fd);
    }
    if (epoll_ >= 0) ::close(epoll_);
}

void http_client::introduce() {
    if (!is_echo(exchange("the answer to an echo", echo(0)))) open_session();
}

void http_client::open_session() {
    const auto answer = exchange("the answer to initialize", post("", initialize_request));
    const auto revision = revision_in(answer.body());
    if (answer.status() != 200 || revision.empty()) {
        fail("no answer to initialize: " + std::string(answer.beginning()));
    }
    session_headers_ = "MCP-Protocol-Version: " + revision + "\r\n";
    if (!answer.session_id().empty()) session_headers_.append("Mcp-Session-Id: ").append(answer.session_id()) += "\r\n";
    const auto noted = exchange("initialized to be noted", post(session_headers_, initialized_notification));
    if (noted.status() != 202) fail("initialized was not accepted: " + std::string(noted.beginning()));
    const auto echoed = exchange("the answer to an echo", echo(0));
    if (!is_echo(echoed)) fail("echo came back as: " + std::string(echoed.beginning()));
}

std::string http_client::post(std::string_view headers, std::string_view body) const {
    std::string request = "POST " + path_ + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n";
    request.append("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
    request.append(headers).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    return request.append(body);
}

std::string http_client::get(std::string_view path) const {
    return std::string("GET ").append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1:") + std::to_string(port_) +
           "\r\nAccept: text/event-stream\r\n" + session_headers_ + "\r\n";
}

std::string http_client::call(std::string_view tool, const std::string& body) const {
    if (!modern()) return post(session_headers_, body);
    return post(std::string(modern_headers).append(tool) + "\r\n", body);
}

std::string http_client::echo(std::int64_t id) const {
    return call("echo", echo_call(id, modern() ? modern_meta : ""));
}

std::string http_client::park(std::int64_t id) const {
    return call("park", park_call(id, modern() ? modern_meta : ""));
}

std::string http_client::cancel(std::int64_t id) const { return post(session_headers_, bench::cancel(id)); }

void http_client::listen_for(http_connection& on, std::uint32_t events, int operation) const {
    epoll_event event{.events = events, .data = {.ptr = &on}};
    ::epoll_ctl(epoll_, operation, on.fd, &event);
}

http_connection& http_client::open() {
    if (closed_.empty()) {
        connections_.push_back(std::make_unique<http_connection>());
        closed_.push_back(connections_.back().get());
    }
    auto& opened = *closed_.back();
    opened.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened.fd < 0) fail(std::string("socket: ") + std::strerror(errno));
    closed_.pop_back();
    opened.response.clear();
    opened.unwritten = {};
    opened.waits_for_answer = opened.waits_for_room = opened.streams = false;
    const int yes = 1;
    ::setsockopt(opened.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const auto address = loopback(port_);
    if (::connect(opened.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
        errno != EINPROGRESS) {
        fail(std::string("connect: ") + std::strerror(errno));
    }
    listen_for(opened, EPOLLIN, EPOLL_CTL_ADD);
    return opened;
}

void http_client::close(http_connection& which) {
    if (which.fd < 0) return;
    ::close(which.fd);
    which.fd = -1;
    which.waits_for_answer = false;
    closed_.push_back(&which);
}

void http_client::send(http_connection& on, std::string_view request) {
    if (on.fd < 0) fail("the server closed a connection that it could have kept");
    on.unwritten = request;
    on.waits_for_answer = true;
    write_some(on);
}

void http_client::write_some(http_connection& on) {
    const auto wrote = ::send(on.fd, on.unwritten.data(), on.unwritten.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno != EAGAIN && errno != EINTR && errno != ENOTCONN) return lose(on);
    if (wrote > 0) on.unwritten.remove_prefix(static_cast<std::size_t>(wrote));
    if (on.unwritten.empty() == on.waits_for_room) {
        on.waits_for_room = !on.waits_for_room;
        listen_for(on, on.waits_for_room ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    }
}

void http_client::read_some(http_connection& from) {
    const auto got = ::recv(from.fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 && !from.waits_for_answer) return close(from);
    const auto state =
        got > 0 ? from.response.take({buffer_.data(), static_cast<std::size_t>(got)}) : from.response.take_end();
    if (got <= 0 && state != http_response::state::complete) return lose(from);
    if (state == http_response::state::incomplete) {
        if (from.streams && stream_) stream_(from);
        return;
    }
    if (state == http_response::state::broken || !from.waits_for_answer) {
        fail("not the response to a request: " + std::string(from.response.beginning()));
    }
    from.waits_for_answer = false;
    if (response_) response_(from);
    from.response.clear();
    if (got <= 0) close(from);
}

void http_client::lose(http_connection& which) {
    if (!lost_) fail("the server closed a connection that waited for an answer");
    lost_(which);
    close(which);
}

// Awake, too, it asks epoll and not the sockets: it does not take their locks while the server needs them.
void http_client::step() {
    std::array<epoll_event, 256> events{};
    const int ready =
        ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), how_ == waiting::asleep ? 100 : 0);
    for (int i = 0; i < ready; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        auto* at = static_cast<http_connection*>(event.data.ptr);
        if (at == nullptr) {
            if (errors_.read() == line_reader::result::end) fail("the server closed its stderr");
            continue;
        }
        // It may have been closed, and even opened again, since the event was told: then there is nothing to read.
        if (at->fd >= 0 && at->waits_for_room && (event.events & EPOLLOUT) != 0) write_some(*at);
        if (at->fd >= 0 && (event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_some(*at);
    }
}

void http_client::wait_for(const std::string& what, double seconds, const std::function<bool()>& done) {
    const auto deadline = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (!done()) {
        step();
        if (now_ns() > deadline) fail("waited " + std::to_string(std::lround(seconds)) + " s for " + what);
    }
}

http_response http_client::exchange(const std::string& what, const std::string& request) {
    http_response answer;
    bool answered = false;
    auto& on = open();
    on_response([&](http_connection& from) {
        if (&from != &on) return;
        answer = from.response;
        answered = true;
    });
    send(on, request);
    wait_for(what, 30, [&] { return answered; });
    on_response({});
    close(on);
    return answer;
}

}  // namespace andon::bench
