#include "transport/http/byte_stream.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>

#include "transport/http/stream_ends.hpp"

namespace andon::detail {
namespace {

using status = byte_stream::status;

class each_kind : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(byte_stream, each_kind, testing::Bool(),
                         [](const auto& each) { return each.param ? "tls" : "plain"; });

TEST_P(each_kind, carries_bytes_both_ways) {
    both_ends ends = connected(socket_pair(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "a question";
    pump(server, client, [&] { return server.got == "a question"; });
    server.to_send = "an answer";
    pump(server, client, [&] { return client.got == "an answer"; });
    EXPECT_EQ(server.got, "a question");
    EXPECT_EQ(client.got, "an answer");
    EXPECT_EQ(server.stream.error(), "");
}

TEST_P(each_kind, carries_much_through_small_buffers_both_ways_at_once) {
    both_ends ends = connected(loopback(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    const std::string up = pattern(700'000);
    const std::string down = pattern(900'001);
    client.to_send = up;
    server.to_send = down;
    pump(server, client, [&] { return server.got.size() >= up.size() && client.got.size() >= down.size(); });
    EXPECT_TRUE(server.got == up);
    EXPECT_TRUE(client.got == down);
}

TEST_P(each_kind, a_full_socket_takes_nothing_and_what_was_taken_arrives) {
    both_ends ends = connected(loopback(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "x";
    pump(server, client, [&] { return server.got == "x"; });
    const std::string chunk = pattern(100'000);
    std::string taken;
    byte_stream::result result;
    while ((result = server.stream.write(chunk)).what == status::ok) {
        EXPECT_LE(result.bytes, GetParam() ? byte_stream::largest_record : chunk.size());
        taken += chunk.substr(0, result.bytes);
    }
    EXPECT_EQ(result.what, status::would_block);
    EXPECT_EQ(result.bytes, 0U);
    EXPECT_TRUE(server.stream.wants_write());
    EXPECT_EQ(server.stream.write("and this").what, status::would_block);
    ASSERT_GT(taken.size(), 0U);
    pump(server, client, [&] { return client.got.size() >= taken.size(); });
    EXPECT_TRUE(client.got == taken);
    EXPECT_FALSE(server.stream.wants_write());
}

TEST_P(each_kind, one_direction_ends_and_the_other_goes_on) {
    both_ends ends = connected(socket_pair(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "all";
    pump(server, client, [&] { return server.got == "all"; });
    client.stream.shutdown_write();
    pump(server, client, [&] { return server.reading == status::closed; });
    std::array<char, 8> buffer{};
    EXPECT_EQ(server.stream.read(buffer).what, status::closed) << "also when asked again";
    server.to_send = pattern(50'000);
    pump(server, client, [&] { return client.got.size() == 50'000; });
    EXPECT_EQ(client.stream.write("more").what, status::failed);
    EXPECT_NE(client.stream.error(), "");
}

TEST_P(each_kind, the_end_comes_after_what_waits) {
    both_ends ends = connected(loopback(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "x";
    pump(server, client, [&] { return server.got == "x"; });
    const std::string much = pattern(100'000);
    std::size_t taken = 0;
    for (byte_stream::result result; (result = server.stream.write(much)).what == status::ok;) taken += result.bytes;
    server.stream.shutdown_write();
    pump(server, client, [&] { return client.reading == status::closed; });
    EXPECT_EQ(client.got.size(), taken);
    EXPECT_EQ(client.reading, status::closed);
}

TEST_P(each_kind, a_peer_that_closes_is_noticed) {
    both_ends ends = connected(socket_pair(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "last words";
    pump(server, client, [&] { return client.to_send.empty(); });
    client.stream.close();
    EXPECT_EQ(client.stream.fd(), -1);
    server.pump();
    EXPECT_EQ(server.got, "last words");
    EXPECT_EQ(server.reading, status::closed);
    std::size_t tries = 0;
    while (server.stream.write("anybody?").what == status::ok) ASSERT_LT(++tries, 100U);
    EXPECT_NE(server.stream.error(), "");
}

TEST_P(each_kind, what_is_closed_is_of_no_use) {
    both_ends ends = connected(socket_pair(), GetParam());
    end& client = ends.client;
    client.stream.close();
    client.stream.close();
    std::array<char, 8> buffer{};
    EXPECT_EQ(client.stream.read(buffer).what, status::failed);
    EXPECT_EQ(client.stream.write("x").what, status::failed);
    EXPECT_NE(client.stream.error(), "");
    EXPECT_FALSE(client.stream.wants_write());
}

TEST_P(each_kind, moves_with_all_that_it_has) {
    both_ends ends = connected(socket_pair(), GetParam());
    end& server = ends.server;
    end& client = ends.client;
    client.to_send = "before";
    pump(server, client, [&] { return server.got == "before"; });
    byte_stream elsewhere = std::move(client.stream);
    client.stream = std::move(elsewhere);
    client.to_send = ", after";
    pump(server, client, [&] { return server.got == "before, after"; });
    EXPECT_EQ(server.got, "before, after");
    server.stream = byte_stream(descriptor{});  // closes what it had
    client.pump();
    EXPECT_EQ(client.reading, status::closed);
}

TEST(byte_stream, a_plain_one_is_small) { EXPECT_LE(sizeof(byte_stream), 3 * sizeof(void*)); }

TEST(byte_stream, a_plain_one_tells_a_broken_connection_from_a_closed_one) {
    auto sockets = loopback();
    const linger at_once{1, 0};
    ::setsockopt(sockets.other.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    sockets.other.close();  // a reset
    end server{byte_stream(std::move(sockets.one))};
    server.pump();
    EXPECT_EQ(server.reading, status::failed);
    EXPECT_EQ(server.stream.error(), "Connection reset by peer");
}

}  // namespace
}  // namespace andon::detail
