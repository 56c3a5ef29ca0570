// 2026-07-28: what the headers repeat of the body, and the answers of the transport page where they do not agree.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view json_version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
constexpr std::string_view no_capabilities = R"("io.modelcontextprotocol/clientCapabilities":{})";

class http_mirrored : public testing::Test {
protected:
    /// A call of echo with these headers, and what of the usual ones is not among them.
    http_outcome echo(const http_headers& others, std::string_view body = {}) const {
        http_headers all{{"Content-Type", "application/json"}, {"Accept", std::string(takes_both)}};
        for (const auto& [name, value] : others) {
            if (value != absent) all.emplace_back(name, value);
        }
        for (const auto& [name, value] :
             http_headers{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}}) {
            bool given = false;
            for (const auto& each : others) given = given || equal(each.first, name);
            if (!given) all.emplace_back(name, value);
        }
        const std::string good = call_line(revision::v2026_07_28, "71", "echo", R"({"text":"x"})");
        http_client connection = client.send(http_message("POST", all, body.empty() ? good : body));
        return outcome_of(connection);
    }
    static void expect(const http_outcome& answer, int status, int code) {
        EXPECT_EQ(answer.head.status, status);
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(code_of(*answer.message), code);
        EXPECT_EQ(answer.message->at("id").as_int64(), 71);
    }
    static bool equal(std::string_view one, std::string_view other) {
        return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                          [](char a, char b) { return std::tolower(a) == std::tolower(b); });
    }
    [[nodiscard]] static std::string with_meta(std::string_view method, std::string_view raw_meta,
                                               std::string_view raw_members = {}) {
        return R"({"jsonrpc":"2.0","id":71,"method":")" + std::string(method) + R"(","params":{)" +
               std::string(raw_members) + (raw_members.empty() ? "" : ",") + R"("_meta":{)" + std::string(raw_meta) +
               "}}}";
    }
    static constexpr std::string_view absent = "(absent)";

    http_process server{revision::v2026_07_28};
    http_caller client{server.caller()};
};

TEST_F(http_mirrored, HTTP_5_a_header_that_is_missing_or_says_something_else) {
    for (const http_headers& wrong :
         std::vector<http_headers>{{{"MCP-Protocol-Version", std::string(absent)}},
                                   {{"MCP-Protocol-Version", "2025-11-25"}},
                                   {{"MCP-Protocol-Version", "2099-01-01"}},
                                   {{"MCP-Protocol-Version", "=?base64?MjAyNi0wNy0yOA==?="}},
                                   {{"Mcp-Method", std::string(absent)}},
                                   {{"Mcp-Method", "tools/list"}},
                                   {{"Mcp-Method", "Tools/Call"}},
                                   {{"Mcp-Name", std::string(absent)}},
                                   {{"Mcp-Name", "Echo"}},
                                   {{"Mcp-Name", "park"}},
                                   {{"Mcp-Name", "=?base64?cGFyaw==?="}},
                                   {{"Mcp-Name", "=?base64?!!!!?="}},
                                   {{"Mcp-Name", "=?BASE64?ZWNobw==?="}},
                                   {{"Mcp-Name",
                                     "\xc3\xa9"
                                     "cho"}}}) {
        SCOPED_TRACE(wrong[0].first + ": " + wrong[0].second);
        expect(echo(wrong), 400, error_code::header_mismatch);
    }
}

TEST_F(http_mirrored, HTTP_5_names_in_any_case_blanks_around_values_and_base64) {
    for (const http_headers& right : std::vector<http_headers>{
             {{"mcp-protocol-version", "2026-07-28"}, {"MCP-METHOD", "tools/call"}, {"mCp-nAmE", "echo"}},
             {{"Mcp-Name", "  \t echo \t "}},
             {{"Mcp-Method", " tools/call "}},
             {{"Mcp-Name", "=?base64?ZWNobw==?="}},
             {{"Mcp-Name", "  =?base64?ZWNobw==?= "}},
             {{"Mcp-Session-Id", "of an older client: ignored"}},
             {{"Last-Event-ID", "1-1"}},
             {{"Mcp-Param-Unknown", "ignored"}}}) {
        SCOPED_TRACE(right[0].first + ": " + right[0].second);
        const http_outcome answer = echo(right);
        EXPECT_EQ(answer.head.status, 200);
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(text_of(*answer.message), "x");
        EXPECT_FALSE(answer.head.header("mcp-session-id")) << "none is given out, and none comes back";
    }
}

TEST_F(http_mirrored, HTTP_5_a_version_that_is_not_spoken_is_answered_with_those_that_are) {
    for (const std::string version : {"2099-01-01", "1.0", "2025-11-25"}) {
        const http_outcome answer = echo(
            {{"MCP-Protocol-Version", version}},
            with_meta("tools/call",
                      R"("io.modelcontextprotocol/protocolVersion":")" + version + "\"," + std::string(no_capabilities),
                      R"("name":"echo","arguments":{"text":"x"})"));
        expect(answer, 400, error_code::unsupported_version);
        const json::value& data = answer.message->at("error").at("data");
        EXPECT_EQ(data.at("requested").as_string(), version);
        EXPECT_THAT(json::serialize(data.at("supported")), HasSubstr("2026-07-28"));
    }
}

TEST_F(http_mirrored, HTTP_5_a_method_that_is_not_there_is_404_with_a_body) {
    for (const std::string method : {"no/such/method", "ping", "initialize", "notifications/cancelled"}) {
        const http_outcome answer =
            echo({{"Mcp-Method", method}, {"Mcp-Name", std::string(absent)}},
                 with_meta(method, std::string(json_version) + "," + std::string(no_capabilities)));
        SCOPED_TRACE(method);
        expect(answer, 404, error_code::method_not_found);
    }
}

TEST_F(http_mirrored, HTTP_5_what_every_request_must_carry) {
    const std::string call = R"("name":"echo","arguments":{"text":"x"})";
    expect(echo({}, with_meta("tools/call", json_version, call)), 400, error_code::invalid_params);
    expect(echo({}, with_meta("tools/call",
                              std::string(json_version) + R"(,"io.modelcontextprotocol/clientCapabilities":[])", call)),
           400, error_code::invalid_params);
    expect(echo({}, with_meta("tools/call", no_capabilities, call)), 400, error_code::invalid_params);
    expect(echo({}, R"({"jsonrpc":"2.0","id":71,"method":"tools/call","params":{)" + call + "}}"), 400,
           error_code::invalid_params);
}

TEST_F(http_mirrored, HTTP_5_arguments_that_are_wrong_are_no_fault_of_the_transport) {
    const http_outcome answer =
        echo({{"Mcp-Name", "no_such_tool"}},
             with_meta("tools/call", std::string(json_version) + "," + std::string(no_capabilities),
                       R"("name":"no_such_tool","arguments":{})"));
    expect(answer, 200, error_code::invalid_params);
}

TEST_F(http_mirrored, HTTP_5_a_capability_that_the_client_did_not_declare) {
    const http_outcome answer = echo(
        {{"Mcp-Name", "ask"}}, with_meta("tools/call", std::string(json_version) + "," + std::string(no_capabilities),
                                         R"("name":"ask","arguments":{"key":"asks"})"));
    expect(answer, 400, error_code::missing_client_capability);
    EXPECT_THAT(json::serialize(*answer.message), HasSubstr("sampling"));
}

TEST_F(http_mirrored, HTTP_5_a_client_sends_no_answers_and_no_batches) {
    http_client answers = client.send(client.post(R"({"jsonrpc":"2.0","id":3,"result":{}})"));
    EXPECT_EQ(outcome_of(answers).head.status, 400);
    http_client batch =
        client.send(client.post("[" + call_line(revision::v2026_07_28, "71", "park", with_key("parked")) + "]"));
    EXPECT_EQ(outcome_of(batch).head.status, 400);
    client.fence();
    EXPECT_FALSE(server.marked("start", "parked"));
}

TEST_F(http_mirrored, HTTP_5_neither_GET_nor_DELETE) {
    for (const std::string& bytes : {client.get_bytes(), client.delete_bytes()}) {
        http_client refused = client.send(bytes);
        const http_outcome answer = outcome_of(refused);
        EXPECT_EQ(answer.head.status, 405);
        EXPECT_EQ(answer.head.header("allow"), "POST");
    }
}

TEST_F(http_mirrored, HTTP_5_events_pass_proxies_at_once_and_carry_no_ids) {
    http_client connection = client.call("71", "wait", R"({"ms":10,"tick_ms":1})", R"("progressToken":1)");
    const http_outcome answer = outcome_of(connection);
    EXPECT_EQ(answer.head.header("x-accel-buffering"), "no");
    EXPECT_THAT(answer.head.header("cache-control").value_or(""), HasSubstr("no-cache"));
    for (const http_event& each : answer.events) {
        EXPECT_FALSE(each.id);
        EXPECT_FALSE(each.retry);
    }
}

/// The header of the older revisions.
class http_legacy_version : public http_served {};

TEST_P(http_legacy_version, HTTP_5_a_version_that_there_is_not_is_a_bad_request) {
    for (const std::string version : {"2099-01-01", "1.0", "latest", ""}) {
        http_headers headers;
        for (const auto& each : client.headers()) {
            if (each.first != "MCP-Protocol-Version") headers.push_back(each);
        }
        headers.emplace_back("MCP-Protocol-Version", version);
        http_client refused =
            client.send(http_message("POST", headers, call_line(GetParam(), "71", "park", with_key("parked"))));
        EXPECT_EQ(outcome_of(refused).head.status, 400) << version;
    }
    client.fence();
    EXPECT_FALSE(server.marked("start", "parked"));
}

TEST_P(http_legacy_version, HTTP_5_without_the_header_the_session_knows) {
    http_headers headers{{"Content-Type", "application/json"}, {"Mcp-Session-Id", client.session()}};
    http_client connection =
        client.send(http_message("POST", headers, call_line(GetParam(), "71", "echo", R"({"text":"x"})")));
    EXPECT_EQ(text_of(*outcome_of(connection).message), "x");
}

INSTANTIATE_TEST_SUITE_P(http, http_legacy_version, testing::ValuesIn(legacy_http_revisions), revision_name());

/// Who may call at all.
class http_tokens : public testing::TestWithParam<revision> {};

TEST_P(http_tokens, HTTP_5_without_a_good_token_401_and_where_to_get_one) {
    http_process server(GetParam(), {"--token", "A=alice"});
    http_caller alice = server.caller({.token = "A"});
    alice.open();
    http_client parked = alice.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    for (const std::string token : {"", "B", "a", "A A", "=alice"}) {
        http_caller stranger = server.caller({.token = token});
        stranger.use_session(alice.session());
        http_client refused = stranger.send(stranger.post(cancel_line("71")));
        const http_outcome answer = outcome_of(refused);
        EXPECT_EQ(answer.head.status, 401) << token;
        EXPECT_THAT(
            answer.head.header("www-authenticate").value_or(""),
            testing::AllOf(testing::StartsWith("Bearer"), HasSubstr("/.well-known/oauth-protected-resource/mcp")));
    }
    alice.fence();
    EXPECT_FALSE(server.marked("cancel", "parked"));
    http_client metadata = alice.send(http_message("GET", {}, {}, "/.well-known/oauth-protected-resource/mcp"));
    EXPECT_EQ(outcome_of(metadata).head.status, 200);
}

INSTANTIATE_TEST_SUITE_P(http, http_tokens, testing::ValuesIn(http_revisions), revision_name());

}  // namespace
}  // namespace andon
