// How a session begins, on both sides, in every revision; and how it does not.
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "core/test_time.hpp"
#include "peer/script.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

struct handshake_case {
    const char* name;
    std::vector<revision> we_speak;
    std::vector<exchange> script;
    std::optional<revision> agreed{};
};

class client_handshake : public testing::TestWithParam<handshake_case> {};
class server_handshake : public testing::TestWithParam<handshake_case> {};

void shake_hands(const handshake_case& given, peer_role role) {
    script_runner runner(role, newest_legacy, {.revisions = given.we_speak});
    runner.play(given.script);
    EXPECT_EQ(runner.subject().established(), given.agreed.has_value());
    if (!given.agreed) return;
    EXPECT_EQ(runner.subject().speaks(), *given.agreed);
    EXPECT_FALSE(runner.subject().next_wake());
}

TEST_P(client_handshake, goes_as_written) { shake_hands(GetParam(), peer_role::client); }
TEST_P(server_handshake, goes_as_written) { shake_hands(GetParam(), peer_role::server); }

const std::string probe = R"(send {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{)"
                          R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientInfo":{"name":"us","version":"1"},)"
                          R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

std::string asks(std::string_view version) {
    return R"(send {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":")" +
           std::string(version) + R"(","capabilities":{},"clientInfo":{"name":"us","version":"1"}}})";
}

std::string discovered(const std::string& versions) {
    return R"(hear {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":)" + versions + "}}";
}

std::string refused(int code, const std::string& data = "{}") {
    return R"(hear {"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(code) + R"(,"message":"no","data":)" +
           data + "}}";
}

std::string initialized(std::string_view version) {
    return R"(hear {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":")" + std::string(version) + R"("}})";
}

const std::string done = R"(established, send {"jsonrpc":"2.0","method":"notifications/initialized"})";
const std::string newest = asks("2025-11-25");
const std::vector<revision> all = every_one;
constexpr auto v24 = revision::v2024_11_05;
constexpr auto v25 = newest_legacy;
constexpr auto v26 = newest_modern;

INSTANTIATE_TEST_SUITE_P(
    probe, client_handshake,
    testing::ValuesIn(std::vector<handshake_case>{
        handshake_case{"modern", all, {{"open", probe}, {discovered(R"(["2026-07-28"])"), "established"}}, v26},
        handshake_case{"of_both_eras_the_modern",
                       all,
                       {{"open", probe}, {discovered(R"(["2024-11-05","2026-07-28","2099-01-01"])"), "established"}},
                       v26},
        handshake_case{"with_only_legacy_revisions",
                       all,
                       {{"open", probe}, {discovered(R"(["2025-06-18"])"), newest}, {initialized("2025-06-18"), done}},
                       revision::v2025_06_18},
        handshake_case{"with_nothing_that_we_speak",
                       all,
                       {{"open", probe},
                        {discovered(R"(["2099-01-01"])"),
                         R"(failed: the server speaks no revision that we speak: ["2099-01-01"])"}}},
        handshake_case{
            "with_nothing_at_all",
            all,
            {{"open", probe}, {discovered("[]"), "failed: the server speaks no revision that we speak: []"}}},
        handshake_case{"with_names_that_are_none",
                       all,
                       {{"open", probe}, {discovered(R"([1,null,"2026-07-28"])"), "established"}},
                       v26},
        handshake_case{"a_result_that_is_none",
                       all,
                       {{"open", probe}, {discovered("5"), newest}, {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"unsupported_but_lists_legacy_ones",
                       all,
                       {{"open", probe},
                        {refused(-32022, R"({"supported":["2025-11-25","2024-11-05"]})"), newest},
                        {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"unsupported_and_lists_nothing_that_we_speak",
                       all,
                       {{"open", probe},
                        {refused(-32022, R"({"supported":["2099-01-01"]})"),
                         R"(failed: the server speaks no revision that we speak: ["2099-01-01"])"}}},
        handshake_case{"unsupported_but_lists_what_was_asked",
                       all,
                       {{"open", probe},
                        {refused(-32022, R"({"supported":["2026-07-28"]})"), probe},
                        {refused(-32022, R"({"supported":["2026-07-28"]})"),
                         "failed: the server refuses the revision that it says it speaks"},
                        {refused(-32022, R"({"supported":["2026-07-28"]})"), "ignored: ..."}}},
        handshake_case{"unsupported_and_then_supported_after_all",
                       all,
                       {{"open", probe},
                        {refused(-32022, R"({"supported":["2026-07-28"]})"), probe},
                        {discovered(R"(["2026-07-28"])"), "established"}},
                       v26},
        handshake_case{"unsupported_without_a_list",
                       all,
                       {{"open", probe}, {refused(-32022), newest}, {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"method_not_found",
                       all,
                       {{"open", probe}, {refused(-32601), newest}, {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"invalid_params",
                       all,
                       {{"open", probe}, {refused(-32602), newest}, {initialized("2024-11-05"), done}},
                       v24},
        handshake_case{"a_code_of_its_own_with_a_list",
                       all,
                       {{"open", probe}, {refused(7, R"({"supported":["2026-07-28"]})"), newest}}},
        handshake_case{
            "silence",
            all,
            {{"open", probe}, {"pass 1999", "nothing"}, {"pass 1", newest}, {initialized("2025-11-25"), done}},
            v25},
        handshake_case{"silence_and_then_a_late_refusal",
                       all,
                       {{"open", probe},
                        {"pass 2000", newest},
                        {refused(-32601), "ignored: a late answer to server/discover"},
                        {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"silence_and_then_late_and_modern",
                       all,
                       {{"open", probe},
                        {"pass 2000", newest},
                        {discovered(R"(["2026-07-28"])"), "established"},
                        {"error 2", "ignored: an answer to nothing that is waited for: 2"}},
                       v26},
        handshake_case{"late_when_the_session_is_legacy",
                       all,
                       {{"open", probe},
                        {"pass 2000", newest},
                        {initialized("2025-11-25"), done},
                        {discovered(R"(["2026-07-28"])"), "ignored: an answer to nothing that is waited for: 1"}},
                       v25},
        handshake_case{"silence_for_ever",
                       all,
                       {{"open", probe},
                        {"pass 2000", newest},
                        {"pass 29999", "nothing"},
                        {"pass 1", "failed: the server did not answer initialize in time"},
                        {"pass 100000", "nothing"},
                        {initialized("2025-11-25"), "ignored: an answer to nothing that we asked"}}},
        handshake_case{
            "a_modern_client_has_nothing_to_fall_back_on",
            {v26},
            {{"open", probe}, {refused(-32601), "failed: the server speaks no revision that we speak: ..."}}},
        handshake_case{
            "what_a_server_says_meanwhile",
            all,
            {{"open", probe},
             {"hear garbage", "ignored: not a message: ..."},
             {"request 1 ping", "ignored: a request from the server, ..."},
             {"cancelled 1", "ignored: a cancel from the server, ..."},
             {R"(hear {"jsonrpc":"2.0","id":null,"error":{"code":-32700}})",
              "ignored: an answer to nothing that we asked"},
             {R"(hear {"jsonrpc":"2.0","id":"1","result":{}})", "ignored: an answer to nothing that we asked"},
             {discovered(R"(["2026-07-28"])"), "established"}},
            v26}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    initialize, client_handshake,
    testing::ValuesIn(std::vector<handshake_case>{
        handshake_case{
            "first_where_we_are_legacy", legacy_ones, {{"open", newest}, {initialized("2025-11-25"), done}}, v25},
        handshake_case{"of_the_only_one_that_we_speak",
                       {v24},
                       {{"open", asks("2024-11-05")}, {initialized("2024-11-05"), done}},
                       v24},
        handshake_case{"answered_with_an_older_one",
                       legacy_ones,
                       {{"open", newest}, {initialized("2025-03-26"), done}},
                       revision::v2025_03_26},
        handshake_case{
            "answered_with_one_that_we_do_not_speak",
            {v25, v24},
            {{"open", newest},
             {initialized("2025-06-18"), "failed: the server speaks a revision that we do not: 2025-06-18"}}},
        handshake_case{
            "answered_with_one_that_nobody_speaks",
            legacy_ones,
            {{"open", newest}, {initialized("x\\n"), R"(failed: the server speaks a revision that we do not: x\n)"}}},
        handshake_case{
            "answered_with_a_modern_one",
            all,
            {{"open", probe},
             {refused(-32601), newest},
             {initialized("2026-07-28"), "failed: the server speaks a revision that we do not: 2026-07-28"}}},
        handshake_case{"answered_without_a_version",
                       legacy_ones,
                       {{"open", newest}, {"result 2", "failed: the server speaks a revision that we do not: "}}},
        handshake_case{
            "refused", legacy_ones, {{"open", newest}, {"error 2", "failed: the server refused initialize: no"}}},
        handshake_case{"DIR_4_cannot_be_cancelled",
                       legacy_ones,
                       {{"open", newest}, {"stop 2 why", "nothing"}, {initialized("2025-11-25"), done}},
                       v25},
        handshake_case{"DIR_4_nor_can_the_probe", all, {{"open", probe}, {"stop 1 why", "nothing"}}},
        handshake_case{"ping_meanwhile",
                       legacy_ones,
                       {{"open", newest}, {"request 9 ping", R"(send {"jsonrpc":"2.0","id":9,"result":{}})"}}}}),
    by_name());

std::string initialize(std::string_view version) {
    return R"(hear {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
           std::string(version) + R"(","capabilities":{"roots":{}},"clientInfo":{"name":"them"}}})";
}

std::string agrees(std::string_view version) {
    return R"(established, send {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":")" + std::string(version) +
           R"(","capabilities":{},"serverInfo":{"name":"us","version":"1"}}})";
}

std::string modern(const std::string& method, const std::string& version = "2026-07-28",
                   const std::string& rest = R"(,"io.modelcontextprotocol/clientCapabilities":{})") {
    return R"(hear {"jsonrpc":"2.0","id":5,"method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":")" + version + '"' + rest + "}}}";
}

const std::string invalid = R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32602,...)";

INSTANTIATE_TEST_SUITE_P(
    initialize, server_handshake,
    testing::ValuesIn(std::vector<handshake_case>{
        handshake_case{"v2024_11_05", all, {{initialize("2024-11-05"), agrees("2024-11-05")}}, v24},
        handshake_case{"v2025_03_26", all, {{initialize("2025-03-26"), agrees("2025-03-26")}}, revision::v2025_03_26},
        handshake_case{"v2025_06_18", all, {{initialize("2025-06-18"), agrees("2025-06-18")}}, revision::v2025_06_18},
        handshake_case{"v2025_11_25", all, {{initialize("2025-11-25"), agrees("2025-11-25")}}, v25},
        handshake_case{"the_modern_one_has_none", all, {{initialize("2026-07-28"), agrees("2025-11-25")}}, v25},
        handshake_case{"one_that_nobody_knows", all, {{initialize("2099-01-01"), agrees("2025-11-25")}}, v25},
        handshake_case{"one_that_we_do_not_speak", {v24}, {{initialize("2025-06-18"), agrees("2024-11-05")}}, v24},
        handshake_case{
            "of_a_modern_server",
            {v26},
            {{initialize("2025-06-18"), R"(send {"jsonrpc":"2.0","id":0,"error":{"code":-32022,)"
                                        R"("message":"Unsupported protocol version: this server speaks no )"
                                        R"(revision that has initialize","data":{"supported":["2026-07-28"]}}})"}}},
        handshake_case{
            "without_a_version",
            all,
            {{R"(hear {"jsonrpc":"2.0","id":5,"method":"initialize","params":{}})", invalid},
             {R"(hear {"jsonrpc":"2.0","id":5,"method":"initialize"})", invalid},
             {R"(hear {"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":5}})", invalid}}},
        handshake_case{"ping_before", all, {{"request 5 ping", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"}}},
        handshake_case{"nothing_else_before", all, {{"request 5 tools/list", invalid}}},
        handshake_case{"DIR_4_a_cancel_of_it_is_ignored",
                       all,
                       {{initialize("2025-06-18"), agrees("2025-06-18")},
                        {"cancelled 0 gave up", "ignored: a cancel of request 0: ..."},
                        {"request 1 a", "handle 1 a"}},
                       revision::v2025_06_18}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    modern, server_handshake,
    testing::ValuesIn(std::vector<handshake_case>{
        handshake_case{"a_request_speaks_for_itself", all, {{modern("a"), "handle 5 a"}}},
        handshake_case{"also_in_a_legacy_session",
                       all,
                       {{initialize("2025-06-18"), agrees("2025-06-18")},
                        {modern("a"), "handle 5 a"},
                        {"request 6 b", "handle 6 b"},
                        {"cancelled 5", "nothing"},
                        {"cancelled 6", "nothing"}},
                       revision::v2025_06_18},
        handshake_case{
            "discover",
            all,
            {{modern("server/discover"),
              R"(send {"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","supportedVersions":)"
              R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{},...)"}}},
        handshake_case{"discover_without_meta", all, {{"request 5 server/discover", invalid}}},
        handshake_case{"without_capabilities",
                       all,
                       {{modern("a", "2026-07-28", ""), invalid},
                        {modern("a", "2026-07-28", R"(,"io.modelcontextprotocol/clientCapabilities":5)"), invalid}}},
        handshake_case{
            "a_version_that_nobody_knows",
            all,
            {{modern("a", "2099-01-01"),
              R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32022,"message":"Unsupported protocol version",)"
              R"("data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],)"
              R"("requested":"2099-01-01"}}})"}}},
        handshake_case{"a_legacy_version_without_initialize",
                       all,
                       {{modern("a", "2025-06-18"), R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32022,...)"}}},
        handshake_case{"a_legacy_version_after_initialize",
                       all,
                       {{initialize("2025-06-18"), agrees("2025-06-18")}, {modern("a", "2025-06-18"), "handle 5 a"}},
                       revision::v2025_06_18},
        handshake_case{"to_a_legacy_server",
                       legacy_ones,
                       {{modern("a"), R"(send {"jsonrpc":"2.0","id":5,"error":{"code":-32022,...)"}}}}),
    by_name());

TEST(peer, a_request_is_to_be_answered_in_the_revision_in_which_it_came) {
    script_runner runner(peer_role::server, revision::v2025_06_18);
    runner.establish();
    peer subject({}, runner.table(), runner.where());
    const padded first(initialize("2024-11-05").substr(5));
    const padded second(modern("a").substr(5));
    const padded third(R"({"jsonrpc":"2.0","id":6,"method":"b"})");
    EXPECT_EQ(subject.receive(first, start).what, next_step::established);
    EXPECT_EQ(subject.their_capabilities(), json::object({{"roots", json::object()}}));
    EXPECT_EQ(subject.their_implementation(), json::object({{"name", "them"}}));
    EXPECT_EQ(subject.receive(second, start).speaks, v26);
    EXPECT_EQ(subject.receive(third, start).speaks, v24);
}

TEST(peer, RCV_5_what_is_uncancellable_is_not_cancelled_by_the_peer) {
    script_runner runner(peer_role::server, newest_legacy, {.options_for = [](const envelope& message) {
                             return begin_options{.peer_may_cancel = message.method != "firm"};
                         }});
    runner.establish();
    runner.play({{"request 5 firm", "handle 5 firm"},
                 {"request 6 soft", "handle 6 soft"},
                 {"cancelled 5", "ignored: a cancel of request 5: ..."},
                 {"cancelled 6", "nothing"},
                 {"look 5", "running"},
                 {"answer 5", R"(send {"jsonrpc":"2.0","id":5,"result":{}})"},
                 {"answer 6", "silence"}});
}

TEST(peer, its_label_in_the_table_is_the_method_and_the_name) {
    script_runner runner(peer_role::server, newest_legacy);
    runner.establish();
    runner.run(R"(hear {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}})");
    ASSERT_EQ(runner.table().list().size(), 1U);
    EXPECT_EQ(runner.table().list().front().label, "tools/call echo");
    runner.run("end 5");
}

}  // namespace
}  // namespace andon
