// Connections: used again, found stale, limited in number, and not there.
#include <arpa/inet.h>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "client/raw_http_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class http_pool : public testing::Test {
protected:
    [[nodiscard]] client connect(http_client_options how = {}) {
        return server_.connect(quiet_client({newest_modern}), std::move(how));
    }
    raw_http_server server_;
};

TEST_F(http_pool, one_connection_serves_one_call_after_the_other) {
    auto client = connect();
    for (int i = 0; i < 10; ++i) server_.fence(client);
    EXPECT_EQ(server_.connections(), 1);
}

TEST_F(http_pool, calls_at_the_same_time_have_a_connection_each) {
    auto client = connect();
    std::vector<pending_call> calls;
    std::vector<raw_http_request> requests;
    for (int i = 0; i < 4; ++i) calls.push_back(client.call_tool("work"));
    for (int i = 0; i < 4; ++i) requests.push_back(server_.next("tools/call"));
    for (const auto& each : requests) each.answer_text("ok");
    for (const auto& each : calls) EXPECT_EQ(text_of(each.get()), "ok");
    EXPECT_EQ(server_.connections(), 4);
    for (int i = 0; i < 10; ++i) server_.fence(client);
    EXPECT_EQ(server_.connections(), 4);
}

TEST_F(http_pool, what_the_server_wants_to_close_is_not_used_again) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.reply_json(text_message(request.id(), "ok"), "200 OK", "Connection: close\r\n");
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_TRUE(request.on->closed_by_client());
    server_.fence(client);
    EXPECT_EQ(server_.connections(), 2);
}

TEST_F(http_pool, what_comes_unasked_is_never_taken_for_an_answer) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    request.on->write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(request.on->closed_by_client());
    server_.fence(client);
    EXPECT_EQ(server_.connections(), 2);
}

TEST_F(http_pool, what_the_server_closed_while_nobody_used_it_is_not_used_again) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    request.on->close();
    EXPECT_TRUE(request.on->closed_by_client());
    const auto after = client.call_tool("work");
    server_.next("tools/call").answer_text("ok too");
    EXPECT_EQ(text_of(after.get()), "ok too");
}

TEST_F(http_pool, nobody_waits_for_a_connection_that_is_not_used_for_long) {
    auto client = connect({.idle_timeout = 20ms});
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_TRUE(request.on->closed_by_client());
    server_.fence(client);
}

TEST_F(http_pool, a_server_that_keeps_connections_for_a_second_is_not_caught_closing_them) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.reply_json(text_message(request.id(), "ok"), "200 OK", "Keep-Alive: timeout=1\r\n");
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_TRUE(request.on->closed_by_client());
}

// A connection that the server closes in the moment in which it is used again: not a byte of an answer.

TEST_F(http_pool, stale_what_does_no_harm_twice_is_asked_again) {
    auto client = connect();
    const auto pending = client.request("tools/list");
    const auto first = server_.next("tools/list");
    EXPECT_EQ(first.on->number(), 1);
    first.on->close();
    const auto again = server_.next("tools/list");
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.on->number(), 2);
    again.answer({{"resultType", "complete"}, {"tools", json::array()}});
    EXPECT_TRUE(pending.get().completed());
}

TEST_F(http_pool, stale_a_call_that_may_have_been_read_is_not_made_twice) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto first = server_.next("tools/call");
    EXPECT_EQ(first.on->number(), 1) << "a connection that was used before";
    first.on->close();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    server_.fence(client);
}

TEST_F(http_pool, stale_a_call_that_was_refused_unread_is_made_again) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto first = server_.next("tools/call");
    first.on->reset();
    const auto again = server_.next("tools/call");
    EXPECT_EQ(again.on->number(), 2);
    again.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_pool, stale_a_call_that_came_right_after_the_end_is_made_again) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto first = server_.next("tools/call");
    first.on->end();
    first.on->reset();
    const auto again = server_.next("tools/call");
    EXPECT_EQ(again.on->number(), 2);
    again.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_pool, stale_only_once_and_never_on_a_new_connection) {
    auto client = connect();
    const auto pending = client.request("tools/list");
    server_.next("tools/list").on->close();
    server_.next("tools/list").on->close();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    server_.fence(client);
}

TEST_F(http_pool, stale_only_where_not_a_byte_came) {
    auto client = connect();
    const auto pending = client.request("tools/list");
    const auto first = server_.next("tools/list");
    first.on->write("HTTP/1.1 200");
    first.on->close();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    server_.fence(client);
}

// The limit.

TEST_F(http_pool, calls_beyond_the_limit_wait_in_order) {
    auto client = connect({.max_connections = 2});
    std::vector<pending_call> calls;
    for (int i = 0; i < 6; ++i) calls.push_back(client.call_tool("work", {{"number", i}}));
    std::vector<std::int64_t> order;
    for (int i = 0; i < 3; ++i) {
        auto one = server_.next("tools/call");
        auto other = server_.next("tools/call");
        EXPECT_TRUE(server_.nothing_came());
        std::vector<std::int64_t> pair;
        for (const auto* each : {&one, &other}) {
            pair.push_back(each->message().at("params").at("arguments").at("number").as_int64());
        }
        std::sort(pair.begin(), pair.end());
        order.insert(order.end(), pair.begin(), pair.end());
        one.answer_text("ok");
        other.answer_text("ok");
    }
    for (const auto& each : calls) EXPECT_EQ(text_of(each.get()), "ok");
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_LE(server_.connections(), 2);
}

TEST(http_limit, an_answer_to_the_servers_question_waits_for_no_call) {
    raw_http_server server;
    client_options options = quiet_client({newest_legacy});
    options.on_roots = [](const json::object&, const cancel_token&) -> json::object {
        return {{"roots", json::array()}};
    };
    auto client = server.connect(std::move(options), {.max_connections = 1});
    const auto pending = client.call_tool("work");
    const auto request = server.next("tools/call");
    request.begin_events();
    request.event({{"jsonrpc", "2.0"}, {"id", 7}, {"method", "roots/list"}});
    const auto answer = server.next();
    EXPECT_EQ(answer.message().at("id"), 7);
    answer.reply("202 Accepted");
    request.event(text_message(request.id(), "ok"));
    request.end_events();
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST(http_limit, SND_5_a_cancel_waits_for_no_call) {
    raw_http_server server;
    auto client = server.connect(quiet_client({newest_legacy}), {.max_connections = 1});
    auto pending = client.call_tool("work");
    const auto request = server.next("tools/call");
    auto waiting = client.call_tool("waiting");
    EXPECT_TRUE(pending.cancel("Stop"));
    for (int i = 0; i < 2; ++i) {  // again, because the first may have overtaken its request
        const auto cancel = server.next("notifications/cancelled");
        EXPECT_EQ(cancel.message().at("params").at("requestId"), request.id());
        cancel.reply("202 Accepted");
    }
    server.next("tools/call").answer_text("its turn");
    EXPECT_EQ(text_of(waiting.get()), "its turn");
}

// Not there.

TEST(http_not_there, a_server_that_comes_back_is_found_again) {
    auto server = std::make_unique<raw_http_server>();
    auto client = server->connect(quiet_client({newest_modern}));
    auto pending = client.call_tool("work");
    static_cast<void>(server->next("tools/call"));
    server.reset();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    const auto refused = client.call_tool("work");
    EXPECT_EQ(refused.get().status, call_status::disconnected);
    EXPECT_THAT(refused.get().message, HasSubstr("Connection refused"));
    EXPECT_EQ(client.requests().size(), 0U);
}

TEST(http_not_there, a_host_that_does_not_answer_is_given_up) {
    raw_http_server server(0);
    auto client = server.connect(quiet_client({newest_modern}), {.connect_timeout = 100ms});
    auto parked = client.call_tool("parked");
    const auto request = server.next("tools/call");
    server.stop_accepting();
    const int filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    ASSERT_EQ(::connect(filler, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const auto pending = client.call_tool("work");
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    EXPECT_THAT(pending.get().message, HasSubstr("took too long"));
    ::close(filler);
    server.go_on_accepting();
    request.answer_text("ok");
    EXPECT_EQ(text_of(parked.get()), "ok");
}

TEST(http_not_there, the_next_address_of_a_host_is_tried) {
    // "localhost" is often ::1 first, where nobody listens.
    raw_http_server server;
    auto script = std::async(std::launch::async, [&] { server.shake(newest_modern); });
    auto client = client::connect_http("http://localhost:" + std::to_string(server.port()) + "/mcp", {},
                                       quiet_client({newest_modern}));
    script.get();
    server.fence(client);
}

}  // namespace
}  // namespace andon
