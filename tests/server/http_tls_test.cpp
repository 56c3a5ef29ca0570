// The same over TLS, with a certificate of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

class http_over_tls : public testing::TestWithParam<revision> {
protected:
    void SetUp() override { client.open(); }
    [[nodiscard]] static bool modern() { return era_of(GetParam()) == era::modern; }

    certificate shown;
    http_process server{GetParam(), {"--certificate", shown.file(), "--private-key", shown.key_file()}};
    http_caller client{server.caller({.connection = {.trusted = shown.file()}})};
};

TEST_P(http_over_tls, calls_are_answered_in_json_and_in_events) {
    EXPECT_EQ(text_of(*client.answered("71", "echo", R"({"text":"hello"})").message), "hello");
    const http_outcome events = client.answered("71", "wait", R"({"ms":20,"tick_ms":2})", R"("progressToken":1)");
    EXPECT_TRUE(events.head.in_events());
    EXPECT_EQ(text_of(*events.message), "waited 20 ms");
    const std::string large(1'000'000, 'x');
    EXPECT_EQ(text_of(*client.answered("71", "echo", R"({"text":")" + large + "\"}").message), large);
}

TEST_P(http_over_tls, several_requests_in_one_record_and_one_in_many) {
    const std::string bytes = client.call_bytes("71", "echo", R"({"text":"x"})");
    http_client connection = client.connection();
    connection.write(bytes + bytes + bytes);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(text_of(*outcome_of(connection).message), "x");
    connection.write_in_pieces(bytes, 10);
    EXPECT_EQ(text_of(*outcome_of(connection).message), "x");
    EXPECT_TRUE(connection.quiet());
}

TEST_P(http_over_tls, HTTP_1_HTTP_2_a_disconnect_means_what_the_revision_says) {
    for (const bool reset : {false, true}) {
        const std::string key = reset ? "reset" : "fin";
        http_client victim = client.call("71", "park", with_key(key));
        server.mark("start", key);
        reset ? victim.reset() : victim.close();
        if (!modern()) {
            for (int i = 0; i < 3; ++i) client.fence();
            EXPECT_FALSE(server.marked("cancel", key));
            client.cancel("71");
        }
        server.mark("cancel", key);
        EXPECT_THAT(server.logged("request 71 ("), HasSubstr(modern() ? "disconnect" : "peer"));
        if (!modern()) client.until_free("71");
    }
}

class http_over_tls_modern : public http_over_tls {};

TEST_P(http_over_tls_modern, HTTP_1_the_end_of_the_clients_side_alone_is_one_too) {
    http_client victim = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    victim.half_close();  // close_notify
    server.mark("cancel", "parked");
}

class http_over_tls_legacy : public http_over_tls {};

TEST_P(http_over_tls_legacy, HTTP_3_a_posted_cancel_ends_the_stream) {
    http_client waiting = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    client.cancel("71");
    EXPECT_EQ(code_of(*outcome_of(waiting).message), error_code::request_cancelled);
    waiting.write(client.call_bytes("72", "echo", R"({"text":"usable"})"));
    EXPECT_EQ(text_of(*outcome_of(waiting).message), "usable");
}

TEST_P(http_over_tls, one_who_speaks_no_TLS_is_hung_up_on) {
    http_caller plain(server.port(), revision::v2026_07_28);
    http_client connection = plain.call("71", "park", with_key("parked"));
    static_cast<void>(connection.rest());
    client.fence();
    EXPECT_FALSE(server.marked("start", "parked"));
}

INSTANTIATE_TEST_SUITE_P(http, http_over_tls, testing::ValuesIn(http_revisions), revision_name());
INSTANTIATE_TEST_SUITE_P(http, http_over_tls_legacy, testing::ValuesIn(legacy_http_revisions), revision_name());
INSTANTIATE_TEST_SUITE_P(http, http_over_tls_modern, testing::Values(revision::v2026_07_28), revision_name());

}  // namespace
}  // namespace andon
