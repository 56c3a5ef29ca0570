// A server's side of a session that is established: requests, cancels and answers in every order.
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "peer/script.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

class server_peer : public testing::TestWithParam<script_case> {};

TEST_P(server_peer, goes_as_written) { play(GetParam(), peer_role::server); }

INSTANTIATE_TEST_SUITE_P(
    cancels, server_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"a_request_and_its_answer",
                    every_one,
                    {{"request 5 tools/call", "handle 5 tools/call"},
                     {"look 5", "running"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"MSG_1_cancelled_with_a_reason",
                    every_one,
                    {{"request 5 tools/call", "handle 5 tools/call"},
                     {"cancelled 5 no longer needed", "nothing"},
                     {"look 5", "cancelled, peer: no longer needed"},
                     {"answer 5", "silence"}}},
        script_case{"MSG_1_cancelled_without_a_reason",
                    every_one,
                    {{"request \"a\" tools/call", "handle \"a\" tools/call"},
                     {"cancelled \"a\"", "nothing"},
                     {"look \"a\"", "cancelled, peer: "},
                     {"end \"a\"", "silence"}}},
        script_case{"MSG_2_without_an_id",
                    every_one,
                    {{"request 5 tools/call", "handle 5 tools/call"},
                     {R"(hear {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r"}})",
                      "ignored: a cancel without a valid requestId"},
                     {"look 5", "running"}}},
        script_case{"MSG_3_only_with_type_and_value",
                    every_one,
                    {{"request 1 a", "handle 1 a"},
                     {"request \"1\" b", "handle \"1\" b"},
                     {"request 9007199254740993 c", "handle 9007199254740993 c"},
                     {"request 0 d", "handle 0 d"},
                     {"request \"\" e", "handle \"\" e"},
                     {"request -1 f", "handle -1 f"},
                     {"cancelled \"1\"", "nothing"},
                     {"cancelled 9007199254740994", "ignored: a cancel of request 9007199254740994: ..."},
                     {"cancelled 1.9", "ignored: a cancel without a valid requestId"},
                     {"cancelled \"\"", "nothing"},
                     {"cancelled -1", "nothing"},
                     {"look 1", "running"},
                     {"look \"1\"", "cancelled, peer: "},
                     {"look 9007199254740993", "running"},
                     {"look 0", "running"},
                     {"look \"\"", "cancelled, peer: "},
                     {"look -1", "cancelled, peer: "}}},
        script_case{
            "MSG_3_a_zero_fraction_is_that_integer",
            every_one,
            {{"request 1.0 a", "handle 1.0 a"}, {"cancelled 10e-1", "nothing"}, {"look 1.0", "cancelled, peer: "}}},
        script_case{"MSG_3_escapes_are_no_difference",
                    every_one,
                    {{R"(request "a\u0062" a)", R"(handle "a\u0062" a)"},
                     {R"(cancelled "\u0061b")", "nothing"},
                     {R"(answer "a\u0062")", "silence"}}},
        script_case{"MSG_3_an_id_is_echoed_as_it_came",
                    every_one,
                    {{R"(request "\u0061" a)", R"(handle "\u0061" a)"},
                     {R"(answer "\u0061")", R"(send {"jsonrpc":"2.0","id":"\u0061","result":{}})"}}},
        script_case{"MSG_4_control_characters_in_a_reason",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5 red \x1b[31m", "nothing"},
                     {"look 5", R"(cancelled, peer: red \x1b[31m)"}}},
        script_case{"MSG_4_a_reason_of_a_megabyte",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5 " + std::string(1U << 20U, 'x'), "nothing"},
                     {"look 5", "cancelled, peer: xxxxxxxx..."}}},
        script_case{"RCV_5_unknown",
                    every_one,
                    {{"cancelled 5", "ignored: a cancel of request 5: ..."},
                     {"cancelled \"" + std::string(100'000, 'x') + '"', "ignored: a cancel of request ..."}}},
        script_case{"RCV_5_before_its_request",
                    every_one,
                    {{"cancelled 5", "ignored: a cancel of request 5: ..."},
                     {"request 5 a", "handle 5 a"},
                     {"look 5", "running"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"RCV_5_completed",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"},
                     {"cancelled 5", "ignored: a cancel of request 5: ..."}}},
        script_case{"RCV_7_twice",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5 first", "nothing"},
                     {"cancelled 5 second", "ignored: a cancel of request 5: ..."},
                     {"look 5", "cancelled, peer: first"},
                     {"answer 5", "silence"}}},
        script_case{"RCV_8_an_id_used_again_starts_clean",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5 first", "nothing"},
                     {"answer 5", "silence"},
                     {"request 5 b", "handle 5 b"},
                     {"look 5", "running"},
                     {"cancelled 5 again", "nothing"},
                     {"look 5", "cancelled, peer: again"}}},
        script_case{"RCV_10_an_id_in_flight_is_refused",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"request 5 b", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"request 5.0 b", R"(send {"jsonrpc":"2.0","id":5.0,"error":{"code":-32600,...)"},
                     {"look 5", "running"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"RCV_10_also_by_what_is_answered_on_the_spot",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"request 5 ping", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"request 5 initialize", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"request 5 server/discover", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"},
                     {"request 5 a", "handle 5 a"}}},
        script_case{"RCV_10_also_while_it_is_being_cancelled",
                    every_one,
                    {{"request 5 a", "handle 5 a"},
                     {"cancelled 5", "nothing"},
                     {"request 5 b", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32600,...)"},
                     {"answer 5", "silence"}}}}),
    by_name());

TEST(peer_server, RCV_10_also_when_the_session_is_full) {
    in_flight table({.max_per_session = 1});
    const session in = table.open_session();
    peer subject({.implementation = {{"name", "us"}}}, table, in);
    const time_point now(std::chrono::hours(1));
    static_cast<void>(subject.receive(
        padded(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})"), now));
    const peer_step first = subject.receive(padded(R"({"jsonrpc":"2.0","id":5,"method":"a"})"), now);
    ASSERT_EQ(first.what, next_step::handle_request);
    const peer_step second = subject.receive(padded(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), now);
    EXPECT_EQ(second.what, next_step::send);
    EXPECT_EQ(second.code, error_code::invalid_request) << second.bytes;
}

script_case malformed(const char* name, const std::string& message, const std::string& note) {
    return {name,
            every_one,
            {{"request 5 a", "handle 5 a"},
             {R"(hear {"jsonrpc":"2.0","method":"notifications/cancelled")" + message + "}", "ignored: " + note},
             {"look 5", "running"},
             {"request 6 b", "handle 6 b"},
             {"cancelled 6", "nothing"}}};
}

const std::string no_id = "a cancel without a valid requestId";
const std::string no_reason = "a cancel whose reason is no string";

INSTANTIATE_TEST_SUITE_P(
    malformed, server_peer,
    testing::ValuesIn(std::vector<script_case>{
        malformed("RCV_6_no_params", "", no_id), malformed("RCV_6_empty_params", R"(,"params":{})", no_id),
        malformed("RCV_6_params_an_array", R"(,"params":[5])", "not a message: params must be an object"),
        malformed("RCV_6_params_null", R"(,"params":null)", "not a message: params must be an object"),
        malformed("RCV_6_id_null", R"(,"params":{"requestId":null})", no_id),
        malformed("RCV_6_id_a_fraction", R"(,"params":{"requestId":5.5})", no_id),
        malformed("RCV_6_id_an_object", R"(,"params":{"requestId":{"id":5}})", no_id),
        malformed("RCV_6_id_an_array", R"(,"params":{"requestId":[5]})", no_id),
        malformed("RCV_6_id_true", R"(,"params":{"requestId":true})", no_id),
        malformed("RCV_6_id_beyond_64_bits", R"(,"params":{"requestId":18446744073709551621})", no_id),
        malformed("RCV_6_reason_a_number", R"(,"params":{"requestId":5,"reason":1})", no_reason),
        malformed("RCV_6_reason_null", R"(,"params":{"requestId":5,"reason":null})", no_reason),
        malformed("RCV_6_reason_an_object", R"(,"params":{"requestId":5,"reason":{}})", no_reason),
        script_case{
            "RCV_6_sent_as_a_request_is_a_method_nobody_has",
            every_one,
            {{"request 5 a", "handle 5 a"},
             {"request 6 notifications/cancelled", R"(send {"jsonrpc":"2.0","id":6,"error":{"code":-32601,...)"},
             {"look 5", "running"}}}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    directions, server_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"DIR_1_a_cancel_of_theirs_never_touches_a_request_of_ours",
                    legacy_ones,
                    {{"start 16 roots/list", R"(send {"jsonrpc":"2.0","id":16,"method":"roots/list","params":{}})"},
                     {"cancelled 16 mine", "ignored: a cancel of request 16: ..."},
                     {"result 16", "settle 16"}}},
        script_case{"DIR_1_equal_ids_in_both_directions",
                    legacy_ones,
                    {{"start 16 roots/list", "send ..."},
                     {"request 16 tools/call", "handle 16 tools/call"},
                     {"stop 16 ours", R"(send {"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                      R"("params":{"requestId":16,"reason":"ours"}})"},
                     {"look 16", "running"},
                     {"answer 16", R"(send {"jsonrpc":"2.0","id":16,"result":{}})"}}},
        script_case{
            "DIR_4_a_cancel_of_initialize_is_ignored",
            legacy_ones,
            {{"cancelled \"i\" timeout", "ignored: a cancel of request \"i\": ..."}, {"request 5 a", "handle 5 a"}}},
        script_case{"an_answer_that_is_broken_is_not_answered_to_its_id",
                    legacy_ones,
                    {{"start 16 roots/list", "send ..."},
                     {R"(hear {"id":16,"result":{}})", "ignored: not a message: ..."},
                     {"result 16", "settle 16"}}},
        script_case{
            "an_answer_to_nothing",
            every_one,
            {{"result 16", "ignored: an answer to nothing that is waited for: 16"},
             {"error \"x\"", "ignored: an answer to nothing that is waited for: \"x\""},
             {R"(hear {"jsonrpc":"2.0","id":null,"error":{"code":1}})", "ignored: an error for no request: ..."}}}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    messages, server_peer,
    testing::ValuesIn(std::vector<script_case>{
        script_case{"ping", legacy_ones, {{"request 5 ping", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        script_case{"ping_is_no_method_of_the_modern",
                    modern_ones,
                    {{"request 5 ping", R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32601,...)"}}},
        script_case{"notifications",
                    every_one,
                    {{R"(hear {"jsonrpc":"2.0","method":"notifications/initialized"})", "nothing"},
                     {R"(hear {"jsonrpc":"2.0","method":"notifications/roots/list_changed"})",
                      "notification notifications/roots/list_changed"},
                     {"progress 3", "ignored: progress for no request of ours"}}},
        script_case{"no_json",
                    {revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18},
                    {{"hear {", R"(send {"jsonrpc":"2.0","id":null,"error":{"code":-32700,...)"},
                     {"too long", R"(send {"jsonrpc":"2.0","id":null,"error":{"code":-32600,...)"},
                     {"request 5 a", "handle 5 a"}}},
        script_case{"no_json_later",
                    {revision::v2025_11_25, revision::v2026_07_28},
                    {{"hear {", R"(send {"jsonrpc":"2.0","error":{"code":-32700,...)"},
                     {"too long", R"(send {"jsonrpc":"2.0","error":{"code":-32600,...)"},
                     {"request 5 a", "handle 5 a"}}},
        script_case{"a_request_that_is_too_long_is_answered_to_its_id",
                    every_one,
                    {{R"(too long {"jsonrpc":"2.0","params":{"id":8},"method":"a","id":"\u0061"})",
                      R"(send {"jsonrpc":"2.0","id":"\u0061","error":{"code":-32600,...)"},
                     {R"(too long {"jsonrpc":"2.0","id":9007199254740993})",
                      R"(send {"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32600,...)"},
                     {R"(too long {"jsonrpc":"2.0","method":"n","params":{"id":7}})", "ignored: not a message: ..."},
                     {R"(too long {"jsonrpc":"2.0","result":{},"id":16})", "ignored: not a message: ..."}}},
        script_case{"MSG_3_and_to_none_where_its_id_is_no_id",
                    {revision::v2025_03_26},
                    {{R"(too long {"id":1.5,"method":"a"})", R"(send {"jsonrpc":"2.0","id":null,"error":...)"},
                     {R"(too long {"id":7,"id":7,"method":"a"})", R"(send {"jsonrpc":"2.0","id":null,"error":...)"},
                     {R"(too long {"id":"\x","method":"a"})", R"(send {"jsonrpc":"2.0","id":null,"error":...)"},
                     {R"(too long {"method":"a","id":)", R"(send {"jsonrpc":"2.0","id":null,"error":...)"}}},
        script_case{"an_invalid_request_is_answered_to_its_id",
                    every_one,
                    {{R"(hear {"jsonrpc":"2.0","id":7,"method":5})",
                      R"(send {"jsonrpc":"2.0","id":7,"error":{"code":-32600,...)"}}},
        script_case{
            "too_many_at_once_are_refused", every_one,
            [] {
                std::vector<exchange> script;
                for (int i = 0; i < 64; ++i) {
                    const std::string id = std::to_string(i);
                    script.push_back({"request " + id + " a", "handle " + id + " a"});
                }
                script.push_back({"request 64 a", R"(send {"jsonrpc":"2.0","id":64,"error":{"code":-32600,...)"});
                script.push_back({"end 7", "silence"});
                script.push_back({"request 64 a", "handle 64 a"});
                return script;
            }()}}),
    by_name());

}  // namespace
}  // namespace andon
