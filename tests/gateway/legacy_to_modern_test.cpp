// A legacy client in front of a modern server: each row says what becomes of one message.
#include "gateway/translation/legacy_to_modern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "gateway/translation_said.hpp"

namespace andon::gateway {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view discovered = R"({"resultType":"complete","supportedVersions":["2026-07-28"],
    "capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},
                    "extensions":{"io.modelcontextprotocol/tasks":{},"com.example/x":{"n":1e400}}},
    "instructions":"be kind","ttlMs":3600000,"cacheScope":"public",
    "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"},"com.example/a":9007199254740993}})";

std::string initialize(std::string_view version, std::string_view more = R"("capabilities":{})") {
    return R"({"protocolVersion":)" + std::string(version) + ',' + std::string(more) + '}';
}

legacy_to_modern session_of(std::string_view version, std::string_view raw_discovered = discovered) {
    auto begun = legacy_to_modern::begin(
        initialize('"' + std::string(version) + '"',
                   R"("capabilities":{"sampling":{},"elicitation":{"form":{}},"roots":{"listChanged":true},"tasks":{},
                      "experimental":{"e":{"big":18446744073709551616}},
                      "extensions":{"io.modelcontextprotocol/tasks":{},"com.example/y":{}}},
                      "clientInfo":{"name":"c","version":"1","icons":[]})"),
        raw_discovered);
    return std::get<legacy_to_modern>(std::move(begun));
}

/// What every request carries beside what is its own.
constexpr std::string_view ours =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1","icons":[]},)"
    R"("io.modelcontextprotocol/clientCapabilities":{"experimental":{"e":{"big":18446744073709551616}},)"
    R"("extensions":{"com.example/y":{}}})";
constexpr std::string_view at_info = R"(,"io.modelcontextprotocol/logLevel":"info")";

std::string with_ours(std::string_view meta, std::string_view members) {
    return R"({"_meta":{)" + std::string(ours) + std::string(at_info) + std::string(meta) + '}' + std::string(members) +
           '}';
}

// The handshake.

struct handshake_case {
    const char* name;
    std::string params;
    std::string discovered;
    std::string expected;
};
class legacy_handshake : public testing::TestWithParam<handshake_case> {};

TEST_P(legacy_handshake, is_answered) {
    const auto begun = legacy_to_modern::begin(GetParam().params, GetParam().discovered);
    if (const auto* const refused = std::get_if<refusal>(&begun)) {
        EXPECT_THAT(said(*refused), StartsWith(GetParam().expected));
    } else {
        EXPECT_EQ(std::get<legacy_to_modern>(begun).initialize_result(), GetParam().expected);
    }
}

std::string initialized(std::string_view version) {
    return R"({"protocolVersion":")" + std::string(version) +
           R"(","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},)"
           R"("extensions":{"com.example/x":{"n":1e400}}},"serverInfo":{"name":"s","version":"2"},)"
           R"("instructions":"be kind","_meta":{"com.example/a":9007199254740993}})";
}

INSTANTIATE_TEST_SUITE_P(
    each, legacy_handshake,
    testing::Values(
        handshake_case{"of_2024_11_05", initialize(R"("2024-11-05")"), std::string(discovered),
                       initialized("2024-11-05")},
        handshake_case{"of_2025_03_26", initialize(R"("2025-03-26")"), std::string(discovered),
                       initialized("2025-03-26")},
        handshake_case{"of_2025_06_18", initialize(R"("2025-06-18")"), std::string(discovered),
                       initialized("2025-06-18")},
        handshake_case{"of_2025_11_25", initialize(R"("2025-11-25")"), std::string(discovered),
                       initialized("2025-11-25")},
        handshake_case{"of_a_revision_that_is_not_known", initialize(R"("1999-01-01")"), std::string(discovered),
                       initialized("2025-11-25")},
        handshake_case{"of_a_modern_revision", initialize(R"("2026-07-28")"), std::string(discovered),
                       initialized("2025-11-25")},
        handshake_case{"without_who_the_server_is", initialize(R"("2025-11-25")"), R"({"capabilities":{}})",
                       R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                       R"("serverInfo":{"name":"server","version":"unknown"}})"},
        handshake_case{"with_a_server_of_half_a_name", initialize(R"("2025-11-25")"),
                       R"({"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}})",
                       R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                       R"("serverInfo":{"name":"server","version":"unknown"}})"},
        handshake_case{"with_tasks_in_another_word", initialize(R"("2025-11-25")"),
                       R"({"capabilities":{"\u0074asks":{},"tools":{}}})",
                       R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                       R"("serverInfo":{"name":"server","version":"unknown"}})"},
        handshake_case{"without_a_version", R"({"capabilities":{}})", std::string(discovered),
                       "refuse -32602 initialize needs protocolVersion"},
        handshake_case{"with_capabilities_that_are_none", initialize(R"("2025-11-25")", R"("capabilities":7)"),
                       std::string(discovered), "refuse -32602 the client's capabilities must be an object"},
        handshake_case{"with_capabilities_twice",
                       initialize(R"("2025-11-25")", R"("capabilities":{},"capabilities":{"a":{}})"),
                       std::string(discovered), R"(refuse -32602 params has "capabilities" twice)"},
        handshake_case{"with_capabilities_without_end",
                       initialize(R"("2025-11-25")", R"("capabilities":{"x":")" + std::string(70'000, 'x') + R"("})"),
                       std::string(discovered), "refuse -32602 the capabilities of the client is longer"},
        handshake_case{"of_a_server_that_discovers_a_list", initialize(R"("2025-11-25")"), "[]",
                       "refuse -32603 the answer to server/discover must be an object"}),
    by_name());

// Requests.

struct request_case {
    const char* name;
    std::string method;
    std::string params;
    std::string token;
    std::string expected;
};
class legacy_request : public testing::TestWithParam<request_case> {};

TEST_P(legacy_request, becomes) {
    auto session = session_of("2025-11-25");
    EXPECT_THAT(said(session.request(GetParam().method, GetParam().params, GetParam().token)),
                StartsWith(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    each, legacy_request,
    testing::Values(
        request_case{"list", "tools/list", "", "", "forward tools/list " + with_ours("", "")},
        request_case{"list_of_a_page", "resources/list", R"({"cursor":""})", "",
                     "forward resources/list " + with_ours("", R"(,"cursor":"")")},
        request_case{"call_with_exact_arguments", "tools/call",
                     R"({"name":"t","arguments":{"id":9007199254740993,"x":1.10,"y":1e400,"z":-0}})", "",
                     "forward tools/call " +
                         with_ours("", R"(,"name":"t","arguments":{"id":9007199254740993,"x":1.10,"y":1e400,"z":-0})")},
        request_case{
            "call_with_progress", "tools/call",
            R"({"_meta":{"progressToken":"theirs","traceparent":"00-1"},"name":"t"})", "41",
            "forward tools/call " + with_ours(R"(,"progressToken":41,"traceparent":"00-1")", R"(,"name":"t")")},
        request_case{"call_whose_progress_nobody_wants", "tools/call",
                     R"({"_meta":{"progressToken":"theirs"},"name":"t"})", "",
                     "forward tools/call " + with_ours("", R"(,"name":"t")")},
        request_case{"call_as_a_task", "tools/call", R"({"name":"t","task":{"ttl":1},"arguments":{"task":1}})", "",
                     "forward tools/call " + with_ours("", R"(,"name":"t","arguments":{"task":1})")},
        request_case{"call_that_claims_to_be_modern", "tools/call",
                     R"({"_meta":{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},)"
                     R"("\u0069o.modelcontextprotocol/clientCapabilities":{"roots":{}},)"
                     R"("io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/protocolVersion":"x",)"
                     R"("progressToke\u006e":7,"k":2},"name":"t"})",
                     "", "forward tools/call " + with_ours(R"(,"k":2)", R"(,"name":"t")")},
        request_case{"call_with_meta_that_is_none", "tools/call", R"({"_meta":[],"name":"t"})", "",
                     "refuse -32602 _meta must be an object"},
        request_case{"call_with_meta_twice", "tools/call", R"({"_meta":{},"name":"t","_met\u0061":{}})", "",
                     R"(refuse -32602 params has "_meta" twice)"},
        request_case{"read", "resources/read", R"({"uri":"file:///a"})", "",
                     "forward resources/read " + with_ours("", R"(,"uri":"file:///a")")},
        request_case{"prompt", "prompts/get", R"({"name":"p","arguments":{"a":"b"}})", "",
                     "forward prompts/get " + with_ours("", R"(,"name":"p","arguments":{"a":"b"})")},
        request_case{"completion", "completion/complete", R"({"ref":{},"argument":{}})", "",
                     "forward completion/complete " + with_ours("", R"(,"ref":{},"argument":{})")},
        request_case{"of_an_extension", "com.example/do", R"({"task":1,"x":[ 1 ]})", "",
                     "forward com.example/do " + with_ours("", R"(,"task":1,"x":[ 1 ])")},
        request_case{"ping", "ping", "", "", "answer {}"},
        request_case{"level", "logging/setLevel", R"({"level":"error"})", "", "answer {}"},
        request_case{"level_that_is_none", "logging/setLevel", R"({"level":"loud"})", "",
                     "refuse -32602 there is no such log level"},
        request_case{"level_twice", "logging/setLevel", R"({"level":"error","level":"debug"})", "",
                     R"(refuse -32602 params has "level" twice)"},
        request_case{"of_a_task", "tasks/get", R"({"taskId":"1"})", "",
                     "refuse -32601 Method not found: tasks are not translated between 2025-11-25 and 2026-07-28: call "
                     "without a task"},
        request_case{"discover", "server/discover", "", "", "refuse -32601"},
        request_case{"listen", "subscriptions/listen", R"({"notifications":{}})", "", "refuse -32601"},
        request_case{"subscribe_to_nothing", "resources/subscribe", R"({"uri":7})", "",
                     R"(refuse -32602 params must have "uri", a string)"},
        request_case{"with_params_that_are_none", "tools/list", "[]", "", "refuse -32602 params must be an object"}),
    by_name());

TEST(legacy_request, carries_the_level_that_was_set) {
    auto session = session_of("2025-06-18");
    EXPECT_EQ(said(session.request("logging/setLevel", R"({"level":"error"})", "")), "answer {}");
    EXPECT_THAT(said(session.request("tools/list", "", "")),
                HasSubstr(R"("io.modelcontextprotocol/logLevel":"error")"));
}

TEST(legacy_request, carries_no_level_to_a_server_that_does_not_log) {
    auto session = session_of("2025-06-18", R"({"capabilities":{}})");
    EXPECT_EQ(said(session.request("tools/list", "", "")),
              "forward tools/list {\"_meta\":{" + std::string(ours) + "}}");
    EXPECT_THAT(said(session.request("logging/setLevel", R"({"level":"error"})", "")), StartsWith("refuse -32601"));
}

TEST(legacy_request, of_a_revision_without_tasks_keeps_the_word) {
    auto session = session_of("2025-06-18");
    EXPECT_THAT(said(session.request("tools/call", R"({"name":"t","task":{}})", "")), HasSubstr(R"("task":{})"));
}

// Results.

struct result_case {
    const char* name;
    const char* revision;
    const char* method;
    const char* result;
    std::string expected;
};
class result_for_a_legacy_client : public testing::TestWithParam<result_case> {};

TEST_P(result_for_a_legacy_client, becomes) {
    EXPECT_EQ(said(session_of(GetParam().revision).result(GetParam().method, GetParam().result)), GetParam().expected);
}

constexpr const char* asks = R"({"resultType":"input_required","inputRequests":{
    "a":{"method":"elicitation/create","params":{}},"b":{"method":"roots/list"}},"requestState":"s"})";

INSTANTIATE_TEST_SUITE_P(
    each, result_for_a_legacy_client,
    testing::Values(
        result_case{
            "call", "2025-11-25", "tools/call",
            R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}},)"
            R"("content":[{"type":"text","text":"\u0041"}],"structuredContent":{"id":9007199254740993,"e":1e400}})",
            R"(answer {"content":[{"type":"text","text":"\u0041"}],)"
            R"("structuredContent":{"id":9007199254740993,"e":1e400}})"},
        result_case{"call_of_a_tool_that_failed", "2025-11-25", "tools/call",
                    R"({"content":[],"isError":true,"resultType":"complete"})",
                    R"(answer {"content":[],"isError":true})"},
        result_case{"call_with_other_meta", "2025-11-25", "tools/call",
                    R"({"_meta":{"io.modelcontextprotocol/serverInfo":{},"a/b":1.50},"content":[]})",
                    R"(answer {"_meta":{"a/b":1.50},"content":[]})"},
        result_case{"list_structured_as_an_array", "2025-11-25", "tools/call",
                    R"({"resultType":"complete","content":[],"structuredContent":[1, "\n"]})",
                    R"(answer {"content":[{"type":"text","text":"[1, \"\\n\"]"}]})"},
        result_case{"list_structured_as_an_array_and_said", "2025-11-25", "tools/call",
                    R"({"resultType":"complete","content":[{"type":"text","text":"[1]"}],"structuredContent":[1]})",
                    R"(answer {"content":[{"type":"text","text":"[1]"}]})"},
        result_case{"structured_for_an_old_client", "2024-11-05", "tools/call",
                    R"({"resultType":"complete","structuredContent":{"a":1}})",
                    R"(answer {"content":[{"type":"text","text":"{\"a\":1}"}]})"},
        result_case{
            "list_of_tools", "2025-11-25", "tools/list",
            R"({"resultType":"complete","ttlMs":300000,"cacheScope":"public","nextCursor":"n","tools":[)"
            R"({"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}},)"
            R"("outputSchema":{"type":"object"},"icons":[{"src":"data:,"}],"execution":{"taskSupport":"required"}},)"
            R"({"name":"b","inputSchema":{"type":"object","properties":{"any":true,"none":false}},)"
            R"("outputSchema":{"type":"array"}}]})",
            R"(answer {"nextCursor":"n","tools":[)"
            R"({"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}},)"
            R"("outputSchema":{"type":"object"},"icons":[{"src":"data:,"}]},)"
            R"({"name":"b","inputSchema":{"type":"object","properties":{"any":{},"none":{"not":{}}}}}]})"},
        result_case{"list_of_tools_for_an_old_client", "2025-03-26", "tools/list",
                    R"({"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]})",
                    R"(answer {"tools":[{"name":"a","inputSchema":{"type":"object"}}]})"},
        result_case{"read", "2025-11-25", "resources/read",
                    R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"u","text":"t"}]})",
                    R"(answer {"contents":[{"uri":"u","text":"t"}]})"},
        result_case{"templates", "2025-11-25", "resources/templates/list",
                    R"({"resourceTemplates":[],"ttlMs":0,"cacheScope":"private","resultType":"complete"})",
                    R"(answer {"resourceTemplates":[]})"},
        result_case{"prompt", "2025-11-25", "prompts/get", R"({"resultType":"complete","messages":[]})",
                    R"(answer {"messages":[]})"},
        result_case{"completion", "2025-11-25", "completion/complete",
                    R"({"resultType":"complete","completion":{"values":["a"],"total":1}})",
                    R"(answer {"completion":{"values":["a"],"total":1}})"},
        result_case{"of_an_extension", "2025-11-25", "com.example/do", R"({"resultType":"complete","ttlMs":7,"x":1})",
                    R"(answer {"ttlMs":7,"x":1})"},
        result_case{"without_a_type", "2025-11-25", "prompts/get", R"({"messages":[]})", R"(answer {"messages":[]})"},
        result_case{"that_asks", "2025-06-18", "tools/call", asks,
                    "refuse -32603 the server asks the client for input (elicitation/create, roots/list), which is not "
                    "translated between 2025-06-18 and 2026-07-28: use a client that speaks 2026-07-28, or arguments "
                    "with which nothing need be asked"},
        result_case{"that_is_a_task", "2025-11-25", "tools/call",
                    R"({"resultType":"task","taskId":"t-1","status":"working"})",
                    "refuse -32603 the server made a task of the call, which is not translated between 2025-11-25 and "
                    "2026-07-28: use a client that speaks 2026-07-28. The task was cancelled | forward tasks/cancel "
                    R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                    R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1","icons":[]},)"
                    R"("io.modelcontextprotocol/clientCapabilities":)"
                    R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}},"taskId":"t-1"})"},
        result_case{"of_a_type_that_is_not_known", "2025-11-25", "tools/call", R"({"resultType":"later"})",
                    R"(refuse -32603 the server's result is of a type that is not known: "later")"},
        result_case{"of_two_types", "2025-11-25", "tools/call",
                    R"({"resultType":"complete","content":[],"resultTyp\u0065":"task"})",
                    R"(refuse -32603 the server's result has "resultType" twice)"},
        result_case{"that_is_no_object", "2025-11-25", "tools/call", "null",
                    "refuse -32603 the server's result must be an object"},
        result_case{"whose_tools_are_no_list", "2025-11-25", "tools/list", R"({"tools":{}})",
                    "refuse -32603 the list of tools must be an array"}),
    by_name());

// Errors.

struct error_case {
    const char* name;
    const char* method;
    const char* error;
    const char* expected;
};
class error_for_a_legacy_client : public testing::TestWithParam<error_case> {};

TEST_P(error_for_a_legacy_client, becomes) {
    EXPECT_EQ(session_of("2025-11-25").error(GetParam().method, GetParam().error), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, error_for_a_legacy_client,
    testing::Values(
        error_case{"resource_not_found", "resources/read",
                   R"({"code":-32602,"message":"Resource not found","data":{"uri":"u","n":1e400}})",
                   R"({"code":-32002,"message":"Resource not found","data":{"uri":"u","n":1e400}})"},
        error_case{"other_params", "resources/read", R"({"code":-32602,"message":"no uri"})",
                   R"({"code":-32602,"message":"no uri"})"},
        error_case{"of_a_tool", "tools/call", R"({"code":-32602,"message":"m","data":{"uri":"u"}})",
                   R"({"code":-32602,"message":"m","data":{"uri":"u"}})"},
        error_case{"missing_capability", "tools/call",
                   R"({"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}})",
                   R"({"code":-32603,"message":"this needs something of the client that is not translated (sampling, )"
                   R"(elicitation, roots or tasks): use a client that speaks 2026-07-28 (-32021): m",)"
                   R"("data":{"requiredCapabilities":{"sampling":{}}}})"},
        error_case{"version", "tools/call", R"({"code":-32022,"message":"m","data":{"supported":[]}})",
                   R"({"code":-32603,"message":"the server refused what it was sent for the client (-32022): m",)"
                   R"("data":{"supported":[]}})"},
        error_case{"of_the_servers_own", "tools/call", R"({"code":7,"message":"\u0041","more":1})",
                   R"({"code":7,"message":"\u0041","more":1})"},
        error_case{"without_anything", "tools/call", "{}", R"({"code":-32603,"message":"the server gave no reason"})"},
        error_case{"with_a_code_beyond_numbers", "tools/call", R"({"code":1e400,"message":"m"})",
                   R"({"code":-32603,"message":"m"})"},
        error_case{"of_two_codes", "tools/call", R"({"code":1,"code":2,"message":"m"})",
                   R"({"code":-32603,"message":"the server's error has \"code\" twice"})"}),
    by_name());

// Notifications.

struct notification_case {
    const char* name;
    const char* method;
    const char* params;
    const char* expected;
};
class notification_of_a_modern_server : public testing::TestWithParam<notification_case> {};

TEST_P(notification_of_a_modern_server, becomes) {
    EXPECT_EQ(said(session_of("2025-11-25").from_server(GetParam().method, GetParam().params)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, notification_of_a_modern_server,
    testing::Values(
        notification_case{"tools", "notifications/tools/list_changed",
                          R"({"_meta":{"io.modelcontextprotocol/subscriptionId":7}})",
                          "tell notifications/tools/list_changed"},
        notification_case{"prompts_that_were_not_asked_for", "notifications/prompts/list_changed", "", "nothing"},
        notification_case{"resource_that_was_not_asked_for", "notifications/resources/updated", R"({"uri":"u"})",
                          "nothing"},
        notification_case{"progress", "notifications/progress", R"({"progressToken":9,"progress":0.10,"message":"m"})",
                          R"(tell notifications/progress {"progressToken":9,"progress":0.10,"message":"m"})"},
        notification_case{
            "message", "notifications/message",
            R"({"level":"error","data":1e400,"_meta":{"io.modelcontextprotocol/subscriptionId":1,"a":2}})",
            R"(tell notifications/message {"_meta":{"a":2},"level":"error","data":1e400})"},
        notification_case{"message_below_the_level", "notifications/message", R"({"level":"debug","data":1})",
                          "nothing"},
        notification_case{"message_of_no_level", "notifications/message", R"({"level":5,"data":1})", "nothing"},
        notification_case{"acknowledgement", "notifications/subscriptions/acknowledged", R"({"notifications":{}})",
                          "nothing"},
        notification_case{"cancel", "notifications/cancelled", R"({"requestId":1})", "nothing"},
        notification_case{"task", "notifications/tasks", R"({"taskId":"1"})", "nothing"},
        notification_case{"of_an_extension", "notifications/com.example/x", R"({"n":12345678901234567890})",
                          R"(tell notifications/com.example/x {"n":12345678901234567890})"},
        notification_case{"with_meta_twice", "notifications/progress", R"({"_meta":{},"_meta":{}})", "nothing"}),
    by_name());

class notification_of_a_legacy_client : public testing::TestWithParam<notification_case> {};

TEST_P(notification_of_a_legacy_client, becomes) {
    EXPECT_EQ(said(session_of("2025-11-25").from_client(GetParam().method, GetParam().params)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    each, notification_of_a_legacy_client,
    testing::Values(notification_case{"initialized", "notifications/initialized", "", "nothing"},
                    notification_case{"cancel", "notifications/cancelled", R"({"requestId":1})", "nothing"},
                    notification_case{"roots", "notifications/roots/list_changed", "", "nothing"},
                    notification_case{"progress", "notifications/progress", R"({"progressToken":1})", "nothing"},
                    notification_case{"task", "notifications/tasks/status", "{}", "nothing"},
                    notification_case{"of_an_extension", "notifications/com.example/x", R"({"a":1.0})",
                                      R"(tell notifications/com.example/x {"a":1.0})"}),
    by_name());

}  // namespace
}  // namespace andon::gateway
