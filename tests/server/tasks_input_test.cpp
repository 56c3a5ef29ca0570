// What a task asks its client: on the stream of tasks/result (2025-11-25), or through tasks/get and tasks/update.
#include <boost/json/serialize.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

const std::string nobodys(32, '0');

std::string said(std::string_view text) {
    return R"({"role":"assistant","model":"test","content":{"type":"text","text":")" + std::string(text) + "\"}}";
}

// 2025-11-25.

class asked_by_request : public tasked {
protected:
    [[nodiscard]] std::string asking(std::string_view key) {
        const std::string task = client.create("task_ask", with_key(key));
        client.until_status(task, "input_required");
        return task;
    }
    [[nodiscard]] json::object question(const std::string& result, const std::string& task) {
        const json::object asked = client.message(result, "sampling/createMessage");
        EXPECT_EQ(asked.at("params").at("_meta").at("io.modelcontextprotocol/related-task").at("taskId").as_string(),
                  task);
        return asked;
    }
};
INSTANTIATE_TEST_SUITE_P(tasks, asked_by_request, testing::ValuesIn(requested_ways()), by_name());

TEST_P(asked_by_request, the_question_comes_on_the_stream_of_the_result_and_names_the_task) {
    const std::string task = asking("asks");
    const std::string result = client.start("tasks/result", client.of(task));
    client.reply(question(result, task), R"("result":)" + said("hello"));
    EXPECT_EQ(text_of(client.answer(result)), "hello");
    EXPECT_EQ(client.status(task), "completed");
    client.fence();
    if (!http()) {
        EXPECT_EQ(server->heard("sampling/createMessage"), 1);
    }
}

TEST_P(asked_by_request, tasks_result_waits_for_a_question_that_comes_later) {
    const std::string task = client.create("task_ask", with_key("asks"));
    const std::string result = client.start("tasks/result", client.of(task));
    client.reply(question(result, task), R"("result":)" + said("hello"));
    EXPECT_EQ(text_of(client.answer(result)), "hello");
}

TEST_P(asked_by_request, DIR_5_a_cancelled_tasks_result_leaves_the_task_alone_and_the_next_asks_again) {
    const std::string task = asking("asks");
    for (int i = 0; i < 3; ++i) {
        const std::string result = client.start("tasks/result", client.of(task));
        const json::object first = question(result, task);
        client.withdraw(result);
        const json::object told = client.message(result, "notifications/cancelled");
        EXPECT_EQ(told.at("params").at("requestId"), first.at("id")) << "the question goes with it";
        EXPECT_EQ(client.status(task), "input_required");
        client.reply(first, R"("result":)" + said("too late"));
        client.fence();
        EXPECT_EQ(client.status(task), "input_required");
    }
    EXPECT_FALSE(server->marked("cancel", "asks"));
    const std::string result = client.start("tasks/result", client.of(task));
    client.reply(question(result, task), R"("result":)" + said("in time"));
    EXPECT_EQ(text_of(client.answer(result)), "in time");
}

/// One that is gone cannot be told from one that thinks: everyone who waits is asked.
TEST_P(asked_by_request, RCV_12_two_that_wait_are_both_asked_and_the_first_answer_takes_the_other_back) {
    const std::string task = asking("asks");
    const std::string first = client.start("tasks/result", client.of(task));
    const json::object asked = question(first, task);
    const std::string second = client.start("tasks/result", client.of(task));
    client.fence();
    client.reply(asked, R"("result":)" + said("hello"));
    EXPECT_EQ(text_of(client.answer(first)), "hello");
    EXPECT_EQ(text_of(client.answer(second)), "hello");
    if (!http()) {
        EXPECT_EQ(server->heard("sampling/createMessage"), 2);
        EXPECT_EQ(server->heard("notifications/cancelled"), 1);
    }
}

TEST_P(asked_by_request, a_clients_error_reaches_the_tool) {
    const std::string task = asking("asks");
    const std::string result = client.start("tasks/result", client.of(task));
    client.reply(question(result, task), R"("error":{"code":-1,"message":"User rejected sampling request"})");
    EXPECT_THAT(json::serialize(client.answer(result)), HasSubstr("User rejected sampling request"));
    EXPECT_EQ(client.status(task), "failed");
    EXPECT_THAT(client.status_message(task), HasSubstr("User rejected sampling request"));
}

TEST_P(asked_by_request, TASK_6_a_cancel_takes_the_question_back_and_answers_the_one_who_waits) {
    const std::string task = asking("asks");
    const std::string result = client.start("tasks/result", client.of(task));
    const json::object asked = question(result, task);
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    server->mark("cancel", "asks");
    EXPECT_EQ(code_of(client.answer(result)), error_code::request_cancelled);
    client.reply(asked, R"("result":)" + said("too late"));
    client.fence();
    EXPECT_EQ(client.status(task), "cancelled");
}

TEST_P(asked_by_request, tasks_result_blocks_until_the_end) {
    const std::string task = client.create("task_park", with_key("parked"));
    const std::string result = client.start("tasks/result", client.of(task));
    client.fence();
    if (!http()) {
        EXPECT_FALSE(server->untaken(result));
    }
    EXPECT_EQ(client.status(task), "working") << "and others are served meanwhile";
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    EXPECT_EQ(code_of(client.answer(result)), error_code::request_cancelled);
}

/// What the process has used of a processor, in hundredths of a second.
long busy(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(") ") + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return user + system;
}

TEST(asked_in_vain, a_server_that_has_no_stream_to_ask_on_does_not_ask_again_and_again) {
    task_server server(requested_ways().back(), {"--json-only"});
    task_caller client = server.client();
    const std::string task = client.create("task_ask", with_key("asks"));
    client.until_status(task, "input_required");
    const std::string result = client.start("tasks/result", client.of(task));
    client.fence();
    EXPECT_EQ(client.status(task), "input_required");
    const long before = busy(server->pid());
    const std::string later = client.create("task_wait", with_key("later", R"("ms":500,"tick_ms":500)"));
    EXPECT_EQ(text_of(client.outcome(later)), "waited 500 ms");
    EXPECT_LT(busy(server->pid()) - before, 25);
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    EXPECT_EQ(code_of(client.answer(result)), error_code::request_cancelled);
}

TEST(asked_in_vain, a_client_that_cannot_be_asked_gets_a_task_that_fails) {
    task_server server(requested_ways().back(), {"--no-sessions"});
    task_caller client = server.client();
    const std::string task = client.create("task_ask", with_key("asks"));
    EXPECT_THAT(json::serialize(client.outcome(task)), HasSubstr("has not declared that it can do sampling"));
    EXPECT_EQ(client.status(task), "failed");
}

// The extension.

class asked_by_update : public tasked {
protected:
    [[nodiscard]] json::object update(std::string_view task, std::string_view raw_responses) {
        return client.ask("tasks/update", client.of(task) + R"(,"inputResponses":)" + std::string(raw_responses));
    }
    static void expect_acknowledged(const json::object& answer) {
        ASSERT_EQ(code_of(answer), 0) << json::serialize(answer);
        json::object result = answer.at("result").as_object();
        result.erase("_meta");
        EXPECT_EQ(json::serialize(result), R"({"resultType":"complete"})");
    }
    /// Their names, with a space between.
    [[nodiscard]] std::string asked(std::string_view task) {
        const json::object now = client.get(task).at("result").as_object();
        EXPECT_EQ(now.contains("inputRequests"), status_in(now) == "input_required");
        std::string names;
        if (!now.contains("inputRequests")) return names;
        for (const auto& [name, question] : now.at("inputRequests").as_object()) {
            EXPECT_TRUE(question.at("params").is_object());
            names += (names.empty() ? "" : " ") + std::string(name);
        }
        return names;
    }
};
INSTANTIATE_TEST_SUITE_P(tasks, asked_by_update, testing::ValuesIn(extension_ways()), by_name());

constexpr std::string_view accept = R"({"action":"accept","content":{"confirm":true}})";

TEST_P(asked_by_update, a_question_is_in_tasks_get_until_it_is_answered) {
    const std::string task = client.create("task_ask", with_key("asks"));
    client.until_status(task, "input_required");
    for (int twice = 0; twice < 2; ++twice) {
        const json::object now = client.get(task).at("result").as_object();
        const json::value& question = now.at("inputRequests").at("question");
        EXPECT_EQ(question.at("method").as_string(), "sampling/createMessage");
        EXPECT_THAT(json::serialize(question.at("params")), HasSubstr("What shall I say?"));
    }
    expect_acknowledged(update(task, R"({"question":)" + said("hello") + '}'));
    EXPECT_EQ(text_of(client.outcome(task)), "hello");
}

TEST_P(asked_by_update, answers_may_come_one_by_one_and_what_was_not_asked_is_ignored) {
    const std::string task = client.create("multi_input");
    client.until_status(task, "input_required");
    EXPECT_EQ(asked(task), "first second");
    expect_acknowledged(update(task, "{}"));
    expect_acknowledged(update(task, R"({"third":{},"":{},"FIRST":{"action":"accept"}})"));
    EXPECT_EQ(asked(task), "first second");
    expect_acknowledged(update(task, R"({"second":)" + std::string(accept) + '}'));
    EXPECT_EQ(asked(task), "first");
    expect_acknowledged(update(task, R"({"second":{"action":"decline"}})"));  // was answered
    EXPECT_EQ(asked(task), "first");
    expect_acknowledged(update(task, R"({"first":)" + std::string(accept) + R"(,"fourth":{}})"));
    EXPECT_EQ(text_of(client.outcome(task)), "2 answers");
    EXPECT_EQ(asked(task), "");
}

TEST_P(asked_by_update, responses_that_are_no_objects_are_refused_and_none_of_them_counts) {
    const std::string task = client.create("multi_input");
    client.until_status(task, "input_required");
    for (const char* const wrong : {"null", "[]", "1", R"("x")", R"({"first":1})", R"({"first":null})",
                                    R"({"first":{"action":"accept"},"second":[]})"}) {
        EXPECT_EQ(code_of(update(task, wrong)), error_code::invalid_params) << wrong;
    }
    EXPECT_EQ(code_of(client.ask("tasks/update", client.of(task))), error_code::invalid_params);
    EXPECT_EQ(asked(task), "first second");
}

TEST_P(asked_by_update, an_unknown_task_is_an_error_and_one_that_has_ended_is_none) {
    EXPECT_EQ(code_of(update(nobodys, R"({"question":{}})")), error_code::invalid_params);
    const std::string task = client.create("task_echo", R"({"text":"done"})");
    client.until_status(task, "completed");
    expect_acknowledged(update(task, R"({"question":{}})"));
    EXPECT_EQ(text_of(client.outcome(task)), "done");
    const std::string parked = client.create("task_park", with_key("parked"));
    expect_acknowledged(update(parked, R"({"question":{}})"));
    EXPECT_EQ(client.status(parked), "working");
}

TEST_P(asked_by_update, TASK_6_a_cancelled_task_asks_nothing_any_more) {
    const std::string task = client.create("task_ask", with_key("asks"));
    client.until_status(task, "input_required");
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    server->mark("cancel", "asks");
    EXPECT_EQ(asked(task), "");
    expect_acknowledged(update(task, R"({"question":)" + said("too late") + '}'));
    EXPECT_EQ(client.status(task), "cancelled");
}

}  // namespace
}  // namespace andon
