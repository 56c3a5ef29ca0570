// The client of these tests against the server: if this fails, nothing else is to be believed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http_caller.hpp"

namespace andon {
namespace {

class http_basics : public http_served {};

TEST_P(http_basics, a_call_is_answered_in_json) {
    const http_outcome answer = client.answered("71", "echo", R"({"text":"hello"})");
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(answer.head.type(), "application/json");
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "hello");
}

TEST_P(http_basics, one_that_reports_progress_is_answered_in_events) {
    const http_outcome answer = client.answered("71", "wait", R"({"ms":20,"tick_ms":5})", R"("progressToken":"p")");
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(answer.head.type(), "text/event-stream");
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "waited 20 ms");
    EXPECT_GE(answer.events.size(), 2U);
}

TEST_P(http_basics, a_request_may_come_in_any_pieces) {
    const std::string bytes = client.call_bytes("71", "echo", R"({"text":"in pieces"})");
    http_client connection = client.connection();
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
        connection.write_in_pieces(bytes, size);
        EXPECT_EQ(text_of(*outcome_of(connection).message), "in pieces");
    }
    EXPECT_TRUE(connection.quiet());
}

INSTANTIATE_TEST_SUITE_P(http, http_basics, testing::ValuesIn(http_revisions), revision_name());

}  // namespace
}  // namespace andon
