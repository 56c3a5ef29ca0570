// What is not a good request: each fault has its status, and the server goes on.
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view good_body = R"({"jsonrpc":"2.0","id":71,"method":"ping"})";

std::string raw(std::string_view head, std::string_view body = {}) {
    return std::string(head) + "\r\n\r\n" + std::string(body);
}

/// Faults of HTTP itself: no revision matters, and the connection is of no further use.
struct broken_request {
    std::string name;
    std::string bytes;
    int status;
};
std::ostream& operator<<(std::ostream& out, const broken_request& one) { return out << one.name; }

const std::string json_headers = "Host: localhost\r\nContent-Type: application/json\r\nAccept: */*";

const std::vector<broken_request> broken_requests{
    {"garbage", "\x16\x03\x01 this is not HTTP\r\n\r\n", 400},
    {"a_version_that_is_none", raw("POST /mcp HTTP/3.7\r\nHost: localhost"), 400},
    {"HTTP_2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
    {"no_colon", raw("POST /mcp HTTP/1.1\r\nHost localhost"), 400},
    {"space_before_the_colon", raw("POST /mcp HTTP/1.1\r\nHost : localhost"), 400},
    {"a_folded_header", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n folded"), 400},
    {"a_control_character", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Name: a\x01z"), 400},
    {"two_lengths",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 5\r\nContent-Length: 41", good_body), 400},
    {"two_equal_lengths",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 41\r\nContent-Length: 41", good_body), 400},
    {"a_length_and_chunks",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 41\r\nTransfer-Encoding: chunked",
         "29\r\n" + std::string(good_body) + "\r\n0\r\n\r\n"),
     400},
    {"chunks_and_a_length",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: chunked\r\nContent-Length: 41",
         "29\r\n" + std::string(good_body) + "\r\n0\r\n\r\n"),
     400},
    {"a_negative_length", raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: -1"), 400},
    {"a_length_that_is_no_number", raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 4x"), 400},
    {"a_length_that_no_integer_has",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 99999999999999999999"), 400},
    {"a_chunk_that_is_no_number",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: chunked", "xyz\r\n"), 400},
    // Whoever stands before us may see a body where we see none, and what is in it would be the next request.
    {"an_encoding_that_is_not_known",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: gzip", good_body), 400},
    {"chunks_inside_another_encoding",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: chunked, identity", good_body), 400},
    {"another_encoding_inside_chunks",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: gzip, chunked", "0\r\n\r\n"), 400},
    {"chunks_twice",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
         "0\r\n\r\n"),
     400},
    {"two_hosts", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example"), 400},
    {"two_sessions", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: a\r\nMcp-Session-Id: a"), 400},
    {"two_versions",
     raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\nmcp-protocol-version: "
         "2025-11-25"),
     400},
    {"two_tokens", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer A\r\nAuthorization: Bearer B"),
     400},
    {"headers_too_large", raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Filler: " + std::string(20'000, 'x')), 431},
    {"headers_without_end", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Filler: " + std::string(20'000, 'x'), 431},
    {"a_body_too_large", raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nContent-Length: 100001"), 413},
    {"chunks_too_large",
     raw("POST /mcp HTTP/1.1\r\n" + json_headers + "\r\nTransfer-Encoding: chunked",
         "186a1\r\n" + std::string(100, ' ')),
     413},
};

class http_broken : public testing::TestWithParam<broken_request> {};

TEST_P(http_broken, HTTP_5_is_refused_and_nothing_behind_it_is_served) {
    http_process server(revision::v2025_11_25, {"--body-bytes", "100000"});
    http_caller client = server.caller();
    client.open();
    for (const bool cut : {false, true}) {
        http_client connection = client.connection();
        // What follows would be the next request, if the fault were taken for the end of the first.
        const std::string bytes = GetParam().bytes + client.call_bytes("72", "park", with_key("smuggled"));
        if (cut && bytes.size() < 2'000) {
            try {
                connection.write_in_pieces(bytes, 1);
            } catch (const std::runtime_error&) {  // it hung up in the middle, as it may
            }
        } else {
            connection.write(bytes);
        }
        const http_answer answer = connection.head();
        EXPECT_EQ(answer.status, GetParam().status);
        EXPECT_EQ(answer.header("connection"), "close");
        static_cast<void>(connection.body());
        EXPECT_TRUE(connection.closed());
    }
    client.fence();
    EXPECT_FALSE(server.marked("start", "smuggled"));
}

INSTANTIATE_TEST_SUITE_P(http, http_broken, testing::ValuesIn(broken_requests),
                         [](const auto& each) { return each.param.name; });

/// Good HTTP, and not for us.
class http_refused : public http_served {
protected:
    int status_of(const http_headers& headers, std::string_view method = "POST", std::string_view target = "/mcp",
                  std::string_view body = good_body) {
        http_client connection = client.send(http_message(method, headers, body, target));
        last = outcome_of(connection);
        if (method != "HEAD") {  // the connection is good for more
            connection.write(client.call_bytes("72", "echo", R"({"text":"x"})"));
            EXPECT_EQ(text_of(*outcome_of(connection).message), "x");
        }
        return last.head.status;
    }
    [[nodiscard]] http_headers with(std::string_view name, std::string_view value) const {
        http_headers all;
        for (const auto& each : client.headers()) {
            if (each.first != name) all.push_back(each);
        }
        if (!value.empty()) all.emplace_back(name, value);
        return all;
    }
    http_outcome last;
};

TEST_P(http_refused, HTTP_5_methods_that_are_not_served) {
    for (const std::string_view method : {"PUT", "PATCH", "OPTIONS", "TRACE"}) {
        EXPECT_EQ(status_of(client.headers(), method), 405) << method;
        EXPECT_THAT(last.head.header("allow").value_or(""), HasSubstr("POST")) << method;
    }
}

TEST_P(http_refused, HTTP_5_an_answer_to_HEAD_has_no_body) {
    http_client connection = client.send(http_message("HEAD", client.headers()));
    connection.write(client.call_bytes("72", "echo", R"({"text":"x"})"));
    connection.half_close();
    const std::string all = connection.rest();
    EXPECT_THAT(all, HasSubstr("HTTP/1.1 405"));
    const std::size_t end = all.find("\r\n\r\n");
    ASSERT_NE(end, std::string::npos);
    EXPECT_THAT(all.substr(end + 4), testing::AnyOf("", testing::StartsWith("HTTP/1.1 200")));
}

TEST_P(http_refused, HTTP_5_paths_that_are_not_ours) {
    for (const std::string_view target : {"/", "/mcp/", "/mcp/x", "/MCP", "/other", "//mcp", "/mcp%2f"}) {
        EXPECT_EQ(status_of(client.headers(), "POST", target), 404) << target;
    }
}

TEST_P(http_refused, HTTP_5_types_that_are_not_JSON) {
    for (const std::string_view type : {"", "text/plain", "application/json5", "application/x-www-form-urlencoded",
                                        "multipart/form-data", "text/json"}) {
        EXPECT_EQ(status_of(with("Content-Type", type)), 415) << type;
    }
    for (const std::string_view type : {"application/json", "application/json; charset=utf-8", "APPLICATION/JSON",
                                        "application/json ;charset=UTF-8"}) {
        EXPECT_NE(status_of(with("Content-Type", type)), 415) << type;
    }
}

TEST_P(http_refused, HTTP_5_a_client_that_accepts_nothing_that_we_have) {
    for (const std::string_view accept : {"text/html", "image/*", "application/xml, text/plain"}) {
        EXPECT_EQ(status_of(with("Accept", accept)), 406) << accept;
    }
    for (const std::string_view accept : {"*/*", "", "application/*", "text/*;q=0.5", "Application/JSON , text/html"}) {
        EXPECT_NE(status_of(with("Accept", accept)), 406) << accept;
    }
}

TEST_P(http_refused, HTTP_5_a_body_that_is_no_message) {
    for (const std::string_view body : {"{", "nonsense", "\"text\"", "17", "{}", R"({"jsonrpc":"2.0"})",
                                        R"({"jsonrpc":"2.0","id":null,"method":"ping"})", "\xff\xfe"}) {
        EXPECT_EQ(status_of(client.headers(), "POST", "/mcp", body), 400) << body;
        ASSERT_TRUE(last.message) << body;
        EXPECT_THAT(code_of(*last.message), testing::AnyOf(error_code::parse_error, error_code::invalid_request))
            << body;
    }
    EXPECT_EQ(status_of(client.headers(), "POST", "/mcp", ""), 400);
}

TEST_P(http_refused, HTTP_5_DIR_6_a_forged_host) {
    for (const std::string_view host :
         {"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example",
          "localhost@evil.example", "[::1", "[::1]x", "localhost:80:80", "localhost:x", "", " ", "0.0.0.0",
          "127.0.0.1, evil.example"}) {
        http_headers headers = client.headers();
        headers.emplace_back("Host", host);
        EXPECT_EQ(status_of(headers), 403) << host;
    }
    for (const std::string_view host :
         {"localhost", "localhost:1234", "127.0.0.1:80", "[::1]:80", "[::1]", "LOCALHOST"}) {
        http_headers headers = client.headers();
        headers.emplace_back("Host", host);
        EXPECT_NE(status_of(headers), 403) << host;
    }
}

TEST_P(http_refused, HTTP_5_DIR_6_a_forged_origin) {
    for (const std::string_view origin :
         {"http://evil.example", "https://localhost.evil.example", "null", "file://", "http://localhost@evil.example",
          "http://evil.example#localhost", "ftp://localhost", "localhost", "http://",
          "http://127.0.0.1.evil.example:80", "http://[::1].evil.example", "http://localhost/../evil"}) {
        http_headers headers = client.headers();
        headers.emplace_back("Origin", origin);
        EXPECT_EQ(status_of(headers), 403) << origin;
    }
    for (const std::string_view origin :
         {"http://localhost", "https://localhost:8443", "http://127.0.0.1:3000", "http://[::1]:5173"}) {
        http_headers headers = client.headers();
        headers.emplace_back("Origin", origin);
        EXPECT_NE(status_of(headers), 403) << origin;
    }
}

INSTANTIATE_TEST_SUITE_P(http, http_refused, testing::ValuesIn(http_revisions), revision_name());

TEST(http_request_time, HTTP_5_a_request_that_does_not_come_to_its_end) {
    http_process server(revision::v2026_07_28, {"--receive-ms", "100"});
    const http_caller client = server.caller();
    const std::string bytes = client.call_bytes("71", "park", with_key("parked"));
    for (const std::size_t sent : {std::size_t{1}, std::size_t{30}, bytes.size() - 1}) {
        http_client connection = client.send(bytes.substr(0, sent));
        EXPECT_EQ(connection.head().status, 408) << sent;
        static_cast<void>(connection.body());
        EXPECT_TRUE(connection.closed());
    }
    client.fence();
    EXPECT_FALSE(server.marked("start", "parked"));
}

TEST(http_trailers, DIR_6_what_comes_behind_the_body_is_no_header) {
    http_process server(revision::v2025_11_25, {"--token", "A=alice"});
    http_caller alice = server.caller({.token = "A"});
    alice.open();
    const std::string body = call_line(revision::v2025_11_25, "71", "park", with_key("parked"));
    std::string head = "POST /mcp HTTP/1.1\r\n" + json_headers +
                       "\r\nTransfer-Encoding: chunked\r\nMcp-Session-Id: " + alice.session() + "\r\n\r\n";
    char size[20];
    std::snprintf(size, sizeof size, "%zx", body.size());
    http_client connection = alice.send(head + size + "\r\n" + body + "\r\n0\r\nAuthorization: Bearer A\r\n\r\n");
    EXPECT_EQ(outcome_of(connection).head.status, 401);
    EXPECT_FALSE(server.marked("start", "parked"));
    alice.fence();
}

TEST(http_continue, a_client_that_asks_before_it_sends_is_told_to_go_on) {
    http_process server(revision::v2026_07_28);
    const http_caller client = server.caller();
    std::string bytes = client.call_bytes("71", "echo", R"({"text":"went on"})");
    bytes.replace(bytes.find("\r\n\r\n"), 4, "\r\nExpect: 100-continue\r\n\r\n");
    const std::size_t head = bytes.find("\r\n\r\n") + 4;
    http_client connection = client.send(bytes.substr(0, head));
    EXPECT_EQ(connection.head().status, 100);
    connection.write(bytes.substr(head));
    EXPECT_EQ(text_of(*outcome_of(connection).message), "went on");
}

}  // namespace
}  // namespace andon
