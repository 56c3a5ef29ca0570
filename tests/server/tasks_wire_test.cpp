// Tasks as they are on the wire: what is promised, members, errors and their codes, pages, headers.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string nobodys(32, '0');
constexpr std::string_view related = "io.modelcontextprotocol/related-task";
constexpr const char* timestamp = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";

class task_wire : public tasked {
protected:
    static void expect_members_of_a_task(const json::object& task) {
        EXPECT_THAT(string_in(task, "taskId"), MatchesRegex("[0-9a-f]{40}"));
        EXPECT_THAT(string_in(task, "createdAt"), MatchesRegex(timestamp));
        EXPECT_THAT(string_in(task, "lastUpdatedAt"), MatchesRegex(timestamp));
        EXPECT_EQ(task.at(extension() ? "ttlMs" : "ttl").as_int64(), 3'600'000);
        EXPECT_EQ(task.at(extension() ? "pollIntervalMs" : "pollInterval").as_int64(), 1'000);
        EXPECT_FALSE(task.contains(extension() ? "ttl" : "ttlMs"));
        EXPECT_FALSE(task.contains(extension() ? "pollInterval" : "pollIntervalMs"));
    }
    [[nodiscard]] static std::string task_in(const json::object& meta) {
        return std::string(meta.at("_meta").at(related).at("taskId").as_string());
    }
};
class requested_wire : public task_wire {};
class extension_wire : public task_wire {};

INSTANTIATE_TEST_SUITE_P(tasks, task_wire, testing::ValuesIn(task_ways()), by_name());
INSTANTIATE_TEST_SUITE_P(tasks, requested_wire, testing::ValuesIn(requested_ways()), by_name());
INSTANTIATE_TEST_SUITE_P(tasks, extension_wire, testing::ValuesIn(extension_ways()), by_name());

TEST_P(task_wire, TASK_1_TASK_4_a_task_has_all_its_members_in_every_state) {
    json::object made = client.born(client.start_task("task_park", with_key("parked")));
    const std::string task = string_in(made, "taskId");
    expect_members_of_a_task(made);
    EXPECT_EQ(status_in(made), "working") << "every task begins like this";
    json::object now = client.get(task).at("result").as_object();
    expect_members_of_a_task(now);
    EXPECT_EQ(string_in(now, "createdAt"), string_in(made, "createdAt"));
    EXPECT_EQ(string_in(now, "resultType"), extension() ? "complete" : "");
    EXPECT_FALSE(now.contains("statusMessage"));
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    now = client.get(task).at("result").as_object();
    expect_members_of_a_task(now);
    EXPECT_EQ(string_in(now, "createdAt"), string_in(made, "createdAt"));
    EXPECT_GE(string_in(now, "lastUpdatedAt"), string_in(made, "lastUpdatedAt"));
    EXPECT_EQ(string_in(now, "statusMessage"), "cancelled by the client");
}

TEST_P(task_wire, what_the_call_would_have_answered_is_the_result) {
    const json::object plain = client.ask("tools/call", R"("name":"echo","arguments":{"text":"the same"})");
    const std::string task = client.create("task_echo", R"({"text":"the same"})");
    const json::object outcome = client.outcome(task);
    EXPECT_EQ(outcome.at("result").at("content"), plain.at("result").at("content"));
    if (!extension()) {
        EXPECT_EQ(task_in(outcome.at("result").as_object()), task);
        EXPECT_EQ(client.outcome(task).at("result"), outcome.at("result")) << "as often as one asks";
    }
    EXPECT_EQ(client.status(task), "completed");
}

TEST_P(task_wire, an_error_of_the_protocol_fails_the_task_with_that_error) {
    const json::object plain = client.answer([&] {
        client.capabilities = tasks_undeclared;
        return client.start("tools/call", R"("name":"protocol_error_job","arguments":{})");
    }());
    client.capabilities = tasks_declared;
    ASSERT_EQ(code_of(plain), error_code::internal_error);
    const std::string task = client.create("protocol_error_job");
    EXPECT_EQ(client.outcome(task).at("error"), plain.at("error"));
    EXPECT_EQ(client.status(task), "failed");
    EXPECT_EQ(client.status_message(task), "the job broke, as it always does");
}

TEST_P(task_wire, an_error_of_the_tool_fails_the_task_in_2025_and_completes_it_in_the_extension) {
    const std::string fails = client.create("failing_job");
    const std::string wrong = client.create("task_wait", R"({"ms":"a word"})");  // it never starts
    for (const std::string& task : {fails, wrong}) {
        const json::object outcome = client.outcome(task);
        ASSERT_EQ(code_of(outcome), 0) << json::serialize(outcome);
        EXPECT_TRUE(outcome.at("result").at("isError").as_bool());
        EXPECT_EQ(client.status(task), extension() ? "completed" : "failed");
        EXPECT_NE(client.status_message(task), "");
    }
    EXPECT_EQ(text_of(client.outcome(fails)), "the job failed, as it always does");
}

TEST_P(task_wire, what_is_promised_is_the_dialects_own) {
    const auto capabilities = [&]() -> json::value {
        if (extension()) return client.ask("server/discover", "").at("result").at("capabilities");
        if (!http()) return json::parse(server->lines().front()).at("result").at("capabilities");
        return task_caller(static_cast<http_process&>(*server).caller())
            .ask("initialize",
                 R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})")
            .at("result")
            .at("capabilities");
    }();
    if (extension()) {
        EXPECT_EQ(json::serialize(capabilities.at("extensions")), R"({"io.modelcontextprotocol/tasks":{}})");
        EXPECT_FALSE(capabilities.as_object().contains("tasks"));
    } else {
        EXPECT_EQ(capabilities.at("tasks"), json::parse(R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})"));
        EXPECT_FALSE(capabilities.as_object().contains("extensions"));
    }
}

TEST_P(task_wire, a_list_of_tools_says_which_may_be_tasks_in_2025_only) {
    std::map<std::string, std::string> support;
    std::string cursor;
    do {
        const json::object page = client.ask("tools/list", cursor.empty() ? "" : R"("cursor":")" + cursor + '"');
        for (const json::value& each : page.at("result").at("tools").as_array()) {
            const json::object& tool = each.as_object();
            const json::value* const execution = tool.if_contains("execution");
            support[string_in(tool, "name")] =
                execution == nullptr ? "nothing" : string_in(execution->as_object(), "taskSupport");
        }
        cursor = string_in(page.at("result").as_object(), "nextCursor");
    } while (!cursor.empty());
    EXPECT_EQ(support.at("task_echo"), extension() ? "nothing" : "optional");
    EXPECT_EQ(support.at("failing_job"), extension() ? "nothing" : "required");
    EXPECT_EQ(support.at("echo"), "nothing");
}

TEST_P(task_wire, methods_of_the_other_dialect_are_not_there) {
    const std::string task = client.create("task_park", with_key("parked"));
    if (extension()) {
        EXPECT_EQ(code_of(client.ask("tasks/result", client.of(task))), error_code::method_not_found);
        EXPECT_EQ(code_of(client.ask("tasks/list", "")), error_code::method_not_found);
    } else {
        EXPECT_EQ(code_of(client.ask("tasks/update", client.of(task) + R"(,"inputResponses":{})")),
                  error_code::method_not_found);
    }
    for (const char* const none : {"tasks/", "tasks/delete", "tasks"}) {
        EXPECT_EQ(code_of(client.ask(none, client.of(task))), error_code::method_not_found) << none;
    }
}

// 2025-11-25.

TEST_P(requested_wire, tools_keep_to_what_they_are) {
    const json::object never = client.ask("tools/call", R"("name":"echo","arguments":{"text":"x"},"task":{})");
    EXPECT_EQ(code_of(never), error_code::method_not_found);
    const json::object required = client.ask("tools/call", R"("name":"failing_job","arguments":{})");
    EXPECT_EQ(code_of(required), error_code::method_not_found);
    EXPECT_THAT(message_of(required), HasSubstr("as a task only"));
    EXPECT_EQ(text_of(client.ask("tools/call", R"("name":"task_echo","arguments":{"text":"plain"})")), "plain");
}

TEST_P(requested_wire, a_ttl_is_a_number_of_milliseconds_above_zero) {
    const auto asked = [&](std::string_view raw_task) {
        return client.answer(client.start_task("task_echo", R"({"text":"x"})", {}, raw_task));
    };
    for (const char* const wrong : {R"({"ttl":0})", R"({"ttl":-1})", R"({"ttl":"60"})", R"({"ttl":true})",
                                    R"({"ttl":1.5})", R"({"ttl":{}})", R"({"ttl":1e300})", "[]", "1", R"("x")"}) {
        EXPECT_EQ(code_of(asked(wrong)), error_code::invalid_params) << wrong;
    }
    constexpr std::int64_t day = 24LL * 60 * 60 * 1'000;
    const std::vector<std::pair<std::string, std::int64_t>> right{{R"({})", 3'600'000},
                                                                  {R"({"ttl":60000})", 60'000},
                                                                  {R"({"ttl":60000.0,"later":1})", 60'000},
                                                                  {R"({"ttl":86400000})", day},
                                                                  {R"({"ttl":86400001})", day},
                                                                  {R"({"ttl":9007199254740993})", day},
                                                                  {R"({"ttl":9223372036854775807})", day}};
    for (const auto& [raw_task, ttl] : right) {
        const json::object made = asked(raw_task).at("result").at("task").as_object();
        EXPECT_EQ(made.at("ttl").as_int64(), ttl) << raw_task;
        EXPECT_EQ(client.get(string_in(made, "taskId")).at("result").at("ttl").as_int64(), ttl) << raw_task;
    }
}

TEST_P(requested_wire, a_list_comes_in_pages_and_has_every_task_once) {
    constexpr std::size_t many = 250;
    std::vector<std::string> calls;
    std::set<std::string> made;
    for (std::size_t i = 0; i < many; ++i) calls.push_back(client.start_task("task_park", with_key("p")));
    for (const std::string& each : calls) made.insert(string_in(client.born(each), "taskId"));
    std::set<std::string> seen;
    std::string cursor;
    int pages = 0;
    do {
        const json::object page = client.ask("tasks/list", cursor.empty() ? "" : R"("cursor":")" + cursor + '"');
        for (const json::value& each : page.at("result").at("tasks").as_array()) {
            expect_members_of_a_task(each.as_object());
            EXPECT_TRUE(seen.insert(string_in(each.as_object(), "taskId")).second) << "twice";
        }
        EXPECT_FALSE(page.at("result").as_object().contains("_meta"));
        cursor = string_in(page.at("result").as_object(), "nextCursor");
        ++pages;
    } while (!cursor.empty());
    EXPECT_EQ(seen, made);
    EXPECT_EQ(pages, 3);
    for (const char* const wrong : {R"("")", R"("x")", "1", R"("-")", R"("12")", R"("99999999999999999999-a")"}) {
        EXPECT_EQ(code_of(client.ask("tasks/list", R"("cursor":)" + std::string(wrong))), error_code::invalid_params)
            << wrong;
    }
}

TEST_P(requested_wire, progress_goes_on_after_the_birth_and_names_the_task) {
    const std::string call =
        client.start_task("task_wait", with_key("waits", R"("ms":200,"tick_ms":1)"), R"("progressToken":"token")");
    const std::string task = string_in(client.born(call), "taskId");
    if (!http()) {
        for (int i = 0; i < 3; ++i) {
            const json::object told = client.message("", "notifications/progress");
            EXPECT_EQ(task_in(told.at("params").as_object()), task);
            EXPECT_EQ(string_in(told.at("params").as_object(), "progressToken"), "token");
        }
    } else {
        http_client own = client.http().get();
        EXPECT_TRUE(own.head().in_events());
        std::optional<http_event> event;
        do event = own.event();
        while (event && event->data.find("notifications/progress") == std::string::npos);
        ASSERT_TRUE(event);
        EXPECT_EQ(task_in(event->message().at("params").as_object()), task);
    }
    EXPECT_EQ(text_of(client.outcome(task)), "waited 200 ms");
}

// The extension.

TEST_P(extension_wire, a_task_has_neither_progress_nor_log_messages) {
    const std::string call = client.start_task("task_wait_ignore", with_key("noisy", R"("ms":50,"tick_ms":5)"),
                                               R"("progressToken":"token","io.modelcontextprotocol/logLevel":"debug")");
    const std::string task = string_in(client.born(call), "taskId");
    EXPECT_EQ(text_of(client.outcome(task)), "ignored everything for 50 ms");
    client.fence();
    if (!http()) {  // where there is a stream to send them on
        EXPECT_EQ(server->heard("notifications/"), 0);
    }
    // The same, called by one who does not know tasks.
    client.capabilities = tasks_undeclared;
    const std::string plain =
        client.start_task("task_wait_ignore", with_key("plain", R"("ms":50,"tick_ms":5)"),
                          R"("progressToken":"token","io.modelcontextprotocol/logLevel":"debug")");
    EXPECT_EQ(string_in(client.message(plain, "still here"), "method"), "notifications/message");
    EXPECT_EQ(text_of(client.answer(plain)), "ignored everything for 50 ms");
}

TEST_P(extension_wire, the_other_dialects_word_is_no_wish) {
    const std::string members = R"("name":"echo","arguments":{"text":"plain"},"task":{"ttl":1})";
    EXPECT_EQ(text_of(client.ask("tools/call", members)), "plain");
    client.capabilities = tasks_undeclared;
    const std::string may_be = R"("name":"task_echo","arguments":{"text":"plain"},"task":5)";
    EXPECT_EQ(text_of(client.ask("tools/call", may_be)), "plain");
}

// Revisions that have no tasks.

class without_tasks : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(tasks, without_tasks,
                         testing::Values(revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18),
                         revision_name());

TEST_P(without_tasks, older_revisions_do_not_know_the_word) {
    server_process server(GetParam());
    server.open();
    EXPECT_EQ(server.heard(R"("tasks")"), 0);
    for (const char* const tool : {"echo", "task_echo"}) {
        server.send(request_line(GetParam(), "1", "tools/call",
                                 R"("name":")" + std::string(tool) + R"(","arguments":{"text":"plain"},"task":{})"));
        EXPECT_EQ(text_of(server.answer("1")), "plain");
    }
    for (const char* const method : {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"}) {
        server.send(request_line(GetParam(), "2", method, R"("taskId":"x")"));
        EXPECT_EQ(code_of(server.answer("2")), error_code::method_not_found) << method;
    }
    server.send(request_line(GetParam(), "3", "tools/list", ""));
    server.answer("3");
    EXPECT_EQ(server.heard("taskSupport"), 0);
}

// Routing.

TEST(task_headers, HTTP_5_the_name_of_a_request_about_a_task_is_its_id) {
    task_server server(extension_ways().back());
    task_caller client = server.client();
    const std::string task = client.create("task_park", with_key("parked"));
    const auto post = [&](std::string_view method, std::string_view members, std::string_view name) {
        http_client sent = client.http().send(client.http().post(client.line("1", method, members), method, name));
        return outcome_of(sent);
    };
    for (const std::string method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        const std::string members = client.of(task) + R"(,"inputResponses":{})";
        for (const std::string& name : {std::string(), nobodys, task + '0', std::string("tasks")}) {
            const http_outcome refused = post(method, members, name);
            EXPECT_EQ(refused.head.status, 400) << method << ' ' << name;
            ASSERT_TRUE(refused.message) << method;
            EXPECT_EQ(code_of(*refused.message), error_code::header_mismatch) << method << ' ' << name;
        }
        EXPECT_EQ(client.status(task), "working") << method;
        EXPECT_EQ(code_of(*post(method, members, task).message), 0) << method;
    }
    EXPECT_EQ(client.status(task), "cancelled");
}

}  // namespace
}  // namespace andon
