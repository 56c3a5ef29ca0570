// The receiver's rules again, where the cancel comes by a POST.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int workers = 64;  // of the server's: as many blocking handlers run at once

class http_rules : public http_served {
protected:
    static void expect_cancelled(http_client& connection) {
        const http_outcome answer = outcome_of(connection);
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(code_of(*answer.message), error_code::request_cancelled);
    }
    std::vector<http_client> hold_workers(int how_many) {
        std::vector<http_client> held;
        for (int i = 0; i < how_many; ++i) {
            const std::string key = "holder" + std::to_string(i);
            held.push_back(client.call('"' + key + '"', "block", with_key(key, R"("ms":600000)")));
        }
        for (int i = 0; i < how_many; ++i) server.mark("start", "holder" + std::to_string(i));
        return held;
    }
};

TEST_P(http_rules, MSG_1_the_notification_cancels_with_a_reason_and_without) {
    http_client plain = client.call("71", "park", with_key("plain"));
    http_client reasoned = client.call("\"seventy-two\"", "park", with_key("reasoned"));
    server.mark("start", "plain");
    server.mark("start", "reasoned");
    client.cancel("71");
    server.mark("cancel", "plain");
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "reasoned"));
    client.cancel("\"seventy-two\"", R"("user pressed Stop")");
    server.mark("cancel", "reasoned");
    EXPECT_THAT(server.logged("seventy-two"), HasSubstr("peer, user pressed Stop"));
}

TEST_P(http_rules, MSG_2_RCV_6_a_malformed_cancel_is_ignored_and_logged) {
    http_client parked = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    for (const std::string_view params :
         {R"({"reason":"whom?"})", "{}", R"({"requestId":[71]})", R"({"requestId":null})", R"({"requestId":71.5})",
          R"({"requestId":71,"reason":17})", R"({"requestId":true})"}) {
        EXPECT_EQ(
            client.tell(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)" + std::string(params) + "}"),
            202)
            << params;
        client.fence();
        EXPECT_FALSE(server.marked("cancel", "parked")) << params;
    }
    server.logged("a cancel without a valid requestId");
    server.logged("a cancel whose reason is no string");
    const std::string as_request =
        R"({"jsonrpc":"2.0","id":72,"method":"notifications/cancelled","params":{"requestId":71}})";
    http_client asks = client.send(client.post(as_request));
    EXPECT_EQ(code_of(*outcome_of(asks).message), error_code::method_not_found);
    EXPECT_TRUE(parked.quiet());
    client.cancel("71");
    expect_cancelled(parked);
}

TEST_P(http_rules, MSG_3_each_of_many_alike_is_cancelled_alone) {
    const std::vector<std::string> ids{
        "1", "\"1\"", "0", "-1", "\"\"", "9007199254740993", "9007199254740994", "\"01\"", "10", "\"a\"", "\"A\""};
    std::vector<http_client> calls;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        calls.push_back(client.call(ids[i], "park", with_key("p" + std::to_string(i))));
        server.mark("start", "p" + std::to_string(i));
    }
    for (const std::string_view none : {"1.9", "2", "\"1.0\"", "9007199254740992", "\" 1\"", "-0.5"}) {
        client.cancel(none);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        client.fence();
        for (std::size_t other = i; other < ids.size(); ++other) {
            ASSERT_FALSE(server.marked("cancel", "p" + std::to_string(other))) << ids[other];
        }
        client.cancel(ids[i] == "1" ? "1.0" : ids[i]);  // a number with a zero fraction is that integer
        server.mark("cancel", "p" + std::to_string(i));
        const http_answer head = calls[i].head();
        EXPECT_EQ(head.status, 200);
        EXPECT_THAT(calls[i].body(), HasSubstr(R"("id":)" + ids[i] + ',')) << "in the bytes in which it came";
    }
}

TEST_P(http_rules, MSG_4_a_reason_is_capped_and_made_visible) {
    http_client one = client.call("71", "park", with_key("one"));
    http_client two = client.call("72", "park", with_key("two"));
    server.mark("start", "one");
    server.mark("start", "two");
    client.cancel("71", '"' + std::string(1'000'000, 'x') + '"');
    client.cancel("72", R"("bell \u0007, \u001b[31m red\r\nandon: info: forged")");
    server.mark("cancel", "two");
    EXPECT_LT(server.logged("request 71 (").size(), 2'000U);
    EXPECT_THAT(server.logged("request 72 ("), AllOf(HasSubstr(R"(bell \x07)"), HasSubstr(R"(\x1b[31m red)")));
    EXPECT_EQ(server.times_logged("andon: info: forged"), 1) << "inside its own line";
    for (const std::string& each : {server.logged("forged")}) EXPECT_THAT(each, HasSubstr("request 72"));
}

TEST_P(http_rules, RCV_1_a_call_still_queued_never_starts) {
    auto held = hold_workers(workers - 1);
    http_client last = client.call("71", "spin", with_key("last_worker", R"("ms":600000)"));
    server.mark("start", "last_worker");
    http_client withdrawn = client.call("72", "block", with_key("withdrawn", R"("ms":0)"));
    client.fence();
    http_client next = client.call("73", "block", with_key("next", R"("ms":0)"));
    client.fence();
    client.cancel("72");
    expect_cancelled(withdrawn);
    client.cancel("71");
    EXPECT_EQ(text_of(*outcome_of(next).message), "blocked 0 ms");
    EXPECT_FALSE(server.marked("start", "withdrawn"));
    client.until_free("72");
}

TEST_P(http_rules, RCV_1_RCV_10_one_that_blocks_is_answered_at_once_and_its_id_is_taken_until_it_returns) {
    http_client blocks = client.call("71", "block", with_key("blocks", R"("ms":500)"));
    server.mark("start", "blocks");
    client.cancel("71");
    expect_cancelled(blocks);
    EXPECT_FALSE(server.marked("end", "blocks")) << "it returned too soon to prove anything";
    const http_outcome again = client.answered("71", "echo", R"({"text":"x"})");
    EXPECT_EQ(code_of(*again.message), error_code::invalid_request);
    server.mark("end", "blocks");
    client.until_free("71");
}

TEST_P(http_rules, RCV_5_unknown_and_completed_are_ignored_and_keep_no_memory) {
    EXPECT_EQ(text_of(*client.answered("71", "echo", R"({"text":"done"})").message), "done");
    client.cancel("71");
    client.cancel("4711");
    client.cancel("\"nobody\"", R"("there is no such request")");
    http_client connection = client.connection();
    const auto cancel_many = [&](int first, int how_many) {
        for (int i = 0; i < how_many; i += 100) {
            std::string posts;
            for (int each = 0; each < 100; ++each) posts += client.post(cancel_line(std::to_string(first + i + each)));
            connection.write(posts);
            for (int each = 0; each < 100; ++each) ASSERT_EQ(connection.head().status, 202);
        }
    };
    cancel_many(1'000'000, 2'000);
    const long before = server.status("VmRSS:");
    cancel_many(2'000'000, 10'000);
    EXPECT_LT(server.status("VmRSS:") - before, kibibytes(2'048));
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_P(http_rules, RCV_7_the_first_cause_and_reason_stand) {
    http_client blocks = client.call("71", "block", with_key("blocks", R"("ms":300)"));
    server.mark("start", "blocks");
    client.cancel("71", R"("first")");
    client.cancel("71", R"("second")");
    expect_cancelled(blocks);
    client.until_free("71");
    EXPECT_THAT(server.logged("request 71 ("), AllOf(HasSubstr("first"), Not(HasSubstr("second"))));
    EXPECT_EQ(server.times_logged("cancelled: peer"), 1);
    EXPECT_TRUE(blocks.quiet());
}

TEST_P(http_rules, RCV_8_an_id_used_again_starts_clean) {
    for (int i = 0; i < 20; ++i) {
        const std::string key = "round" + std::to_string(i);
        http_client parked = client.call("71", "park", with_key(key));
        server.mark("start", key);
        client.cancel("71");
        expect_cancelled(parked);
        client.until_free("71");
    }
    EXPECT_EQ(text_of(*client.answered("71", "wait", R"({"ms":5,"tick_ms":1})").message), "waited 5 ms");
}

TEST_P(http_rules, RCV_9_exactly_one_of_answered_and_cancelled) {
    std::mt19937 random(2026);
    std::uniform_int_distribution<int> microseconds(0, 2'500);
    const std::array<std::string, 3> tools{"wait", "spin", "block"};
    constexpr int rounds = 200;
    int cancelled = 0;
    http_client canceller = client.connection();
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        http_client call = client.call("71", tools[static_cast<std::size_t>(i) % tools.size()],
                                       R"({"ms":)" + std::to_string(i % 3) + '}');
        const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds(random));
        while (std::chrono::steady_clock::now() < moment) {
        }
        canceller.write(client.post(cancel_line("71")));
        EXPECT_EQ(canceller.head().status, 202);
        const http_outcome answer = outcome_of(call);
        ASSERT_TRUE(answer.message);
        const bool stopped = code_of(*answer.message) == error_code::request_cancelled;
        if (!stopped) {
            EXPECT_THAT(text_of(*answer.message),
                        testing::AnyOf(HasSubstr("waited"), HasSubstr("rounds"), HasSubstr("blocked")));
        }
        cancelled += stopped ? 1 : 0;
        client.until_free("71");
        EXPECT_TRUE(call.quiet()) << "one answer";
        server.wait_until([&] { return server.times_logged("request 71 (") >= cancelled; }, "its cancel in the log");
        ASSERT_EQ(server.times_logged("request 71 ("), cancelled);
    }
    RecordProperty("cancelled", cancelled);
    EXPECT_GT(cancelled, 0);
    EXPECT_LT(cancelled, rounds);
}

TEST_P(http_rules, RCV_10_an_id_in_flight_is_refused_and_the_first_request_untouched) {
    http_client first = client.call("71", "park", with_key("first"));
    server.mark("start", "first");
    http_client second = client.call("71", "park", with_key("second"));
    const http_outcome refusal = outcome_of(second);
    EXPECT_EQ(refusal.head.status, 400);
    EXPECT_EQ(code_of(*refusal.message), error_code::invalid_request);
    EXPECT_THAT(message_of(*refusal.message), HasSubstr("already in flight"));
    EXPECT_TRUE(first.quiet());
    client.cancel("71");
    server.mark("cancel", "first");
    EXPECT_FALSE(server.marked("start", "second"));
}

TEST_P(http_rules, RCV_11_the_log_has_cause_reason_request_and_session) {
    http_client parked = client.call("\"the request\"", "park", with_key("parked"));
    server.mark("start", "parked");
    client.cancel("\"the request\"", R"("enough")");
    EXPECT_THAT(server.logged("cancelled:"), AllOf(HasSubstr(R"(request "the request" (tools/call park))"),
                                                   HasSubstr("of session "), HasSubstr("cancelled: peer, enough")));
}

TEST_P(http_rules, DIR_4_a_cancel_of_initialize_is_ignored) {
    client.cancel("\"hello\"");
    client.fence();
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

INSTANTIATE_TEST_SUITE_P(http, http_rules, testing::ValuesIn(legacy_http_revisions), revision_name());

/// What all revisions have in common.
class http_ids : public http_served {};

TEST_P(http_ids, MSG_3_ids_come_back_in_the_bytes_in_which_they_came) {
    for (const std::string_view id : {"1", "\"1\"", "0", "-7", "\"\"", "9007199254740993", "9223372036854775807",
                                      "-9223372036854775808", R"("\u0041")", R"("a\"b")", "1.0", "1e2"}) {
        http_client connection = client.call(id, "echo", R"({"text":"x"})");
        EXPECT_EQ(connection.head().status, 200) << id;
        EXPECT_THAT(connection.body(), HasSubstr(R"("id":)" + std::string(id) + ',')) << id;
    }
}

TEST_P(http_ids, DIR_6_equal_ids_of_two_revisions_on_one_endpoint) {
    http_caller other(server.port(), modern() ? revision::v2025_11_25 : revision::v2026_07_28);
    other.open();
    http_client here = client.call("71", "park", with_key("here"));
    http_client there = other.call("71", "park", with_key("there"));
    server.mark("start", "here");
    server.mark("start", "there");
    modern() ? here.close() : client.cancel("71");
    server.mark("cancel", "here");
    other.fence();
    EXPECT_FALSE(server.marked("cancel", "there"));
    modern() ? other.cancel("71") : there.close();
    server.mark("cancel", "there");
}

INSTANTIATE_TEST_SUITE_P(http, http_ids, testing::ValuesIn(http_revisions), revision_name());

}  // namespace
}  // namespace andon
