#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>

#include "transport/http/byte_stream.hpp"
#include "transport/http/stream_ends.hpp"

namespace andon::detail {
namespace {

using status = byte_stream::status;
using testing::AnyOf;
using testing::HasSubstr;

class good_host : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(byte_stream, good_host, testing::Values("localhost", "127.0.0.1", "::1", "LOCALHOST"));

TEST_P(good_host, is_the_one_of_the_certificate) {
    both_ends ends = connected(socket_pair(), true, GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "x";
    pump(server, client, [&] { return server.got == "x"; });
    EXPECT_EQ(server.got, "x");
}

/// Tries to say something to a server that it should not trust.
void expect_refused(const std::string& host, const certificate_options& options, const std::string& why,
                    bool trusted = true) {
    const certificate shown(options);
    auto sockets = socket_pair();
    end server{byte_stream(std::move(sockets.one), tls_context::server(shown.file(), shown.key_file()))};
    const certificate& trust = trusted ? shown : good_certificate();
    end client{byte_stream(std::move(sockets.other), tls_context::client(trust.file()), false, host)};
    client.to_send = "a secret";
    pump(server, client, [] { return false; });
    client.pump();
    EXPECT_EQ(client.reading, status::failed);
    EXPECT_THAT(std::string(client.stream.error()), HasSubstr(why));
    EXPECT_EQ(client.to_send, "a secret");
    server.pump();
    EXPECT_EQ(server.got, "");
    EXPECT_EQ(server.reading, status::failed);
    EXPECT_NE(server.stream.error(), "");
}

TEST(byte_stream, a_client_refuses_a_certificate_for_another_name) {
    expect_refused("localhost", {.names = "DNS:example.com"}, "hostname mismatch");
    expect_refused("example.com.evil.example", {.names = "DNS:example.com"}, "hostname mismatch");
    expect_refused("www.example.com", {.names = "DNS:w*.example.com"}, "hostname mismatch");
}

TEST(byte_stream, a_client_refuses_a_certificate_for_another_address) {
    expect_refused("127.0.0.1", {.names = "IP:127.0.0.2,DNS:127.0.0.1"}, "IP address mismatch");
}

TEST(byte_stream, a_client_refuses_an_expired_certificate) {
    expect_refused("localhost", {.begins = -std::chrono::hours(2), .ends = -std::chrono::hours(1)},
                   "certificate has expired");
}

TEST(byte_stream, a_client_refuses_a_certificate_of_the_future) {
    expect_refused("localhost", {.begins = std::chrono::hours(1), .ends = std::chrono::hours(2)}, "not yet valid");
}

TEST(byte_stream, a_client_refuses_a_certificate_that_nobody_it_trusts_has_signed) {
    expect_refused("localhost", {}, "self-signed certificate", false);
}

TEST(byte_stream, a_client_without_a_host_to_check_is_not_made) {
    const auto context = tls_context::client(good_certificate().file());
    EXPECT_THROW(byte_stream(socket_pair().one, context, false), std::invalid_argument);
    EXPECT_THROW(byte_stream(socket_pair().one, context, false, std::string("local\0host", 10)), std::invalid_argument);
}

TEST(byte_stream, before_the_handshake_is_over_nothing_is_taken) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    EXPECT_EQ(client.stream.write("x").what, status::would_block);
    EXPECT_FALSE(client.stream.wants_write()) << "there is nothing to wait for but the peer";
    EXPECT_EQ(client.stream.flush().what, status::would_block);
    EXPECT_EQ(server.stream.write("x").what, status::would_block);
    std::array<char, 8> buffer{};
    EXPECT_EQ(client.stream.read(buffer).what, status::would_block);
}

TEST(byte_stream, what_came_behind_a_handshake_that_a_write_finished_makes_the_socket_readable) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "early";
    EXPECT_EQ(client.stream.flush().what, status::would_block);
    EXPECT_EQ(server.stream.flush().what, status::would_block);  // answers
    client.pump();                                               // finishes, and sends
    ASSERT_TRUE(client.to_send.empty());
    EXPECT_EQ(server.stream.write("answer").what, status::ok);  // finishes
    pollfd readable{server.stream.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&readable, 1, 0), 1);
    server.pump();
    EXPECT_EQ(server.got, "early");
}

TEST(byte_stream, what_a_peer_said_before_it_left_is_read_though_nothing_can_be_sent_to_it) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    EXPECT_EQ(client.stream.flush().what, status::would_block);
    EXPECT_EQ(server.stream.flush().what, status::would_block);  // answers
    client.to_send = "last words";
    client.pump();  // finishes, and sends
    ASSERT_TRUE(client.to_send.empty());
    client.stream.close();
    server.read();  // with its tickets it finds nobody there
    EXPECT_EQ(server.got, "last words");
    EXPECT_EQ(server.reading, status::closed);
    EXPECT_EQ(server.stream.write("too late").what, status::failed);
    EXPECT_EQ(server.stream.error(), "Broken pipe");
}

TEST(byte_stream, a_client_that_leaves_in_the_middle_of_the_handshake) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "x";
    client.pump();
    server.pump();
    ::shutdown(client.stream.fd(), SHUT_WR);
    server.pump();
    EXPECT_EQ(server.reading, status::failed);
    EXPECT_EQ(server.stream.error(), "the peer left during the handshake");
}

TEST(byte_stream, a_server_that_leaves_in_the_middle_of_the_handshake) {
    for (const bool it_has_answered : {true, false}) {
        both_ends ends = connected(socket_pair(), true);
        end& server = ends.server;
        end& client = ends.client;
        client.to_send = "x";
        client.pump();
        if (it_has_answered) server.pump();
        server.stream.close();
        client.pump();
        EXPECT_EQ(client.reading, status::failed);
        EXPECT_NE(client.stream.error(), "");
        EXPECT_EQ(client.to_send, "x");
    }
}

TEST(byte_stream, a_connection_cut_off_without_a_word_is_no_end) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    server.to_send = "half of it";
    client.to_send = "x";
    pump(server, client, [&] { return client.got == "half of it"; });
    ::shutdown(server.stream.fd(), SHUT_RDWR);
    client.pump();
    EXPECT_EQ(client.reading, status::failed);
    EXPECT_EQ(client.stream.error(), "the peer closed the connection without a word");
    std::array<char, 8> buffer{};
    EXPECT_EQ(client.stream.read(buffer).what, status::failed) << "also when asked again";
}

TEST(byte_stream, garbage_is_no_handshake) {
    for (const std::string& garbage : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(1'000, '\0'),
                                       std::string(100'000, '\xFF'), std::string("\x16\x03\x01\x02\x00\x01", 6)}) {
        for (const bool to_server : {true, false}) {
            both_ends ends = connected(socket_pair(), true);
            end& server = ends.server;
            end& client = ends.client;
            end& hit = to_server ? server : client;
            byte_stream plain(std::move(to_server ? client : server).stream);
            const int fd = plain.fd();
            EXPECT_GT(::send(fd, garbage.data(), garbage.size(), MSG_DONTWAIT), 0);
            ::shutdown(fd, SHUT_WR);
            hit.to_send = "a secret";
            hit.pump();
            EXPECT_EQ(hit.reading, status::failed);
            EXPECT_NE(hit.stream.error(), "");
            EXPECT_EQ(hit.to_send, "a secret");
            EXPECT_EQ(hit.stream.write("x").what, status::failed);
            EXPECT_EQ(hit.stream.flush().what, status::failed);
        }
    }
}

TEST(byte_stream, garbage_behind_the_handshake_is_refused) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "fine";
    pump(server, client, [&] { return server.got == "fine"; });
    const std::string forged(
        "\x17\x03\x03\x00\x20"
        "0123456789abcdef0123456789abcdef",
        37);
    EXPECT_EQ(::send(client.stream.fd(), forged.data(), forged.size(), 0), 37);
    server.pump();
    EXPECT_EQ(server.reading, status::failed);
    EXPECT_EQ(server.got, "fine");
}

TEST(byte_stream, old_versions_of_tls_are_not_spoken) {
    both_ends ends = connected(socket_pair(), true);
    end& server = ends.server;
    end& client = ends.client;
    // A hello of TLS 1.0 and no newer version.
    const std::string hello(
        "\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x01"
        "0123456789abcdef0123456789abcdef"
        "\x00\x00\x02\xc0\x0a\x01\x00\x00\x00",
        52);
    EXPECT_EQ(::send(client.stream.fd(), hello.data(), 50, 0), 50);
    server.pump();
    EXPECT_EQ(server.reading, status::failed);
    EXPECT_THAT(std::string(server.stream.error()), AnyOf(HasSubstr("unsupported protocol"), HasSubstr("version")));
}

TEST(tls_context, says_what_is_wrong_with_its_files) {
    const auto complaint = [](const auto& make) -> std::string {
        try {
            make();
        } catch (const std::exception& error) {
            return error.what();
        }
        return "no complaint";
    };
    const certificate& good = good_certificate();
    const certificate other;
    const temporary_directory directory;
    const std::string empty = directory.file("empty.pem", "");
    const std::string missing = directory.path() / "missing.pem";
    EXPECT_THAT(complaint([&] { return tls_context::server(missing, good.key_file()); }),
                AllOf(HasSubstr("the certificate in '" + missing), HasSubstr("No such file")));
    EXPECT_THAT(complaint([&] { return tls_context::server(empty, good.key_file()); }), HasSubstr(empty));
    EXPECT_THAT(complaint([&] { return tls_context::server(good.file(), missing); }),
                HasSubstr("the key in '" + missing));
    EXPECT_THAT(complaint([&] { return tls_context::server(good.file(), other.key_file()); }),
                HasSubstr(other.key_file()));
    EXPECT_THAT(complaint([&] { return tls_context::client(missing); }), HasSubstr(missing));
    EXPECT_THAT(complaint([&] { return tls_context::client(empty); }), HasSubstr(empty));
    EXPECT_NE(tls_context::client(), nullptr);
}

}  // namespace
}  // namespace andon::detail
