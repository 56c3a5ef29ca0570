#include "http_null_peer.hpp"

#include <array>
#include <cstdio>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "null_peer.hpp"

namespace andon::bench {
namespace {

int listen_on(std::uint16_t port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (listener < 0 || ::bind(listener, generic, size) != 0 || ::listen(listener, 1024) != 0 ||
        ::getsockname(listener, generic, &size) != 0) {
        std::perror("listening");
        return -1;
    }
    std::fprintf(stderr, "listening on http://127.0.0.1:%d/mcp\n", ntohs(address.sin_port));
    return listener;
}

void watch(int epoll, int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// The driver's requests are small and come whole.
bool answer_one(int connection, const body_answer& answer, std::string& response) {
    std::array<char, 4096> buffer{};
    const auto got = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    const std::string_view request(buffer.data(), static_cast<std::size_t>(got));
    const auto head = request.find("\r\n\r\n");
    if (head == std::string_view::npos) return false;
    std::string body;
    answer(request.substr(head + 4), body);
    response = body.empty() ? "HTTP/1.1 202 Accepted\r\nContent-Length: "
                            : "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
    response.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    return ::send(connection, response.data(), response.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(response.size());
}

}  // namespace

int run_http_null_peer() { return answer_http(0, append_null_answer); }

int answer_http(std::uint16_t port, const body_answer& answer) {
    const int listener = listen_on(port);
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (listener < 0 || epoll < 0) return 1;
    watch(epoll, listener);
    std::string response;
    for (;;) {
        std::array<epoll_event, 64> events{};
        const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd != listener) {
                if (!answer_one(fd, answer, response)) ::close(fd);
                continue;
            }
            const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) return 1;
            const int yes = 1;
            ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            watch(epoll, connection);
        }
    }
}

}  // namespace andon::bench
