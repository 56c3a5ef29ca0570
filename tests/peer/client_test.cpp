// A client's side of a session that is established: our requests and their cancels, and what a server may ask of us.
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "core/test_time.hpp"
#include "peer/script.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

class client_peer : public testing::TestWithParam<script_case> {};

TEST_P(client_peer, goes_as_written) { play(GetParam(), peer_role::client); }

const std::string late = "ignored: an answer to nothing that is waited for: 16";

INSTANTIATE_TEST_SUITE_P(
    our_requests, client_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"answered", every_one, {{"start 16 tools/call", "send ..."}, {"result 16", "settle 16"}}},
        script_case{
            "answered_by_an_error", every_one, {{"start 16 tools/call", "send ..."}, {"error 16", "settle 16"}}},
        script_case{
            "answered_with_another_spelling_of_the_id",
            every_one,
            {{"start 16 tools/call", "send ..."}, {R"(hear {"jsonrpc":"2.0","id":16.0,"result":{}})", "settle 16"}}},
        script_case{"MSG_3_a_text_is_not_our_number",
                    every_one,
                    {{"start 16 tools/call", "send ..."},
                     {R"(hear {"jsonrpc":"2.0","id":"16","result":{}})",
                      R"(ignored: an answer to nothing that is waited for: "16")"},
                     {"result 16", "settle 16"}}},
        script_case{"in_another_order",
                    every_one,
                    {{"start 16 a", "send ..."},
                     {"start 17 b", "send ..."},
                     {"result 17", "settle 17"},
                     {"progress 16", "progress of 16"},
                     {"result 16", "settle 16"}}},
        script_case{"only_the_first_answer_counts",
                    every_one,
                    {{"start 16 a", "send ..."}, {"result 16", "settle 16"}, {"result 16", late}, {"error 16", late}}},
        script_case{"SND_3_a_cancel_tells_id_and_reason",
                    every_one,
                    {{"start 16 a", "send ..."},
                     {"stop 16 why not", R"(send {"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                         R"("params":{"requestId":16,"reason":"why not"}})"}}},
        script_case{"SND_3_a_cancel_without_a_reason",
                    every_one,
                    {{"start 16 a", "send ..."},
                     {"stop 16", R"(send {"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                 R"("params":{"requestId":16}})"}}},
        script_case{"SND_1_a_late_answer_is_dropped",
                    every_one,
                    {{"start 16 a", "send ..."},
                     {"stop 16", "send ..."},
                     {"result 16", late},
                     {"error 16", late},
                     {"progress 16", "ignored: progress for no request of ours"},
                     {"start 17 b", "send ..."},
                     {"result 17", "settle 17"}}},
        script_case{"DIR_3_never_what_was_not_sent", every_one, {{"stop 16 why", "nothing"}}},
        script_case{"DIR_3_never_what_was_answered",
                    every_one,
                    {{"start 16 a", "send ..."}, {"result 16", "settle 16"}, {"stop 16 why", "nothing"}}},
        script_case{"DIR_3_never_twice",
                    every_one,
                    {{"start 16 a", "send ..."}, {"stop 16 why", "send ..."}, {"stop 16 again", "nothing"}}},
        script_case{
            "DIR_3_never_what_was_forgotten",
            every_one,
            {{"start 16 a", "send ..."}, {"forget 16", "nothing"}, {"stop 16", "nothing"}, {"result 16", late}}},
        script_case{"DIR_4_never_the_handshake", every_one, {{"stop 1 why", "nothing"}, {"stop 2 why", "nothing"}}},
        script_case{"progress_for_nothing",
                    every_one,
                    {{"progress 16", "ignored: progress for no request of ours"},
                     {"progress \"16\"", "ignored: progress for no request of ours"},
                     {R"(hear {"jsonrpc":"2.0","method":"notifications/progress"})",
                      "ignored: progress for no request of ours"}}},
        script_case{"faults_are_never_answered",
                    every_one,
                    {{"hear {", "ignored: not a message: ..."},
                     {"hear 5", "ignored: not a message: ..."},
                     {R"(hear {"jsonrpc":"2.0","id":7,"method":5})", "ignored: not a message: ..."},
                     {R"(hear [)", "ignored: not a message: ..."},
                     {"too long", "ignored: not a message: ..."},
                     {R"(hear {"jsonrpc":"2.0","error":{"code":-32700}})", "ignored: an error for no request: ..."}}}}),
    by_name());

const std::string skipped = " is too long: it has more than 8 bytes, and was skipped";

INSTANTIATE_TEST_SUITE_P(
    too_long, client_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{
            "an_answer_is_that_of_its_request",
            every_one,
            {{R"(too long {"jsonrpc":"2.0","result":{"id":17,"method":"m"},"id":16.0})",
              "ignored: not a message: the answer" + skipped + " to 16"},
             {R"(too long {"id":16,"id":16,"error":{}})", "ignored: not a message: the answer" + skipped + " to 16"},
             {R"(too long {"jsonrpc":"2.0","id":16})", "ignored: not a message: the line" + skipped + " to 16"},
             {R"(too long {"id":16,"result":{)", "ignored: not a message: the answer" + skipped + " to 16"}}},
        script_case{
            "MSG_3_one_whose_id_is_none_is_anybodys",
            every_one,
            {{R"(too long {"jsonrpc":"2.0","result":1})",
              "ignored: not a message: the answer" + skipped + " to somebody"},
             {R"(too long {"id":16,"id":17,"result":1})",
              "ignored: not a message: the answer" + skipped + " to somebody"},
             {R"(too long {"id":16.5,"result":1})", "ignored: not a message: the answer" + skipped + " to somebody"}}},
        script_case{"MSG_3_one_that_cannot_be_ours_is_nobodys",
                    every_one,
                    {{R"(too long {"id":"16","result":1})", "ignored: not a message: the answer" + skipped},
                     {R"(too long {"id":null,"error":{}})", "ignored: not a message: the answer" + skipped},
                     {R"(too long {"error":{}})", "ignored: not a message: the answer" + skipped}}},
        script_case{"what_is_no_answer_is_nobodys",
                    every_one,
                    {{R"(too long {"method":"notifications/message","params":{"id":16}})",
                      "ignored: not a message: the notification" + skipped},
                     {R"(too long {"method":"m","id":16,"result":1})", "ignored: not a message: the request" + skipped},
                     {"too long Listening on port 80", "ignored: not a message: the line" + skipped},
                     {R"(too long {"id":16,)", "ignored: not a message: the line" + skipped}}},
        script_case{
            "a_request_is_answered",
            legacy_ones,
            {{R"(too long {"jsonrpc":"2.0","id":"\u0071","method":"roots/list"})",
              R"(send {"jsonrpc":"2.0","id":"\u0071","error":{"code":-32600,"message":"the request)" + skipped +
                  "\"}}"},
             {R"(too long {"id":[],"method":"roots/list"})", "ignored: not a message: the request" + skipped},
             {R"(too long {"id":5,"id":5,"method":"roots/list"})", "ignored: not a message: the request" + skipped}}},
        script_case{"a_modern_server_has_no_requests",
                    modern_ones,
                    {{R"(too long {"jsonrpc":"2.0","id":5,"method":"roots/list"})",
                      "ignored: not a message: the request" + skipped}}}}),
    by_name());

const std::string cancel_ignored = "ignored: a cancel from the server, which this revision does not have";

INSTANTIATE_TEST_SUITE_P(
    their_requests, client_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"a_request_of_the_server",
                    legacy_ones,
                    {{"request 5 sampling/createMessage", "handle 5 sampling/createMessage"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"ping", legacy_ones, {{"request 5 ping", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"DIR_1_the_server_cancels_its_own",
                    legacy_ones,
                    {{"request 16 sampling/createMessage", "handle 16 sampling/createMessage"},
                     {"start 16 tools/call", "send ..."},
                     {"cancelled 16 enough", "nothing"},
                     {"look 16", "cancelled, peer: enough"},
                     {"answer 16", "silence"},
                     {"result 16", "settle 16"}}},
        script_case{"DIR_1_the_server_never_cancels_ours",
                    legacy_ones,
                    {{"start 16 tools/call", "send ..."},
                     {"cancelled 16 enough", "ignored: a cancel of request 16: ..."},
                     {"result 16", "settle 16"}}},
        script_case{"DIR_2_a_modern_server_cancels_nothing",
                    modern_ones,
                    {{"start 16 tools/call", "send ..."},
                     {"cancelled 16 enough", cancel_ignored},
                     {"cancelled \"x\"", cancel_ignored},
                     {"result 16", "settle 16"}}},
        script_case{"SUB_2_a_modern_server_ends_a_subscription",
                    modern_ones,
                    {{"start 16 subscriptions/listen", "send ..."},
                     {"cancelled 17 enough", cancel_ignored},
                     {"cancelled 16 enough", "taken back 16"}}},
        script_case{"DIR_2_a_modern_server_asks_nothing",
                    modern_ones,
                    {{"request 5 sampling/createMessage",
                      "ignored: a request from the server, which this revision does not have"},
                     {"request 5 ping", "ignored: a request from the server, which this revision does not have"}}},
        script_case{"RCV_7_twice",
                    legacy_ones,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5 first", "nothing"},
                     {"cancelled 5 second", "ignored: a cancel of request 5: ..."},
                     {"look 5", "cancelled, peer: first"}}},
        script_case{"RCV_10_an_id_in_flight_is_refused",
                    legacy_ones,
                    {{"request 5 a", "handle 5 a"},
                     {"request 5 b", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"look 5", "running"}}},
        script_case{"notifications",
                    every_one,
                    {{R"(hear {"jsonrpc":"2.0","method":"notifications/message","params":{}})",
                      "notification notifications/message"}}}}),
    by_name());

struct started_case {
    const char* name;
    revision speaks;
    peer::outgoing request;
    std::string params;
};

class request_started : public testing::TestWithParam<started_case> {};

TEST_P(request_started, carries_what_the_revision_asks_for) {
    const started_case& given = GetParam();
    script_runner runner(peer_role::client, given.speaks);
    runner.establish();
    peer subject(runner.subject().settings(), runner.table(), runner.where());
    const padded answer(era_of(given.speaks) == era::modern
                            ? R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}})"
                            : R"({"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18"}})");
    static_cast<void>(subject.open(start));
    if (era_of(given.speaks) == era::legacy) static_cast<void>(subject.expire(at(std::chrono::seconds(5))));
    ASSERT_EQ(subject.receive(answer, start).what, next_step::established);
    const json::value message = json::parse(subject.start(20, given.request));
    EXPECT_EQ(message.at("id"), json::value(20));
    EXPECT_EQ(message.at("method"), json::value(given.request.method));
    EXPECT_EQ(message.at("params"), json::parse(given.params)) << message;
}

const std::string modern_meta = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                R"("io.modelcontextprotocol/clientInfo":{"name":"us","version":"1"},)"
                                R"("io.modelcontextprotocol/clientCapabilities":{})";

INSTANTIATE_TEST_SUITE_P(
    peer, request_started,
    testing::ValuesIn(std::vector<started_case>{
        started_case{"legacy_plain", revision::v2025_06_18, {.method = "a", .params = {{"x", 1}}}, R"({"x":1})"},
        started_case{"legacy_with_progress",
                     revision::v2025_06_18,
                     {.method = "a", .progress = true},
                     R"({"_meta":{"progressToken":20}})"},
        started_case{"legacy_keeps_its_meta",
                     revision::v2025_06_18,
                     {.method = "a", .params = {{"_meta", {{"mine", 1}}}}, .progress = true},
                     R"({"_meta":{"progressToken":20,"mine":1}})"},
        started_case{"legacy_has_no_log_level", revision::v2025_06_18, {.method = "a", .log_level = "debug"}, "{}"},
        started_case{"modern", revision::v2026_07_28, {.method = "a"}, R"({"_meta":{)" + modern_meta + "}}"},
        started_case{"modern_with_everything",
                     revision::v2026_07_28,
                     {.method = "a", .params = {{"_meta", {{"mine", 1}}}}, .progress = true, .log_level = "debug"},
                     R"({"_meta":{)" + modern_meta +
                         R"(,"progressToken":20,"io.modelcontextprotocol/logLevel":"debug","mine":1}})"}}),
    by_name());

}  // namespace
}  // namespace andon
