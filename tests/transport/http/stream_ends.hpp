// Both ends of a connection in one test, and what an event loop would do for them.
#pragma once

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>

#include "transport/http/byte_stream.hpp"
#include "transport/http/certificate.hpp"

namespace andon::detail {

struct socket_ends {
    descriptor one;
    descriptor other;
};

inline socket_ends socket_pair() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    return {descriptor(ends[0]), descriptor(ends[1])};
}

/// Over TCP, with buffers as small as the kernel lets them be.
inline socket_ends loopback() {
    const descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
    const int small = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    ::setsockopt(listener.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    EXPECT_EQ(::bind(listener.get(), plain, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), plain, &size), 0);
    descriptor client(::socket(AF_INET, SOCK_STREAM, 0));
    ::setsockopt(client.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    EXPECT_EQ(::connect(client.get(), plain, size), 0);
    descriptor server(::accept(listener.get(), nullptr, nullptr));
    for (const int fd : {client.get(), server.get()}) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    return {std::move(server), std::move(client)};
}

/// One end and what its owner knows of it. All that an event loop would do is done by pump().
struct end {
    using status = byte_stream::status;

    byte_stream stream;
    std::string to_send{};
    std::string got{};
    status reading = status::would_block;
    status writing = status::ok;

    void pump() {
        if (stream.wants_write()) writing = stream.flush().what;
        read();
        write();
    }
    void read() {
        std::array<char, 5'000> buffer{};
        while (reading != status::closed && reading != status::failed) {
            const auto result = stream.read(buffer);
            reading = result.what;
            if (reading == status::would_block) break;
            got.append(buffer.data(), result.bytes);
        }
    }
    void write() {
        while (!to_send.empty() && writing != status::failed) {
            // The bytes lie elsewhere each time, and are then overwritten: nobody may come back to them.
            std::string copy = to_send;
            const auto result = stream.write(copy);
            std::fill(copy.begin(), copy.end(), '?');
            writing = result.what;
            EXPECT_EQ(result.bytes > 0, writing == status::ok);
            if (writing != status::ok) break;
            to_send.erase(0, result.bytes);
        }
    }
};

/// Until one of both fails or `done` is true. Waits as an event loop does: for reading always, for writing if wanted.
template <class Done>
void pump(end& one, end& other, const Done& done) {
    for (int round = 0; round < 100'000; ++round) {
        one.pump();
        other.pump();
        if (done() || one.reading == end::status::failed || other.reading == end::status::failed) return;
        const auto events = [](const end& each) {
            return static_cast<short>((each.reading == end::status::would_block ? POLLIN : 0) |
                                      (each.stream.wants_write() ? POLLOUT : 0));
        };
        std::array<pollfd, 2> both{pollfd{one.stream.fd(), events(one), 0},
                                   pollfd{other.stream.fd(), events(other), 0}};
        ASSERT_GT(::poll(both.data(), both.size(), 10'000), 0) << "both wait for something that does not come";
    }
    FAIL() << "no end to it";
}

inline std::string pattern(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 31 % 23 + i / 1'000 % 3);
    return text;
}

inline const certificate& good_certificate() {
    static const certificate made;
    return made;
}

struct both_ends {
    end server;
    end client;
};

inline both_ends connected(socket_ends sockets, bool tls, const std::string& host = "localhost",
                           const certificate& shown = good_certificate()) {
    if (!tls) return {{byte_stream(std::move(sockets.one))}, {byte_stream(std::move(sockets.other), nullptr, false)}};
    return {{byte_stream(std::move(sockets.one), tls_context::server(shown.file(), shown.key_file()))},
            {byte_stream(std::move(sockets.other), tls_context::client(shown.file()), false, host)}};
}

}  // namespace andon::detail
