// Responses as they come over a connection, cut anywhere.
#include "transport/http/response_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/named_case.hpp"

namespace andon::detail {
namespace {

using step = response_reader::step;
using testing::HasSubstr;

/// All that a reader has to say of bytes that come in pieces of this size.
struct reading {
    unsigned status = 0;
    std::string status_text;
    std::string type;
    std::string body;
    step last = step::more;
    bool reusable = false;
    std::string error;

    bool operator==(const reading&) const = default;
};

reading read(std::string_view bytes, std::size_t piece, bool ends = false) {
    response_reader reader(4'096);
    reading found;
    const auto take = [&](step what) {
        found.last = what;
        switch (what) {
            case step::head:
                found.status = reader.status();
                found.status_text = reader.status_text();
                found.type = reader.media_type();
                return true;
            case step::body: found.body += reader.piece(); return true;
            default: return false;
        }
    };
    while (!bytes.empty() && found.last != step::end && found.last != step::failed) {
        reader.add(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        while (take(reader.next())) {
        }
    }
    if (ends && found.last == step::more) take(reader.finish());
    found.reusable = found.last == step::end && reader.reusable() && bytes.empty();
    found.error = reader.error();
    return found;
}

struct response_case {
    std::string name;
    std::string bytes;
    bool ends;
    step last;
    unsigned status;
    std::string body;
    bool reusable;
    std::string error{};
};

class responses : public testing::TestWithParam<response_case> {};

TEST_P(responses, are_the_same_however_they_are_cut) {
    const response_case& given = GetParam();
    const reading whole = read(given.bytes, given.bytes.size(), given.ends);
    EXPECT_EQ(whole.last, given.last) << whole.error;
    EXPECT_EQ(whole.status, given.status);
    EXPECT_EQ(whole.body, given.body);
    EXPECT_EQ(whole.reusable, given.reusable);
    EXPECT_THAT(whole.error, HasSubstr(given.error));
    for (std::size_t piece = 1; piece < given.bytes.size(); ++piece) {
        EXPECT_EQ(read(given.bytes, piece, given.ends), whole) << piece;
    }
}

INSTANTIATE_TEST_SUITE_P(
    http, responses,
    testing::Values(
        response_case{"with_a_length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, step::end, 200,
                      "hello", true},
        response_case{"without_a_body", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", false, step::end, 202, "",
                      true},
        response_case{"that_have_no_body", "HTTP/1.1 204 No Content\r\n\r\n", false, step::end, 204, "", true},
        response_case{"in_chunks",
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
                      false, step::end, 200, "hello!", true},
        response_case{"with_trailers",
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n", false,
                      step::end, 200, "ok", true},
        response_case{"up_to_the_end_of_the_connection", "HTTP/1.1 200 OK\r\n\r\nhello", true, step::end, 200, "hello",
                      false},
        response_case{"of_an_old_server", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false, step::end, 200, "ok",
                      false},
        response_case{"that_close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false,
                      step::end, 200, "ok", false},
        response_case{"behind_others", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                      false, step::end, 200, "ok", true},
        response_case{"without_a_reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", false, step::end, 200, "",
                      true},
        response_case{"not_there_yet", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", false, step::more, 200, "he",
                      false},
        response_case{"cut_off", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", true, step::failed, 200, "he", false,
                      "in the middle"},
        response_case{"cut_off_in_a_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", true,
                      step::failed, 200, "he", false, "in the middle"},
        response_case{"cut_off_in_the_head", "HTTP/1.1 200 OK\r\nContent-Len", true, step::failed, 0, "", false,
                      "before its head"},
        response_case{"of_no_http", "hello\r\n\r\n", false, step::failed, 0, "", false, "no HTTP"},
        response_case{"with_two_lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", false,
                      step::failed, 0, "", false, "no HTTP"},
        response_case{"with_a_length_and_chunks",
                      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false, step::failed,
                      0, "", false, "no HTTP"},
        response_case{"with_a_chunk_of_no_size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nz", false,
                      step::failed, 200, "", false, "no HTTP"}),
    by_name());

TEST(response_reader, gives_headers_by_their_names) {
    response_reader reader;
    reader.add(
        "HTTP/1.1 404 Not Found\r\nContent-Type: Application/JSON ; charset=utf-8\r\nMCP-Session-Id:  abc \r\n"
        "content-length: 0\r\n\r\n");
    EXPECT_EQ(reader.next(), step::head);
    EXPECT_EQ(reader.status(), 404U);
    EXPECT_EQ(reader.status_text(), "404 Not Found");
    EXPECT_EQ(reader.media_type(), "application/json");
    EXPECT_EQ(reader.header("mcp-session-id"), "abc");
    EXPECT_EQ(reader.header("nothing"), "");
}

TEST(response_reader, what_comes_behind_the_end_spoils_the_connection) {
    response_reader reader;
    reader.add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n");
    EXPECT_EQ(reader.next(), step::head);
    EXPECT_EQ(reader.next(), step::body);
    EXPECT_EQ(reader.piece(), "ok");
    EXPECT_EQ(reader.next(), step::end);
    EXPECT_EQ(reader.next(), step::end);
    EXPECT_FALSE(reader.reusable());
}

TEST(response_reader, a_head_is_taken_up_to_its_limit) {
    for (const auto& [size, last] : {std::pair{3'000, step::end}, std::pair{5'000, step::failed}}) {
        const std::string head = "HTTP/1.1 200 OK\r\nX: " + std::string(static_cast<std::size_t>(size), 'x') +
                                 "\r\nContent-Length: 0\r\n\r\n";
        for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, head.size()}) {
            EXPECT_EQ(read(head, piece).last, last) << size << ' ' << piece;
        }
    }
}

RC_GTEST_PROP(response_reader, any_body_comes_out_of_any_chunks, ()) {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty<std::string>());
    std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    std::string body;
    for (const std::string& each : pieces) {
        std::array<char, 32> size{};
        std::snprintf(size.data(), size.size(), "%zX\r\n", each.size());
        bytes += size.data() + each + "\r\n";
        body += each;
    }
    bytes += "0\r\n\r\n";
    const auto found = read(bytes, *rc::gen::inRange<std::size_t>(1, bytes.size() + 1));
    RC_ASSERT(found.last == step::end);
    RC_ASSERT(found.body == body);
    RC_ASSERT(found.reusable);
}

}  // namespace
}  // namespace andon::detail
