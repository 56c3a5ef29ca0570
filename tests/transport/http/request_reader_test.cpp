#include "transport/http/request_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "andon/wire/line_splitter.hpp"

namespace andon::detail {
namespace {

using progress = request_reader::progress;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct outcome {
    std::vector<http_request> requests{};
    int fault = 0;         // the status
    std::size_t left = 0;  // bytes that wait for more
};

/// All requests in these bytes, which come in pieces of these sizes, in turn.
outcome read(std::string_view bytes, const std::vector<std::size_t>& sizes = {},
             const http_request_limits& limits = {}) {
    outcome all;
    auto reader = std::make_unique<request_reader>(limits);
    std::string waiting;
    for (std::size_t piece = 0; !bytes.empty(); ++piece) {
        const std::size_t size = sizes.empty() ? bytes.size() : std::min(sizes[piece % sizes.size()], bytes.size());
        waiting += bytes.substr(0, size);
        bytes.remove_prefix(size);
        while (!waiting.empty()) {
            const auto fed = reader->feed(waiting);
            waiting.erase(0, fed.used);
            if (fed.what == progress::failed) {
                all.fault = reader->fault_status();
                EXPECT_NE(reader->fault(), "");
                return all;
            }
            if (fed.what == progress::more) break;
            all.requests.push_back(reader->take());
            reader = std::make_unique<request_reader>(limits);
        }
    }
    all.left = waiting.size();
    return all;
}

const std::string get = "GET /mcp?a=b HTTP/1.1\r\nHost: localhost\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n";
const std::string post = "POST /mcp HTTP/1.1\r\nhOST:   localhost \t\r\nContent-Length: 5\r\n\r\nhello";
const std::string chunks =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "3\r\nhel\r\n2;extension=\"x\"\r\nlo\r\n0\r\nTrailer: ignored\r\n\r\n";

TEST(request_reader, takes_a_request_apart) {
    const outcome all = read(get + post + chunks);
    ASSERT_EQ(all.requests.size(), 3U);
    EXPECT_EQ(all.requests[0].method, "GET");
    EXPECT_EQ(all.requests[0].target, "/mcp?a=b");
    EXPECT_THAT(all.requests[0].headers,
                ElementsAre(Pair("host", "localhost"), Pair("x-two", "1"), Pair("x-two", "2")));
    EXPECT_EQ(all.requests[0].header("x-two"), "1");
    EXPECT_EQ(all.requests[0].header("x-three"), std::nullopt);
    EXPECT_EQ(all.requests[1].header("host"), "localhost") << "without the blanks";
    EXPECT_EQ(all.requests[1].body, "hello");
    EXPECT_EQ(all.requests[2].body, "hello");
    EXPECT_EQ(all.requests[2].header("trailer"), std::nullopt);
    for (const http_request& each : all.requests) {
        EXPECT_TRUE(each.keep_alive);
        EXPECT_TRUE(each.chunks);
        EXPECT_GE(each.body.capacity(), each.body.size() + line_splitter::padding);
    }
}

TEST(request_reader, is_the_same_at_any_split) {
    const std::string bytes = get + post + chunks + post + chunks + get + "GET /half HTTP/1.1\r\nHo";
    const outcome whole = read(bytes);
    ASSERT_EQ(whole.requests.size(), 6U);
    std::mt19937 random(2026);
    std::vector<std::vector<std::size_t>> splits;
    for (std::size_t size = 1; size < 200; ++size) splits.push_back({size});
    for (int i = 0; i < 500; ++i) {
        std::vector<std::size_t> sizes;
        for (int each = 0; each < 7; ++each) sizes.push_back(1 + random() % 40);
        splits.push_back(std::move(sizes));
    }
    for (const auto& sizes : splits) {
        const outcome cut = read(bytes, sizes);
        ASSERT_EQ(cut.requests.size(), whole.requests.size()) << "first size " << sizes[0];
        EXPECT_EQ(cut.left, whole.left);
        for (std::size_t i = 0; i < cut.requests.size(); ++i) {
            EXPECT_EQ(cut.requests[i].method, whole.requests[i].method);
            EXPECT_EQ(cut.requests[i].target, whole.requests[i].target);
            EXPECT_EQ(cut.requests[i].headers, whole.requests[i].headers);
            EXPECT_EQ(cut.requests[i].body, whole.requests[i].body);
        }
    }
}

TEST(request_reader, knows_when_the_connection_ends_with_the_answer) {
    EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").requests.at(0).keep_alive);
    const http_request old = read("GET / HTTP/1.0\r\nHost: a\r\n\r\n").requests.at(0);
    EXPECT_FALSE(old.keep_alive);
    EXPECT_FALSE(old.chunks);
    EXPECT_TRUE(read("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n").requests.at(0).keep_alive);
}

TEST(request_reader, refuses_what_can_be_understood_in_two_ways) {
    const std::string begin = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    for (const std::string& headers : {
             std::string("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
             std::string("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
             std::string("Content-Length: 5\r\nContent-Length: 5\r\n"),
             std::string("Content-Length: 5, 5\r\n"),
             std::string("Content-Length: +5\r\n"),
             std::string("Content-Length: 0x5\r\n"),
             std::string("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
             std::string("Transfer-Encoding: gzip\r\n"),
             std::string("Transfer-Encoding: chunked, gzip\r\n"),
             std::string("Transfer-Encoding: gzip, chunked\r\n"),
             std::string("Transfer-Encoding: xchunked\r\n"),
             std::string("Transfer-Encoding: \r\n"),
             std::string("Transfer-Encoding : chunked\r\n"),
             std::string("Host: other\r\n"),
             std::string("Origin: http://a\r\nOrigin: http://b\r\n"),
             std::string("Authorization: Bearer a\r\nauthorization: Bearer b\r\n"),
             std::string("Mcp-Anything: a\r\nMCP-ANYTHING: b\r\n"),
             std::string("Accept: a/b\r\nAccept: c/d\r\n"),
             std::string("X-Folded: a\r\n b\r\n"),
             std::string("X-Folded: a\r\n\tb\r\n"),
             std::string("X-Folded: a\r\n \r\nContent-Length: 5\r\n"),
             std::string("X: a\nTransfer-Encoding: chunked\r\n"),
             std::string("X: a\rb\r\n"),
             std::string("X: a\0b\r\n", 8),
             std::string(": empty\r\n"),
             std::string("Bad Name: x\r\n"),
         }) {
        for (const std::string_view body : {"", "hello", "he"}) {
            for (const std::size_t size : {std::size_t{1}, std::size_t{10}, std::size_t{1'000}}) {
                const outcome all = read(begin + headers + "\r\n" + std::string(body), {size});
                EXPECT_EQ(all.fault, 400) << headers << " in pieces of " << size;
                EXPECT_EQ(all.requests.size(), 0U) << headers;
            }
        }
    }
}

TEST(request_reader, keeps_its_limits) {
    const http_request_limits limits{.head = 200, .body = 10};
    const std::string begin = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    for (const std::size_t size : {std::size_t{1}, std::size_t{10'000}}) {
        const std::vector<std::size_t> sizes{size};
        EXPECT_EQ(read(begin + "X: " + std::string(200, 'x') + "\r\n\r\n", sizes, limits).fault, 431);
        EXPECT_EQ(read(begin + "X: " + std::string(500, 'x'), sizes, limits).fault, 431)
            << "it need not come to its end";
        EXPECT_EQ(read(std::string(500, 'x'), sizes, limits).fault, 431);
        EXPECT_EQ(read(begin + "Content-Length: 10\r\n\r\n0123456789", sizes, limits).requests.size(), 1U);
        EXPECT_EQ(read(begin + "Content-Length: 11\r\n\r\n", sizes, limits).fault, 413)
            << "before the first byte of it";
        const std::string chunked = begin + "Transfer-Encoding: chunked\r\n\r\n";
        EXPECT_EQ(read(chunked + "5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n", sizes, limits).requests.size(), 1U);
        EXPECT_EQ(read(chunked + "5\r\n01234\r\n6\r\n012345\r\n0\r\n\r\n", sizes, limits).fault, 413);
        std::string many = begin;
        for (int i = 0; i < 100; ++i) many += "X: y\r\n";
        EXPECT_EQ(read(many, {6}, limits).fault, 431) << "small ones without end, each in a piece of its own";
        EXPECT_EQ(read(many, sizes, limits).fault, 431);
        EXPECT_NE(read(chunked + "1;" + std::string(5'000, 'x') + "\r\n", sizes, limits).fault, 0)
            << "a chunk's extension without end";
        EXPECT_NE(read(chunked + "0\r\nX: " + std::string(5'000, 'x') + "\r\n\r\n", sizes, limits).fault, 0)
            << "trailers without end";
    }
}

TEST(request_reader, asks_for_the_body_once_where_the_client_waits_to_be_asked) {
    request_reader reader({});
    const std::string head =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n";
    EXPECT_FALSE(reader.wants_continue());
    EXPECT_EQ(reader.feed(head).what, progress::more);
    EXPECT_TRUE(reader.wants_continue());
    EXPECT_FALSE(reader.wants_continue());
    EXPECT_EQ(reader.feed("hello").what, progress::done);
    request_reader old({});
    EXPECT_EQ(
        old.feed("POST /mcp HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").what,
        progress::more);
    EXPECT_FALSE(old.wants_continue()) << "1.0 has no such answer";
}

TEST(request_reader, an_empty_line_in_front_is_none_of_the_request) {
    const std::string request = "\r\nPOST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10'000}}) {
        const auto found = read(request + request, {size}, {});
        EXPECT_EQ(found.fault, 0) << size;
        EXPECT_EQ(found.requests.size(), 2U) << size;
    }
    EXPECT_EQ(read("\rPOST /mcp HTTP/1.1\r\n\r\n", {1}, {}).fault, 400);
}

}  // namespace
}  // namespace andon::detail
