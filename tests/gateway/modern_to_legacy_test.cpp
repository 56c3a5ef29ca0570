// A modern client in front of a legacy server: each row says what becomes of one message.
#include "gateway/translation/modern_to_legacy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "gateway/translation_said.hpp"
#include "server/message_level.hpp"

namespace andon::gateway {
namespace {

using testing::StartsWith;

constexpr std::string_view initialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},)"
    R"("logging":{},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}},)"
    R"("serverInfo":{"name":"s","version":"2"},"instructions":"be kind"})";

modern_to_legacy session_of(std::string_view raw_result = initialized) {
    return std::get<modern_to_legacy>(modern_to_legacy::begin(raw_result));
}

// The handshake.

TEST(modern_handshake, tells_the_server_nothing_that_is_not_translated) {
    const auto params = modern_to_legacy::initialize_params(
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
            "io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{},"roots":{},
                "extensions":{"io.modelcontextprotocol/tasks":{}},"experimental":{"e":{"n":1e400}}}})");
    EXPECT_EQ(std::get<std::string>(params),
              R"({"protocolVersion":"2025-11-25","capabilities":{"experimental":{"e":{"n":1e400}}},)"
              R"("clientInfo":{"name":"c","version":"1"}})");
}

TEST(modern_handshake, has_a_name_where_the_client_gave_none) {
    EXPECT_EQ(
        std::get<std::string>(modern_to_legacy::initialize_params("", revision::v2025_06_18)),
        R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"andon","version":"unknown"}})");
}

TEST(modern_handshake, refuses_capabilities_that_are_none) {
    EXPECT_THAT(said(std::get<refusal>(
                    modern_to_legacy::initialize_params(R"({"io.modelcontextprotocol/clientCapabilities":[]})"))),
                StartsWith("refuse -32602 the client's capabilities must be an object"));
}

TEST(modern_handshake, discovers_what_the_server_initialized) {
    EXPECT_EQ(session_of().discover_result(),
              R"({"resultType":"complete",)"
              R"("supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],)"
              R"("capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}},)"
              R"("instructions":"be kind","ttlMs":0,"cacheScope":"private",)"
              R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}})");
    EXPECT_EQ(session_of(R"({"protocolVersion":"2024-11-05"})").discover_result(std::array{newest_modern}),
              R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,)"
              R"("cacheScope":"private",)"
              R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"server","version":"unknown"}}})");
}

TEST(modern_handshake, needs_a_revision_that_is_known) {
    for (const auto* const result : {"{}", "[]", R"({"protocolVersion":"2026-07-28"})", R"({"protocolVersion":1e400})",
                                     R"({"protocolVersion":"2025-11-25","protocolVersion":"2025-06-18"})"}) {
        EXPECT_THAT(said(std::get<refusal>(modern_to_legacy::begin(result))), StartsWith("refuse -32603")) << result;
    }
}

// Requests.

struct request_case {
    const char* name;
    std::string method;
    std::string params;
    std::string token;
    std::string expected;
};
class modern_request : public testing::TestWithParam<request_case> {};

TEST_P(modern_request, becomes) {
    EXPECT_THAT(said(session_of().request(GetParam().method, GetParam().params, GetParam().token)),
                StartsWith(GetParam().expected));
}

std::string with_meta(std::string_view more, std::string_view members) {
    return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
           R"("io.modelcontextprotocol/clientCapabilities":{"sampling":{}})" +
           std::string(more) + '}' + std::string(members) + '}';
}

INSTANTIATE_TEST_SUITE_P(
    each, modern_request,
    testing::Values(
        request_case{"list", "tools/list", with_meta("", ""), "", "forward tools/list {}"},
        request_case{"list_of_a_page", "prompts/list", with_meta("", R"(,"cursor":"c")"), "",
                     R"(forward prompts/list {"cursor":"c"})"},
        request_case{"call_with_exact_arguments", "tools/call",
                     with_meta("", R"(,"name":"t","arguments":{"id":9007199254740993,"y":1e400})"), "",
                     R"(forward tools/call {"name":"t","arguments":{"id":9007199254740993,"y":1e400}})"},
        request_case{"call_with_progress", "tools/call",
                     with_meta(R"(,"progressToken":1,"tracestate":"a=b")", R"(,"name":"t")"), R"("x")",
                     R"(forward tools/call {"_meta":{"progressToken":"x","tracestate":"a=b"},"name":"t"})"},
        request_case{"call_in_the_other_dialect_of_tasks", "tools/call", with_meta("", R"(,"name":"t","task":{})"), "",
                     R"(forward tools/call {"name":"t"})"},
        request_case{"call_with_a_level", "tools/call",
                     with_meta(R"(,"io.modelcontextprotocol/logLevel":"debug")", R"(,"name":"t")"), "",
                     R"(forward logging/setLevel {"level":"debug"} | forward tools/call {"name":"t"})"},
        request_case{"call_with_a_level_that_is_none", "tools/call",
                     with_meta(R"(,"io.modelcontextprotocol/logLevel":"loud")", R"(,"name":"t")"), "",
                     "refuse -32602 there is no such log level"},
        request_case{
            "call_with_two_levels", "tools/call",
            with_meta(R"(,"io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/logLevel":"debug")",
                      R"(,"name":"t")"),
            "", "refuse -32602 _meta has"},
        request_case{"call_again_with_input", "tools/call", with_meta("", R"(,"name":"t","inputResponses":{})"), "",
                     "refuse -32602 requestState and inputResponses"},
        request_case{"call_again_with_a_state", "resources/read", with_meta("", R"(,"uri":"u","requestStat\u0065":"")"),
                     "", "refuse -32602 requestState and inputResponses"},
        request_case{"of_an_extension", "com.example/do", with_meta("", R"(,"requestState":1,"task":2)"), "",
                     R"(forward com.example/do {"requestState":1,"task":2})"},
        request_case{"discover", "server/discover", with_meta("", ""), "", "discover"},
        request_case{"listen", "subscriptions/listen", with_meta("", R"(,"notifications":{})"), "", "listen"},
        request_case{"ping", "ping", with_meta("", ""), "", "refuse -32601 Method not found: 2026-07-28 has no ping"},
        request_case{"initialize", "initialize", with_meta("", ""), "", "refuse -32601"},
        request_case{"level", "logging/setLevel", with_meta("", ""), "",
                     "refuse -32601 Method not found: 2026-07-28 has no logging/setLevel: use "
                     "io.modelcontextprotocol/logLevel in _meta"},
        request_case{"subscribe", "resources/subscribe", with_meta("", R"(,"uri":"u")"), "",
                     "refuse -32601 Method not found: 2026-07-28 has no resources/subscribe: use subscriptions/listen"},
        request_case{"of_a_task", "tasks/get", with_meta("", R"(,"taskId":"t")"), "",
                     "refuse -32601 Method not found: tasks are not translated between 2026-07-28 and 2025-11-25"},
        request_case{"with_meta_that_is_none", "tools/list", R"({"_meta":"x"})", "",
                     "refuse -32602 _meta must be an object"}),
    by_name());

TEST(modern_request, asks_the_server_for_the_lowest_level_that_anybody_wants) {
    auto session = session_of();
    const auto asked = [&](std::string_view level) {
        const std::string params = R"({"_meta":{"io.modelcontextprotocol/logLevel":")" + std::string(level) + R"("}})";
        const auto step = session.request("tools/list", params, "");
        const auto& forwarded = std::get<modern_to_legacy::forwarded>(step);
        EXPECT_EQ(detail::to_string(forwarded.log_level.value()), level);
        return forwarded.first ? forwarded.first->raw_params : "";
    };
    EXPECT_EQ(asked("error"), R"({"level":"error"})");
    EXPECT_EQ(asked("emergency"), "");
    EXPECT_EQ(asked("info"), R"({"level":"info"})");
    EXPECT_EQ(asked("info"), "");
    session.server_restarted();
    EXPECT_EQ(asked("error"), R"({"level":"error"})");
}

TEST(modern_request, asks_no_level_of_a_server_that_does_not_log) {
    auto session = session_of(R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    const auto step = session.request("tools/list", R"({"_meta":{"io.modelcontextprotocol/logLevel":"info"}})", "");
    const auto& forwarded = std::get<modern_to_legacy::forwarded>(step);
    EXPECT_FALSE(forwarded.first);
    EXPECT_FALSE(forwarded.log_level);
}

// Results.

constexpr std::string_view complete =
    R"("resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}})";

std::string completed(std::string_view members) {
    return "answer {" + std::string(complete) + ',' + std::string(members) + '}';
}
std::string stale(std::string_view members) {
    return completed(R"("ttlMs":0,"cacheScope":"private",)" + std::string(members));
}

struct result_case {
    const char* name;
    const char* method;
    const char* result;
    std::string expected;
};
class result_for_a_modern_client : public testing::TestWithParam<result_case> {};

TEST_P(result_for_a_modern_client, becomes) {
    EXPECT_EQ(said(session_of().result(GetParam().method, GetParam().result)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, result_for_a_modern_client,
    testing::Values(
        result_case{"call", "tools/call",
                    R"({"content":[{"type":"text","text":"\u0041"}],"structuredContent":{"n":1e400}})",
                    completed(R"("content":[{"type":"text","text":"\u0041"}],"structuredContent":{"n":1e400})")},
        result_case{"call_that_claims_to_ask", "tools/call",
                    R"({"resultType":"input_required","inputRequests":{},"content":[],"resultTyp\u0065":"task"})",
                    completed(R"("inputRequests":{},"content":[])")},
        result_case{"call_with_meta", "tools/call",
                    R"({"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"evil"},"a/b":1.50},"content":[]})",
                    R"(answer {"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":)"
                    R"({"name":"s","version":"2"},"a/b":1.50},"content":[]})"},
        result_case{"list_of_tools", "tools/list",
                    R"({"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}],)"
                    R"("nextCursor":"n","ttlMs":-5,"cacheScope":"everybody"})",
                    stale(R"("tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"n")")},
        result_case{"list_of_prompts", "prompts/list", R"({"prompts":[]})", stale(R"("prompts":[])")},
        result_case{"list_of_resources", "resources/list", R"({"resources":[]})", stale(R"("resources":[])")},
        result_case{"list_of_templates", "resources/templates/list", R"({"resourceTemplates":[]})",
                    stale(R"("resourceTemplates":[])")},
        result_case{"read", "resources/read", R"({"contents":[{"uri":"u","blob":"AA=="}]})",
                    stale(R"("contents":[{"uri":"u","blob":"AA=="}])")},
        result_case{"prompt", "prompts/get", R"({"messages":[]})", completed(R"("messages":[])")},
        result_case{"completion", "completion/complete", R"({"completion":{"values":[]}})",
                    completed(R"("completion":{"values":[]})")},
        result_case{"empty", "com.example/do", "{}", "answer {" + std::string(complete) + '}'},
        result_case{"that_is_a_task", "tools/call", R"({"task":{"taskId":"t-1","status":"working"}})",
                    "refuse -32603 the server made a task of the call, which is not translated between 2026-07-28 and "
                    "2025-11-25: use a client that speaks 2025-11-25. The task was cancelled | forward tasks/cancel "
                    R"({"taskId":"t-1"})"},
        result_case{"that_is_no_object", "tools/list", "7", "refuse -32603 the server's result must be an object"},
        result_case{"whose_tools_are_no_list", "tools/list", R"({"tools":7})",
                    "refuse -32603 the list of tools must be an array"}),
    by_name());

// Errors.

class error_for_a_modern_client : public testing::TestWithParam<result_case> {};

TEST_P(error_for_a_modern_client, becomes) {
    EXPECT_EQ(session_of().error(GetParam().method, GetParam().result), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, error_for_a_modern_client,
    testing::Values(
        result_case{"resource_not_found", "resources/read", R"({"code":-32002,"message":"m","data":{"uri":"u"}})",
                    R"({"code":-32602,"message":"m","data":{"uri":"u"}})"},
        result_case{"of_the_servers_own_with_a_modern_code", "tools/call",
                    R"({"code":-32022,"message":"m","data":1.0})",
                    R"({"code":-32603,"message":"an error of the server's own (-32022): m","data":1.0})"},
        result_case{
            "that_asks_to_open_a_page", "tools/call", R"({"code":-32042,"message":"m","data":{}})",
            R"({"code":-32603,"message":"this needs the client's user to open a page, which is not translated: )"
            R"(use a client that speaks 2025-11-25 (-32042): m","data":{}})"},
        result_case{"of_a_tool_that_is_a_task", "tools/call", R"({"code":-32601,"message":"m"})",
                    R"({"code":-32602,"message":"the tool cannot be called. One that must be called as a task cannot )"
                    R"(be reached from here: use a client that speaks 2025-11-25 (-32601): m"})"},
        result_case{"no_such_method", "prompts/list", R"({"code":-32601,"message":"m"})",
                    R"({"code":-32601,"message":"m"})"},
        result_case{"of_an_implementation", "tools/call", R"({"code":-32019,"message":"m"})",
                    R"({"code":-32019,"message":"m"})"},
        result_case{"that_is_none", "tools/call", "[]",
                    R"({"code":-32603,"message":"the server's error must be an object"})"}),
    by_name());

// Notifications, and what a server asks.

class notification_of_a_legacy_server : public testing::TestWithParam<result_case> {};

TEST_P(notification_of_a_legacy_server, becomes) {
    EXPECT_EQ(said(session_of().from_server(GetParam().method, GetParam().result)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, notification_of_a_legacy_server,
    testing::Values(
        result_case{"tools_of_which_nobody_asked", "notifications/tools/list_changed", "", "nothing"},
        result_case{"progress", "notifications/progress", R"({"progressToken":9,"progress":0.10})",
                    R"(tell notifications/progress {"progressToken":9,"progress":0.10})"},
        result_case{"message", "notifications/message",
                    R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1},"level":"warning","data":1e400})",
                    R"(log 3 tell notifications/message {"level":"warning","data":1e400})"},
        result_case{"message_of_no_level", "notifications/message", R"({"data":1})", "nothing"},
        result_case{"cancel", "notifications/cancelled", R"({"requestId":1})", "nothing"},
        result_case{"task", "notifications/tasks/status", "{}", "nothing"},
        result_case{"elicitation", "notifications/elicitation/complete", "{}", "nothing"},
        result_case{"acknowledgement_that_is_not_its_own", "notifications/subscriptions/acknowledged",
                    R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}})", "nothing"},
        result_case{"of_an_extension", "notifications/x", R"({"a":1.0})", R"(tell notifications/x {"a":1.0})"}),
    by_name());

class notification_of_a_modern_client : public testing::TestWithParam<result_case> {};

TEST_P(notification_of_a_modern_client, becomes) {
    EXPECT_EQ(said(session_of().from_client(GetParam().method, GetParam().result)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, notification_of_a_modern_client,
    testing::Values(result_case{"cancel", "notifications/cancelled", R"({"requestId":1})", "nothing"},
                    result_case{"initialized", "notifications/initialized", "", "nothing"},
                    result_case{"roots", "notifications/roots/list_changed", "", "nothing"},
                    result_case{"of_an_extension", "notifications/x",
                                R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"a":1.0})",
                                R"(tell notifications/x {"a":1.0})"}),
    by_name());

TEST(request_of_a_legacy_server, is_answered_in_the_place_of_the_client) {
    const auto session = session_of();
    EXPECT_EQ(said(session.server_request("ping")), "answer {}");
    for (const auto* const method :
         {"sampling/createMessage", "elicitation/create", "roots/list", "tasks/get", "x\n"}) {
        EXPECT_THAT(said(session.server_request(method)),
                    StartsWith("refuse -32601 Method not found: the client speaks"));
    }
}

}  // namespace
}  // namespace andon::gateway
