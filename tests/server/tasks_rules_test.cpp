// The rules about tasks, on the real server: in both dialects, over both transports.
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "process/process_watch.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

const std::string nobodys(32, '0');

class task_rules : public tasked {
protected:
    /// An empty result of the extension.
    static void expect_acknowledged(const json::object& answer) {
        ASSERT_EQ(code_of(answer), 0) << json::serialize(answer);
        const json::object& result = answer.at("result").as_object();
        EXPECT_EQ(string_in(result, "resultType"), "complete");
        EXPECT_FALSE(result.contains("taskId"));
        EXPECT_FALSE(result.contains("status"));
    }
    static void expect_cancelled(const json::object& answer, std::string_view task) {
        if (extension()) return expect_acknowledged(answer);
        ASSERT_EQ(code_of(answer), 0) << json::serialize(answer);
        const json::object& result = answer.at("result").as_object();
        EXPECT_EQ(string_in(result, "taskId"), task);
        EXPECT_EQ(status_in(result), "cancelled");
        EXPECT_FALSE(result.contains("_meta")) << "the id is there already";
    }
    /// Of one that has ended.
    static void expect_refused(const json::object& answer) {
        if (extension()) return expect_acknowledged(answer);
        EXPECT_EQ(code_of(answer), error_code::invalid_params) << json::serialize(answer);
    }
    [[nodiscard]] std::vector<process_watch> tree_of(std::string_view key) {
        std::istringstream pids(server->mark("pids", key));
        std::vector<process_watch> tree;
        for (int i = 0; i < 3; ++i) {
            pid_t pid = 0;
            pids >> pid;
            tree.emplace_back(pid);
        }
        return tree;
    }
};
class extension_rules : public task_rules {};

INSTANTIATE_TEST_SUITE_P(tasks, task_rules, testing::ValuesIn(task_ways()), by_name());
INSTANTIATE_TEST_SUITE_P(tasks, extension_rules, testing::ValuesIn(extension_ways()), by_name());

TEST_P(task_rules, TASK_1_TASK_4_a_cancel_is_answered_when_the_task_is_cancelled) {
    for (int i = 0; i < 20; ++i) {
        const std::string key = "parked" + std::to_string(i);
        const std::string task = client.create("task_park", with_key(key));
        server->mark("start", key);
        EXPECT_EQ(client.status(task), "working");
        expect_cancelled(client.cancel(task), task);
        EXPECT_EQ(client.status(task), "cancelled");
        EXPECT_EQ(client.status_message(task), "cancelled by the client");
        server->mark("cancel", key);
    }
}

TEST_P(task_rules, TASK_2_TASK_4_a_task_that_has_ended_cannot_be_cancelled) {
    const std::string completed = client.create("task_echo", R"({"text":"done"})");
    EXPECT_EQ(text_of(client.outcome(completed)), "done");
    const std::string failed = client.create("protocol_error_job");
    client.until_status(failed, "failed");
    const std::string cancelled = client.create("task_park", with_key("parked"));
    expect_cancelled(client.cancel(cancelled), cancelled);
    for (int twice = 0; twice < 2; ++twice) {
        for (const std::string& each : {completed, failed, cancelled}) expect_refused(client.cancel(each));
    }
    EXPECT_EQ(client.status(completed), "completed");
    EXPECT_EQ(client.status(failed), "failed");
    EXPECT_EQ(client.status(cancelled), "cancelled");
    EXPECT_EQ(text_of(client.outcome(completed)), "done") << "its result is there still";
}

TEST_P(task_rules, TASK_2_TASK_4_an_unknown_id_is_an_error) {
    const std::string task = client.create("task_park", with_key("parked"));
    std::vector<std::string> unknown{nobodys, task.substr(1), task + '0', "*", "' OR 1=1 --"};
    const bool in_headers = http() && extension();
    if (!in_headers) unknown.insert(unknown.end(), {"", std::string(100'000, 'a'), R"(\u0000)"});
    for (const std::string& id : unknown) {
        EXPECT_EQ(code_of(client.cancel(id)), error_code::invalid_params) << id.substr(0, 40);
        EXPECT_EQ(code_of(client.get(id)), error_code::invalid_params) << id.substr(0, 40);
    }
    for (const char* const members : {"", R"("taskId":1)", R"("taskId":null)", R"("taskId":["x"])"}) {
        if (in_headers) break;  // a header that is not there is refused before: see the wire's tests
        EXPECT_EQ(code_of(client.ask("tasks/cancel", members)), error_code::invalid_params) << members;
        EXPECT_EQ(code_of(client.ask("tasks/get", members)), error_code::invalid_params) << members;
    }
    EXPECT_EQ(client.status(task), "working");
    EXPECT_FALSE(server->marked("cancel", "parked"));
}

/// The tools that never look.
TEST_P(task_rules, TASK_3_it_stays_cancelled_whatever_the_work_returns) {
    const std::string ignores = client.create("task_wait_ignore", with_key("ignores", R"("ms":150,"tick_ms":5)"));
    const std::string blocks = client.create("task_block", with_key("blocks", R"("ms":150)"));
    server->mark("start", "ignores");
    server->mark("start", "blocks");
    expect_cancelled(client.cancel(ignores), ignores);
    expect_cancelled(client.cancel(blocks), blocks);
    ASSERT_FALSE(server->marked("end", "ignores")) << "it ended too soon to prove anything";
    const std::string before = client.status_message(ignores);
    server->mark("end", "ignores");
    server->mark("end", "blocks");
    client.fence();
    for (const std::string& each : {ignores, blocks}) {
        const json::object now = client.get(each).at("result").as_object();
        EXPECT_EQ(status_in(now), "cancelled");
        EXPECT_EQ(string_in(now, "statusMessage"), before);
        EXPECT_FALSE(now.contains("result"));
        expect_refused(client.cancel(each));
        if (!extension()) {
            EXPECT_EQ(code_of(client.outcome(each)), error_code::request_cancelled);
        }
    }
}

/// A way to work, and to learn of a cancel.
TEST_P(task_rules, TASK_6_the_handler_learns_by_the_same_signal_as_a_call) {
    const std::vector<std::pair<std::string, std::string>> all{{"task_park", ""},
                                                               {"task_wait", R"("ms":600000,"tick_ms":5)"},
                                                               {"task_spin", R"("ms":600000)"},
                                                               {"task_ask", ""},
                                                               {"task_child", R"("seconds":600)"}};
    for (const auto& [tool, members] : all) {
        SCOPED_TRACE(tool);
        const std::string task = client.create(tool, with_key(tool, members));
        server->mark("start", tool);
        expect_cancelled(client.cancel(task), task);
        server->mark("cancel", tool);
        EXPECT_THAT(server->logged("task " + task), HasSubstr("cancelled: peer, tasks/cancel"));
    }
}

TEST_P(task_rules, TASK_6_the_whole_tree_of_processes_dies) {
    const std::string task = client.create("task_child", with_key("runs", R"("seconds":600)"));
    const std::string other = client.create("task_child", with_key("stays", R"("seconds":600)"));
    const std::vector<process_watch> tree = tree_of("runs");
    const std::vector<process_watch> others = tree_of("stays");
    expect_cancelled(client.cancel(task), task);
    for (const process_watch& each : tree) EXPECT_TRUE(each.wait_for_end());
    for (const process_watch& each : others) EXPECT_FALSE(each.ended());
    EXPECT_EQ(client.status(other), "working");
}

TEST_P(task_rules, TASK_6_work_that_is_still_queued_never_starts) {
    constexpr int workers = 64;  // of the server's
    for (int i = 1; i < workers; ++i) {
        static_cast<void>(client.create("task_block", with_key("holder" + std::to_string(i), R"("ms":600000)")));
        server->mark("start", "holder" + std::to_string(i));
    }
    const std::string last = client.create("task_spin", with_key("last", R"("ms":600000)"));
    server->mark("start", "last");
    const std::string withdrawn = client.create("task_block", with_key("withdrawn", R"("ms":0)"));
    const std::string next = client.create("task_block", with_key("next", R"("ms":0)"));
    expect_cancelled(client.cancel(withdrawn), withdrawn);
    expect_cancelled(client.cancel(last), last);
    EXPECT_EQ(text_of(client.outcome(next)), "blocked 0 ms");  // the queue is in order
    EXPECT_FALSE(server->marked("start", "withdrawn"));
    EXPECT_EQ(client.status(withdrawn), "cancelled");
}

TEST_P(task_rules, DIR_5_the_notification_does_nothing_to_a_task_that_exists) {
    const std::string call = client.start_task("task_wait", with_key("lives", R"("ms":100,"tick_ms":1)"));
    const std::string task = string_in(client.born(call), "taskId");
    server->mark("start", "lives");
    // Over HTTP in 2026-07-28 there is no connection of that call any more: it was answered, and is closed.
    client.withdraw(call);
    client.fence();
    EXPECT_EQ(text_of(client.outcome(task)), "waited 100 ms");
    EXPECT_FALSE(server->marked("cancel", "lives"));
    EXPECT_EQ(server->times_logged("cancelled:"), 0);
}

TEST_P(task_rules, DIR_5_a_notification_that_names_a_task_is_no_cancel_of_it) {
    if (http() && extension()) return;  // has no such notification
    const std::string task = client.create("task_park", with_key("parked"));
    client.withdraw('"' + task + '"');
    client.fence();
    EXPECT_EQ(client.status(task), "working");
    EXPECT_FALSE(server->marked("cancel", "parked"));
}

TEST_P(task_rules, DIR_5_the_id_of_the_call_can_be_used_again_while_the_task_works) {
    const std::string task = client.create("task_park", with_key("parked"));
    const std::string call = "1";       // the first that this client sent
    if (http() && extension()) return;  // ids are a connection's own
    if (http()) {
        client.http().until_free(call);
    } else {
        EXPECT_EQ(server->until_free(call), 1) << "and not only after a while";
    }
    EXPECT_EQ(client.status(task), "working");
}

// TASK-4: who knows tasks.

TEST_P(extension_rules, TASK_4_a_client_that_did_not_declare_the_extension_is_told_what_is_missing) {
    const std::string task = client.create("task_park", with_key("parked"));
    client.capabilities = tasks_undeclared;
    const std::vector<std::pair<std::string, std::string>> all{
        {"tasks/get", client.of(task)},
        {"tasks/cancel", client.of(task)},
        {"tasks/update", client.of(task) + R"(,"inputResponses":{})"},
        {"tools/call", R"("name":"failing_job","arguments":{})"},
        {"subscriptions/listen", R"("notifications":{"taskIds":[")" + task + "\"]}"}};
    for (const auto& [method, members] : all) {
        const json::object refused = client.ask(method, members);
        EXPECT_EQ(code_of(refused), error_code::missing_client_capability) << method;
        EXPECT_EQ(json::serialize(refused.at("error").at("data")),
                  R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})")
            << method;
    }
    client.capabilities = tasks_declared;
    EXPECT_EQ(client.status(task), "working") << "it was not cancelled either";
}

TEST_P(extension_rules, TASK_4_what_is_declared_once_counts_for_that_request_only) {
    EXPECT_EQ(string_in(client.born(client.start_task("task_echo", R"({"text":"one"})")), "status"), "working");
    client.capabilities = tasks_undeclared;
    EXPECT_EQ(text_of(client.answer(client.start_task("task_echo", R"({"text":"two"})"))), "two");
    client.capabilities = R"({"tasks":{"requests":{"tools":{"call":{}}}}})";  // the other dialect's word
    EXPECT_EQ(text_of(client.answer(client.start_task("task_echo", R"({"text":"three"})"))), "three");
}

// TASK-7: the connection.

TEST_P(task_rules, TASK_7_a_task_outlives_the_connection_and_the_session) {
    if (!http()) return;  // where the client is the process's reason to be
    task_server shared(GetParam(), {"--token", "a=alice"});
    std::optional<task_caller> first(shared.client("a"));
    const std::string parked = first->create("task_park", with_key("parked"));
    const std::string waits = first->create("task_wait", with_key("waits", R"("ms":50,"tick_ms":1)"));
    if (!extension()) {
        http_client end = first->http().send(first->http().delete_bytes());
        EXPECT_EQ(end.head().status / 100, 2);
        shared->logged("the session ended");
    }
    first.reset();
    task_caller second = shared.client("a");
    EXPECT_EQ(text_of(second.outcome(waits)), "waited 50 ms");
    EXPECT_EQ(second.status(parked), "working");
    EXPECT_FALSE(shared->marked("cancel", "parked"));
    expect_cancelled(second.cancel(parked), parked);
    shared->mark("cancel", "parked");
}

TEST_P(task_rules, TASK_7_each_dialect_reads_what_the_other_made) {
    if (!http()) return;
    task_server shared(GetParam(), {"--token", "a=alice"});
    task_caller maker = shared.client("a");
    const std::string done = maker.create("task_echo", R"({"text":"both"})");
    const std::string parked = maker.create("task_park", with_key("parked"));
    task_caller other = shared.client_of(extension() ? revision::v2025_11_25 : revision::v2026_07_28, "a");
    EXPECT_EQ(text_of(other.outcome(done)), "both");
    EXPECT_EQ(code_of(other.cancel(parked)), 0);
    EXPECT_EQ(maker.status(parked), "cancelled");
}

}  // namespace
}  // namespace andon
