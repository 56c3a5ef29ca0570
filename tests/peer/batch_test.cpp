// Several messages on one line: only 2025-03-26 has that.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "core/named_case.hpp"
#include "peer/script.hpp"

namespace andon {
namespace {

class server_batch : public testing::TestWithParam<script_case> {};
class client_batch : public testing::TestWithParam<script_case> {};

TEST_P(server_batch, goes_as_written) { play(GetParam(), peer_role::server); }
TEST_P(client_batch, goes_as_written) { play(GetParam(), peer_role::client); }

std::string request(const std::string& id, const std::string& method) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"("})";
}

std::string cancelled(const std::string& id) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}";
}

std::string result(const std::string& id) { return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})"; }

template <class... Messages>
std::string hear(const Messages&... messages) {
    std::string all;
    ((all += (all.empty() ? "" : ",") + messages), ...);
    return "hear [" + all + "]";
}

const std::vector<revision> with_batches{revision::v2025_03_26};
const std::vector<revision> without_batches{revision::v2024_11_05, revision::v2025_06_18, revision::v2025_11_25,
                                            revision::v2026_07_28};

const std::string skipped = " is too long: it has more than 8 bytes, and was skipped";

const std::string modern_meta = R"("params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28")";

INSTANTIATE_TEST_SUITE_P(
    peer, server_batch,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"answered_as_one_when_the_last_is_there",
                    with_batches,
                    {{hear(request("1", "a"), request("2", "b")), "handle 1 a | handle 2 b"},
                     {"answer 2", "into the batch"},
                     {"answer 1", "send [" + result("2") + "," + result("1") + "]"}}},
        script_case{"of_notifications_alone",
                    with_batches,
                    {{hear(cancelled("9"), std::string(R"({"jsonrpc":"2.0","method":"n"})")),
                      "ignored: a cancel of request 9: unknown | notification n"}}},
        script_case{"of_one_ping", with_batches, {{hear(request("1", "ping")), "send [" + result("1") + "]"}}},
        script_case{"RCV_3_what_was_cancelled_is_left_out",
                    with_batches,
                    {{hear(request("1", "a"), request("2", "b")), "handle 1 a | handle 2 b"},
                     {"cancelled 1", "nothing"},
                     {"answer 1", "silence"},
                     {"answer 2", "send [" + result("2") + "]"}}},
        script_case{"RCV_3_all_cancelled_is_silence",
                    with_batches,
                    {{hear(request("1", "a"), request("2", "b")), "handle 1 a | handle 2 b"},
                     {"cancelled 1", "nothing"},
                     {"cancelled 2", "nothing"},
                     {"answer 1", "silence"},
                     {"answer 2", "silence"}}},
        script_case{
            "RCV_3_cancelled_in_the_same_batch",
            with_batches,
            {{hear(request("1", "a"), cancelled("1"), request("2", "ping")), "handle 1 a | nothing | into the batch"},
             {"look 1", "cancelled, peer: "},
             {"answer 1", "send [" + result("2") + "]"}}},
        script_case{"RCV_10_an_id_twice_in_it",
                    with_batches,
                    {{hear(request("1", "a"), request("1", "b")), "handle 1 a | into the batch"},
                     {"look 1", "running"},
                     {"answer 1", R"(send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,...)"}}},
        script_case{
            "what_is_no_message_is_refused_alone",
            with_batches,
            {{hear(std::string("7"), std::string(R"({"jsonrpc":"2.0","id":3,"method":5})"), request("1", "ping")),
              R"(into the batch | into the batch | send [{"jsonrpc":"2.0","id":null,"error":{"code":-32600,...)"}}},
        script_case{"initialize_is_refused_alone",
                    with_batches,
                    {{hear(request("1", "initialize"), request("2", "ping")),
                      R"(into the batch | send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,...)"}}},
        script_case{"HTTP_1_modern_requests_in_it_are_refused",
                    with_batches,
                    {{hear(R"({"jsonrpc":"2.0","id":1,"method":"a",)" + modern_meta + "}}}",
                           R"({"jsonrpc":"2.0","id":2,"method":"ping",)" + modern_meta +
                               R"(,"io.modelcontextprotocol/clientCapabilities":{}}}})",
                           R"({"jsonrpc":"2.0","id":3,"method":"server/discover",)" + modern_meta +
                               R"(,"io.modelcontextprotocol/clientCapabilities":{}}}})",
                           request("4", "b")),
                      "into the batch | into the batch | into the batch | handle 4 b"},
                     {"answer 4", R"(send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,...)"}}},
        script_case{
            "answers_in_it",
            with_batches,
            {{"start 16 roots/list", "send ..."}, {hear(result("16"), result("17")), "settle 16 | ignored: ..."}}},
        script_case{
            "empty", with_batches, {{"hear []", R"(send {"jsonrpc":"2.0","id":null,"error":{"code":-32600,...)"}}},
        script_case{
            "broken",
            with_batches,
            {{"hear [" + request("1", "a") + ",]", R"(send {"jsonrpc":"2.0","id":null,"error":{"code":-32700,...)"},
             {"request 1 b", "handle 1 b"}}},
        script_case{"in_a_revision_that_has_none",
                    without_batches,
                    {{"hear [" + request("1", "a") + "]", "send {..."}, {"request 1 b", "handle 1 b"}}},
        script_case{"too_long",
                    with_batches,
                    {{"too long [" + request("1", "a") + R"(,{"method":"n"},)" + request("2", "b") + "]",
                      "into the batch | ignored: not a message: the notification" + skipped +
                          R"( | send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,...)"},
                     {"too long [" + request("1", "a") + ",",
                      R"(into the batch | send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,...)"}}},
        script_case{"too_long_in_a_revision_that_has_none",
                    without_batches,
                    {{"too long [" + request("1", "a") + "]",
                      "ignored: not a message: the request" + skipped + " | send {..."}}}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    peer, client_batch,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"of_a_server",
                    with_batches,
                    {{"start 16 a", "send ..."},
                     {hear(result("16"), request("1", "ping"), request("2", "roots/list"), cancelled("2")),
                      "settle 16 | into the batch | handle 2 roots/list | nothing"},
                     {"answer 2", "send [" + result("1") + "]"}}},
        script_case{"is_not_answered_where_there_are_none",
                    without_batches,
                    {{"hear [" + request("1", "ping") + "]", "ignored: not a message: ..."}}},
        script_case{"too_long",
                    with_batches,
                    {{"too long [" + result("16") + "," + request("1", "a") + "," + result("17"),
                      "ignored: not a message: the answer" + skipped +
                          R"( to 16 | send [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,)"
                          R"("message":"the request)" +
                          skipped + R"("}}] | ignored: not a message: the answer)" + skipped +
                          " to 17 | ignored: not a message: the line" + skipped}}},
        script_case{"too_long_where_there_are_none",
                    without_batches,
                    {{"too long [" + result("16") + "," + request("1", "a") + "]",
                      "ignored: not a message: the answer" + skipped + " to 16 | ignored: not a message: the request" +
                          skipped + " | ignored: not a message: a batch: ..."}}}}),
    by_name());

TEST(peer_batch, before_the_session_is_established_there_are_none) {
    script_runner runner(peer_role::server, revision::v2025_03_26);
    runner.play({{"hear [" + request("1", "ping") + "]", "send {..."}});
}

TEST(batch_answers, come_from_any_thread_and_are_sent_once) {
    constexpr int threads = 4;
    constexpr int each = 200;
    batch_answers answers(threads * each);
    std::atomic<int> sent = 0;
    std::string whole;
    {
        std::vector<std::jthread> running;
        for (int t = 0; t < threads; ++t) {
            running.emplace_back([&, t] {
                for (int i = 0; i < each; ++i) {
                    std::optional<std::string> line = answers.add(i % 2 == 0 ? std::to_string(t) : "");
                    if (!line) continue;
                    ++sent;
                    whole = std::move(*line);
                }
            });
        }
    }
    EXPECT_EQ(sent, 1);
    EXPECT_EQ(std::count(whole.begin(), whole.end(), ','), threads * each / 2 - 1);
}

}  // namespace
}  // namespace andon
