// Servers that are strange or wicked: what they cost is limited, and whoever waits is told.
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/raw_http_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t longest = std::size_t{256} << 10U;

struct hostile_case {
    std::string name;
    std::string begins;
    std::string repeats;  // until the client has had enough
    call_status status;
    std::string says;
};

class http_hostile : public testing::TestWithParam<hostile_case> {};

TEST_P(http_hostile, HTTP_costs_no_more_than_its_limit) {
    for (const revision speaks : {newest_legacy, newest_modern}) {
        raw_http_server server;
        client_options options = quiet_client({speaks});
        options.lines.longest_line = longest;
        auto client = server.connect(std::move(options));
        const auto pending = client.call_tool("work");
        const auto request = server.next("tools/call");
        request.on->write(GetParam().begins);
        std::string piece;
        while (piece.size() < 16'384) piece += GetParam().repeats;
        std::size_t written = 0;
        while (written < 64 * longest && request.on->write(piece)) written += piece.size();
        EXPECT_LT(written, 64 * longest) << "it goes on reading";
        EXPECT_EQ(pending.get().status, GetParam().status);
        EXPECT_THAT(pending.get().message, HasSubstr(GetParam().says));
        server.fence(client);
    }
}

const std::string ok = "HTTP/1.1 200 OK\r\n";
const std::string json_type = "Content-Type: application/json\r\n";
const std::string events_type = "Content-Type: text/event-stream\r\n";
const std::string no_length = "Connection: close\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    client, http_hostile,
    testing::Values(
        hostile_case{"a_status_line_without_end", "HTTP/1.1 200 ", "a", call_status::disconnected, "head has no end"},
        hostile_case{"a_header_without_end", ok + "X: ", "a", call_status::disconnected, "head has no end"},
        hostile_case{"headers_without_end", ok, "X: a\r\n", call_status::disconnected, "head has no end"},
        hostile_case{"interim_responses_without_end", "", "HTTP/1.1 100 Continue\r\n\r\n", call_status::disconnected,
                     "head has no end"},
        hostile_case{"a_body_without_end", ok + json_type + no_length, "{\"a\":", call_status::failed,
                     "more than 262144"},
        hostile_case{"chunks_without_end", ok + json_type + "Transfer-Encoding: chunked\r\n\r\n", "4\r\naaaa\r\n",
                     call_status::failed, "more than 262144"},
        hostile_case{"an_extension_of_a_chunk_without_end", ok + json_type + "Transfer-Encoding: chunked\r\n\r\n4;",
                     "a", call_status::disconnected, "no end"},
        hostile_case{"an_error_without_end", "HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n" + no_length, "a",
                     call_status::failed, "HTTP 500"},
        hostile_case{"an_event_without_end", ok + events_type + no_length + "data: ", "a", call_status::failed,
                     "an event of more than 262144"},
        hostile_case{"an_event_of_lines_without_end", ok + events_type + no_length, "data:\n", call_status::failed,
                     "an event of more than 262144"},
        hostile_case{"an_id_without_end", ok + events_type + no_length + "id: ", "a", call_status::failed,
                     "an event of more than 262144"},
        hostile_case{"no_http", "", "SSH-2.0-OpenSSH\r\n", call_status::disconnected, "no HTTP"},
        hostile_case{"another_protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "a",
                     call_status::disconnected, "another protocol"}),
    by_name());

class http_strange : public testing::Test {
protected:
    raw_http_server server_;
    client client_ = server_.connect(quiet_client({newest_modern}));
};

TEST_F(http_strange, interim_responses_are_stepped_over) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.on->write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    server_.fence(client_);
    EXPECT_EQ(server_.connections(), 1);
}

TEST_F(http_strange, a_comment_every_now_and_then_is_no_event) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    for (int i = 0; i < 1'000; ++i) request.on->write("3\r\n:\r\n\r\n");
    request.event(text_message(request.id(), "ok"));
    request.end_events();
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_strange, an_answer_to_half_a_request_is_taken) {
    // More than the kernel takes at once: the server says no, and reads no further.
    const auto pending = client_.call_tool("work", {{"large", std::string(std::size_t{8} << 20U, 'x')}});
    const auto request = server_.next("tools/call");
    request.reply("413 Content Too Large", "too much", "Connection: close\r\nContent-Type: text/plain\r\n");
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_THAT(pending.get().message, HasSubstr("HTTP 413 Content Too Large: too much"));
}

TEST_F(http_strange, a_large_answer_in_many_pieces) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.answer_text(std::string(std::size_t{4} << 20U, 'x'));
    EXPECT_EQ(text_of(pending.get()).size(), std::size_t{4} << 20U);
}

TEST_F(http_strange, a_stream_that_stays_open_behind_the_answer_is_closed) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
    request.event(text_message(request.id(), "a second one"));
    EXPECT_TRUE(request.on->closed_by_client());
    server_.fence(client_);
}

TEST_F(http_strange, what_is_no_message_is_stepped_over) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event("hello");
    request.event("{}");
    request.event("[1,2");
    request.event("[]");
    request.event(R"({"jsonrpc":"2.0","id":{},"result":1})");
    request.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_strange, events_of_another_name_are_not_messages) {
    const auto pending = client_.call_tool("work");
    const auto request = server_.next("tools/call");
    request.on->write(ok + events_type + no_length);
    request.on->write("event: ping\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + json::serialize(request.id()) +
                      ",\"result\":1}\n\n");
    request.on->write("event: message\ndata: " + json::serialize(text_message(request.id(), "ok")) + "\n\n");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

}  // namespace
}  // namespace andon
