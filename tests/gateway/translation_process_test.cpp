// Through the translators to a real server and back, in every pair of revisions of the two eras.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "andon/wire/envelope.hpp"
#include "gateway/translation_said.hpp"
#include "server/server_process.hpp"
#include "wire/padded.hpp"

namespace andon::gateway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::array legacy_revisions{revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18,
                                      revision::v2025_11_25};
constexpr std::string_view watched = R"({"uri":"test://watched-resource"})";

/// What a relay does: ids, lines, and nothing else.
class server_behind {
public:
    explicit server_behind(revision speaks) : process(speaks) {}

    /// The id.
    std::string send(const forward& what) {
        std::string id = std::to_string(++last_);
        process.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + what.method + R"(","params":)" +
                     (what.raw_params.empty() ? "{}" : what.raw_params) + '}');
        return id;
    }
    void tell(std::string_view method) {
        process.send(R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"("})");
    }
    struct answered {
        bool failed = false;
        std::string raw;
    };
    answered answer_to(const std::string& id) {
        const padded line(process.line_with(R"("id":)" + id + ','));
        const envelope* const message = reader_.read(line);
        if (message->kind == message_kind::error) return {true, std::string(message->raw_error)};
        return {false, std::string(message->raw_result)};
    }
    answered ask(const forward& what) { return answer_to(send(what)); }
    notification told(std::string_view method) {
        const padded line(process.line_with(R"("method":")" + std::string(method) + '"'));
        const envelope* const message = reader_.read(line);
        return {std::string(message->method), std::string(message->raw_params)};
    }

    server_process process;

private:
    envelope_reader reader_;
    int last_ = 1'000;
};

// A legacy client, a modern server.

class legacy_client_of_a_modern_server : public testing::TestWithParam<revision> {
protected:
    static constexpr std::string_view discover_meta =
        R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{}}})";

    legacy_client_of_a_modern_server()
        : session(std::get<legacy_to_modern>(legacy_to_modern::begin(
              R"({"protocolVersion":")" + std::string(to_string(GetParam())) +
                  R"(","capabilities":{"sampling":{},"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}})",
              server.ask({"server/discover", std::string(discover_meta)}).raw))) {}

    std::string ask(std::string_view method, std::string_view raw_params, std::string_view raw_token = {}) {
        const auto step = session.request(method, raw_params, raw_token);
        const auto* const forwarded = std::get_if<forward>(&step);
        if (forwarded == nullptr) return said(step);
        const auto answered = server.ask(*forwarded);
        return answered.failed ? session.error(method, answered.raw) : said(session.result(method, answered.raw));
    }

    server_behind server{newest_modern};
    legacy_to_modern session;
};
INSTANTIATE_TEST_SUITE_P(stdio, legacy_client_of_a_modern_server, testing::ValuesIn(legacy_revisions), revision_name());

TEST_P(legacy_client_of_a_modern_server, is_served) {
    EXPECT_THAT(session.initialize_result(),
                AllOf(StartsWith(R"({"protocolVersion":")" + std::string(to_string(GetParam()))),
                      HasSubstr(R"("serverInfo":{"name":"everything")"), Not(HasSubstr("tasks"))));
    EXPECT_THAT(ask("tools/list", ""),
                AllOf(StartsWith("answer {"), HasSubstr(R"("name":"echo")"), Not(HasSubstr("resultType")),
                      Not(HasSubstr("ttlMs")), Not(HasSubstr("serverInfo"))));
    EXPECT_THAT(ask("tools/call", R"({"name":"echo","arguments":{"text":"x"}})"),
                AllOf(StartsWith("answer {"), HasSubstr(R"("text":"x")"), Not(HasSubstr("resultType"))));
    EXPECT_THAT(ask("prompts/get", R"({"name":"test_simple_prompt"})"), HasSubstr(R"("messages":[)"));
    EXPECT_THAT(ask("resources/read", R"({"uri":"test://static-text"})"), StartsWith(R"(answer {"contents":[)"));
    EXPECT_THAT(ask("resources/read", R"({"uri":"test://nothing"})"), StartsWith(R"({"code":-32002,)"));
    EXPECT_THAT(ask("tools/call", R"({"name":"test_missing_capability"})"),
                AllOf(StartsWith(R"({"code":-32603,)"), HasSubstr("use a client that speaks 2026-07-28")));
    EXPECT_EQ(ask("ping", ""), "answer {}");
}

TEST_P(legacy_client_of_a_modern_server, hears_of_progress_and_of_what_its_level_lets_through) {
    EXPECT_THAT(ask("tools/call", R"({"name":"test_tool_with_progress","_meta":{"progressToken":1}})", R"("ours")"),
                StartsWith("answer {"));
    EXPECT_THAT(server.told("notifications/progress").raw_params, HasSubstr(R"("progressToken":"ours")"));
    EXPECT_EQ(ask("logging/setLevel", R"({"level":"debug"})"), "answer {}");
    EXPECT_THAT(ask("tools/call", R"({"name":"test_tool_with_logging"})"), StartsWith("answer {"));
    const notification message = server.told("notifications/message");
    EXPECT_THAT(said(session.from_server(message.method, message.raw_params)),
                StartsWith("tell notifications/message"));
}

TEST_P(legacy_client_of_a_modern_server, subscribes_and_is_told_until_it_unsubscribes) {
    const auto subscribed = session.request("resources/subscribe", watched, "");
    const auto& listen = std::get<listen_step>(subscribed).begin.value();
    static_cast<void>(server.send({"subscriptions/listen", listen.raw_params}));
    const notification acknowledged = server.told("notifications/subscriptions/acknowledged");
    EXPECT_EQ(said(session.subscription().acknowledged(listen.number, acknowledged.raw_params)), "answer {}");
    EXPECT_THAT(ask("tools/call", R"({"name":"test_trigger_resource_change"})"), StartsWith("answer {"));
    const notification updated = server.told("notifications/resources/updated");
    EXPECT_EQ(said(session.from_server(updated.method, updated.raw_params)),
              "tell notifications/resources/updated " + std::string(watched));
    const auto unsubscribed = session.request("resources/unsubscribe", watched, "");
    const auto& shorter = std::get<listen_step>(unsubscribed).begin.value();
    static_cast<void>(server.send({"subscriptions/listen", shorter.raw_params}));
    const notification again = server.told("notifications/subscriptions/acknowledged");
    EXPECT_EQ(said(session.subscription().acknowledged(shorter.number, again.raw_params)), "answer {} | end 1");
    EXPECT_EQ(said(session.from_server(updated.method, updated.raw_params)), "nothing");
}

// A modern client, a legacy server.

class modern_client_of_a_legacy_server : public testing::TestWithParam<revision> {
protected:
    static constexpr std::string_view meta =
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{}},)"
        R"("io.modelcontextprotocol/logLevel":"debug"})";

    modern_client_of_a_legacy_server()
        : session(std::get<modern_to_legacy>(modern_to_legacy::begin(
              server.ask({"initialize", std::get<std::string>(modern_to_legacy::initialize_params(meta, GetParam()))})
                  .raw))) {
        server.tell("notifications/initialized");
    }

    std::string ask(std::string_view method, std::string_view raw_members, std::string_view raw_token = {}) {
        const std::string params =
            R"({"_meta":)" + std::string(meta) + (raw_members.empty() ? "" : ",") + std::string(raw_members) + '}';
        const auto step = session.request(method, params, raw_token);
        const auto* const forwarded = std::get_if<modern_to_legacy::forwarded>(&step);
        if (forwarded == nullptr) return said(step);
        if (forwarded->first) {
            EXPECT_FALSE(server.ask(*forwarded->first).failed);
        }
        const auto answered = server.ask(forwarded->what);
        return answered.failed ? session.error(method, answered.raw) : said(session.result(method, answered.raw));
    }

    server_behind server{GetParam()};
    modern_to_legacy session;
};
INSTANTIATE_TEST_SUITE_P(stdio, modern_client_of_a_legacy_server, testing::ValuesIn(legacy_revisions), revision_name());

TEST_P(modern_client_of_a_legacy_server, is_served) {
    EXPECT_THAT(
        session.discover_result(),
        AllOf(HasSubstr(R"("supportedVersions":["2026-07-28")"),
              HasSubstr(R"("io.modelcontextprotocol/serverInfo":{"name":"everything")"), Not(HasSubstr(R"("tasks")"))));
    EXPECT_THAT(ask("tools/list", ""), AllOf(StartsWith(R"(answer {"resultType":"complete",)"),
                                             HasSubstr(R"("ttlMs":0,"cacheScope":"private")"),
                                             HasSubstr(R"("name":"echo")"), Not(HasSubstr(R"("execution")"))));
    EXPECT_THAT(ask("tools/call", R"("name":"echo","arguments":{"text":"x"})"),
                AllOf(StartsWith(R"(answer {"resultType":"complete",)"), HasSubstr(R"("text":"x")")));
    EXPECT_THAT(ask("prompts/get", R"("name":"test_simple_prompt")"), HasSubstr(R"("messages":[)"));
    EXPECT_THAT(ask("resources/read", R"("uri":"test://static-text")"), HasSubstr(R"("contents":[)"));
    EXPECT_THAT(ask("resources/read", R"("uri":"test://nothing")"), StartsWith(R"({"code":-32602,)"));
    EXPECT_THAT(ask("ping", ""), StartsWith("refuse -32601"));
}

TEST_P(modern_client_of_a_legacy_server, hears_of_progress_and_of_the_log) {
    EXPECT_THAT(ask("tools/call", R"("name":"test_tool_with_progress")", "5"), StartsWith("answer {"));
    EXPECT_THAT(server.told("notifications/progress").raw_params, HasSubstr(R"("progressToken":5)"));
    EXPECT_THAT(ask("tools/call", R"("name":"test_tool_with_logging")"), StartsWith("answer {"));
    const notification message = server.told("notifications/message");
    EXPECT_THAT(said(session.from_server(message.method, message.raw_params)), StartsWith("log "));
}

TEST_P(modern_client_of_a_legacy_server, listens_and_is_told_until_it_ends) {
    const subscription_step step = session.subscriptions().listen(
        7, R"("l")",
        R"({"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"]}})");
    ASSERT_EQ(step.requests.size(), 1U);
    EXPECT_FALSE(server.ask(step.requests[0].what).failed);
    EXPECT_THAT(said(session.subscriptions().answered(step.requests[0].uri, true)),
                AllOf(StartsWith("7 tell notifications/subscriptions/acknowledged"),
                      HasSubstr(R"("toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"])")));
    EXPECT_THAT(ask("tools/call", R"("name":"test_trigger_resource_change")"), StartsWith("answer {"));
    const notification updated = server.told("notifications/resources/updated");
    EXPECT_EQ(said(session.from_server(updated.method, updated.raw_params)),
              R"(7 tell notifications/resources/updated {"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},)"
              R"("uri":"test://watched-resource"})");
    const subscription_step last = session.subscriptions().end(7);
    ASSERT_EQ(last.requests.size(), 1U);
    EXPECT_FALSE(server.ask(last.requests[0].what).failed);
}

}  // namespace
}  // namespace andon::gateway
