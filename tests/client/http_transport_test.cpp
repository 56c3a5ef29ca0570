// What the client's transport owes its owner beside messages: a bound on what waits, and an end.
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "andon/transport/http_client.hpp"
#include "client/opened_transport.hpp"
#include "client/raw_http_server.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view initialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})";
constexpr std::string_view initialized = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

/// Of about so many bytes.
std::string notification(std::size_t bytes) {
    return R"({"jsonrpc":"2.0","method":"notifications/note","params":{"text":")" + std::string(bytes, 'x') + "\"}}";
}

std::string request(int id, std::size_t bytes = 0) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"work","arguments":{"text":")" + std::string(bytes, 'x') +
           "\"}}}";
}

/// Takes connections, and not one byte from them.
class deaf_server {
public:
    deaf_server() {
        constexpr int little = 4'096;
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(socket_, 64), 0);
        EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    deaf_server(const deaf_server&) = delete;
    deaf_server& operator=(const deaf_server&) = delete;
    ~deaf_server() { ::close(socket_); }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/mcp"; }

private:
    int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::uint16_t port_ = 0;
};

// What waits.

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr transport_limits narrow{.waiting_hard = 4 * mebibyte};

/// How many of them were taken before one was not.
template <class Make>
int sent_until_refused(opened_transport& client, Make make) {
    constexpr int many = 64;
    for (int i = 0; i < many; ++i) {
        if (!client.over().send(make(i), nullptr)) return i;
    }
    return many;
}

TEST(http_transport, a_server_that_does_not_read_what_it_is_told_is_taken_for_gone) {
    const deaf_server server;
    opened_transport client(http_client_transport(server.url(), {}, narrow));
    EXPECT_LE(sent_until_refused(client, [](int) { return notification(mebibyte); }), 6);
    EXPECT_TRUE(client.heard("(closed) the server does not take what it is sent"));
    // Whoever is told closes it, and is not held up: the loop is everybody's.
    const auto before = std::chrono::steady_clock::now();
    client.on_loop([&] { client.over().close(); });
    EXPECT_LT(std::chrono::steady_clock::now() - before, narrow.linger / 3);
    EXPECT_EQ(client.times_heard("(closed)"), 1);
}

TEST(http_transport, nor_does_it_read_what_it_is_asked) {
    const deaf_server server;
    opened_transport client(http_client_transport(server.url(), {}, narrow));
    // More than the kernel keeps for it.
    EXPECT_LE(sent_until_refused(client, [](int i) { return request(i, 8 * mebibyte); }), 3);
    EXPECT_TRUE(client.heard("(closed) the server does not take what it is sent"));
}

TEST(http_transport, what_is_held_before_the_gate_counts_too) {
    raw_http_server server;
    opened_transport client(http_client_transport(server.url(), {}, narrow));
    client.over().send(initialized, nullptr);  // until it is answered nothing else is sent
    const auto gate = server.next("notifications/initialized");
    EXPECT_LE(sent_until_refused(client, [](int) { return notification(mebibyte); }), 6);
    EXPECT_TRUE(client.heard("(closed) the server does not take what it is sent"));
}

TEST(http_transport, what_the_server_took_does_not_count) {
    raw_http_server server;
    opened_transport client(http_client_transport(server.url(), {}, narrow));
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(client.over().send(notification(mebibyte), nullptr));
        server.next("notifications/note").reply("202 Accepted");
    }
    // Calls that it works on are not waiting to be taken, however many there are.
    std::vector<raw_http_request> calls;
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(client.over().send(request(i, mebibyte), nullptr));
        calls.push_back(server.next("tools/call"));
    }
    for (const raw_http_request& each : calls) each.answer_text("done");
    EXPECT_TRUE(client.heard(R"("id":15)"));
    EXPECT_EQ(client.times_heard("(closed)"), 0);
}

TEST(http_transport, what_was_cancelled_before_it_was_sent_does_not_count) {
    raw_http_server server;
    opened_transport client(http_client_transport(server.url(), {}, narrow));
    client.over().send(initialized, nullptr);
    const auto gate = server.next("notifications/initialized");
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(client.over().send(request(i, mebibyte), nullptr));
        client.on_loop([&] { client.over().cancel_request(i, {}); });
    }
    gate.reply("202 Accepted");
    ASSERT_TRUE(client.over().send(request(99), nullptr));
    EXPECT_EQ(server.next("tools/call").id(), 99);
    EXPECT_EQ(client.times_heard("(closed)"), 0);
}

// The end.

/// A session, which is told that it began; the answer to that is still to come.
raw_http_request begin_session(opened_transport& client, raw_http_server& server) {
    client.over().send(initialize, nullptr);
    server.next("initialize")
        .answer({{"protocolVersion", "2025-11-25"}, {"capabilities", json::object()}}, "Mcp-Session-Id: s1\r\n");
    EXPECT_TRUE(client.heard(R"("id":1)"));
    client.over().send(initialized, nullptr);
    return server.next("notifications/initialized");
}

TEST(http_transport, who_took_leave_and_is_closed_meanwhile_is_told_all_the_same) {
    raw_http_server server;
    server.leave_deletes_unanswered();
    std::promise<void> left;
    opened_transport client(http_client_transport(server.url(), {}, {.linger = 20s}));
    begin_session(client, server).reply("202 Accepted");
    client.on_loop([&] { client.over().leave([&] { left.set_value(); }); });
    ASSERT_TRUE(eventually([&] { return !server.deleted().empty(); }));
    const auto before = std::chrono::steady_clock::now();
    client.on_loop([&] { client.over().close(); });
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s) << "it waits for what nobody listens to any more";
    EXPECT_EQ(left.get_future().wait_for(patience), std::future_status::ready);
}

TEST(http_transport, who_takes_leave_does_not_begin_to_listen) {
    raw_http_server server;
    server.listen_to_gets();
    std::promise<void> left;
    opened_transport client(http_client_transport(server.url()));
    const auto told = begin_session(client, server);
    client.on_loop([&] { client.over().leave([&] { left.set_value(); }); });
    told.reply("202 Accepted");
    ASSERT_EQ(left.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(server.nothing_came()) << "a GET";
    EXPECT_EQ(server.deleted(), std::vector<std::string>{"s1"});
}

TEST(http_transport, who_takes_leave_does_not_begin_a_session) {
    raw_http_server server;
    std::promise<void> left;
    opened_transport client(http_client_transport(server.url()));
    begin_session(client, server).reply("202 Accepted");
    client.over().send(notification(1), nullptr);
    const auto told = server.next("notifications/note");
    client.on_loop([&] { client.over().leave([&] { left.set_value(); }); });
    told.reply("404 Not Found");
    ASSERT_EQ(left.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(server.nothing_came()) << "initialize";
}

}  // namespace
}  // namespace andon
