// Our client and the tasks of @modelcontextprotocol/server-everything, in the official TypeScript SDK (2025-11-25):
// followed, asked for, stopped, left and picked up again.
#include <andon/client/client.hpp>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "core/named_case.hpp"
#include "interop/listening_server.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

constexpr std::string_view research = "simulate-research-query";  // four stages of a second each

/// What a task is said to be, in order.
using status_reports = recorded<std::string>;

follow_options told(status_reports& to) {
    return {.on_status = [&to](const task_report& report) {
        to.add(std::string(to_string(report.status)) + ": " + report.message);
    }};
}

struct way {
    std::string name;
    bool http;
};

class server_everything_tasks : public testing::TestWithParam<way> {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(program)) {
            GTEST_SKIP() << "left out: peers/typescript is not installed (peers/typescript/install.sh)";
        }
        if (GetParam().http) server_.emplace(command{.argv = {"node", peers + "/everything_http.mjs"}}, marks_);
    }
    [[nodiscard]] client start(client_options options = {}) {
        options.log = {};
        options.leave_within = 100ms;  // it stays as long as it keeps tasks
        if (server_) return client::connect_http(server_->url(), {}, options);
        options.on_stderr = [](std::string_view) {};
        return client::spawn({.argv = {"node", program, "stdio"}}, options);
    }
    [[nodiscard]] static std::string status_of(client& client, const std::string& id) {
        return std::string(client.request("tasks/get", {{"taskId", id}}).value().at("status").as_string());
    }

private:
    static inline const std::string program =
        peers + "/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    marks marks_;
    std::optional<listening_server> server_;
};

INSTANTIATE_TEST_SUITE_P(interop, server_everything_tasks, testing::Values(way{"stdio", false}, way{"http", true}),
                         by_name());

TEST_P(server_everything_tasks, one_is_followed_to_its_result_and_answered_when_it_asks) {
    status_reports reports;
    std::string question;
    client_options options;
    options.on_elicitation = [&](const json::object& params, const cancel_token&) -> json::object {
        question = params.at("message").as_string();
        return {{"action", "accept"}, {"content", {{"interpretation", "snake"}}}};
    };
    auto client = start(options);
    ASSERT_EQ(client.speaks(), revision::v2025_11_25);
    const auto task = client.call_tool_as_task(research, {{"topic", "python"}, {"ambiguous", true}}, told(reports));
    ASSERT_FALSE(task.id().empty());
    ASSERT_EQ(task.get().status, call_status::completed) << task.get().message;
    EXPECT_THAT(text_of(task.get()), HasSubstr("# Research Report: python (snake)"));
    EXPECT_THAT(question, HasSubstr("could have multiple interpretations"));
    EXPECT_THAT(reports.all().front(), HasSubstr("working: "));
    EXPECT_THAT(reports.all(), Contains(HasSubstr("input_required: ")));
    EXPECT_THAT(reports.all().back(), HasSubstr("completed: "));
    EXPECT_EQ(task.report().status, task_status::completed);
    EXPECT_EQ(status_of(client, task.id()), "completed");
}

TEST_P(server_everything_tasks, SND_6_TASK_3_a_cancel_is_over_at_once_and_stands) {
    auto client = start();
    auto task = client.call_tool_as_task(research, {{"topic", "cords"}});
    const std::string id = task.id();
    EXPECT_TRUE(task.cancel("the user pressed Stop"));
    EXPECT_TRUE(task.done());
    EXPECT_EQ(task.get().status, call_status::cancelled);
    EXPECT_EQ(task.get().message, "the user pressed Stop");
    // For whoever looks: that the server knows it already is only sure after this.
    const auto again = client.follow_task(id);
    EXPECT_EQ(again.get().status, call_status::failed);
    EXPECT_EQ(again.get().code, error_code::request_cancelled);
    EXPECT_EQ(status_of(client, id), "cancelled");
}

TEST_P(server_everything_tasks, TIME_4_one_whose_time_is_over_is_cancelled) {
    auto client = start();
    const auto task = client.call_tool_as_task(research, {{"topic", "cords"}}, {.max_timeout = 100ms});
    EXPECT_EQ(task.get().status, call_status::timed_out);
    EXPECT_EQ(client.follow_task(task.id()).get().code, error_code::request_cancelled);
}

TEST_P(server_everything_tasks, TASK_7_one_that_was_let_go_works_on_and_is_picked_up_again) {
    status_reports reports;
    auto client = start();
    std::string id;
    {
        const auto task = client.call_tool_as_task(research, {{"topic", "cords"}});
        id = task.id();
    }
    auto task = client.follow_task(id, told(reports));
    EXPECT_TRUE(reports.reach(2));  // it has come to another stage
    EXPECT_EQ(task.id(), id);
    EXPECT_TRUE(task.cancel());
}

TEST_P(server_everything_tasks, are_listed) {
    auto client = start();
    std::vector<std::string> made;
    for (int i = 0; i < 12; ++i) {  // more than a page of theirs
        made.push_back(client.call_tool_as_task(research, {{"topic", std::to_string(i)}}).id());
    }
    std::vector<std::string> listed;
    for (const json::value& task : client.list_tasks()) listed.emplace_back(task.at("taskId").as_string());
    EXPECT_THAT(listed, UnorderedElementsAreArray(made));
}

TEST_P(server_everything_tasks, TASK_2_an_unknown_one_and_one_that_is_over_cannot_be_cancelled) {
    auto client = start();
    EXPECT_EQ(client.follow_task("no such task").get().code, error_code::invalid_params);
    EXPECT_EQ(client.cancel_task("no such task").get().code, error_code::invalid_params);
    const std::string id = client.call_tool_as_task(research, {{"topic", "cords"}}).id();
    EXPECT_EQ(client.cancel_task(id).value().at("status"), "cancelled");
    EXPECT_EQ(client.cancel_task(id).get().code, error_code::invalid_params);
}

TEST_P(server_everything_tasks, a_tool_is_one_only_where_it_says_so_and_always_where_it_must_be) {
    auto client = start();
    const auto echo = client.call_tool_as_task("echo", {{"message", "at once"}});
    EXPECT_EQ(echo.id(), "");
    EXPECT_EQ(echo.get().status, call_status::failed);
    EXPECT_THAT(text_of(client.call_tool(research, {{"topic", "cords"}}).get()), HasSubstr("requires task"));
}

TEST_P(server_everything_tasks, one_that_is_asked_of_us_is_thought_about_while_the_server_looks) {
    client_options options;
    options.on_sampling = [](const json::object&, const cancel_token&) -> json::object {
        return {{"role", "assistant"}, {"model", "none"}, {"content", {{"type", "text"}, {"text", "vermilion"}}}};
    };
    options.on_elicitation = [](const json::object&, const cancel_token&) -> json::object {
        return {{"action", "accept"}, {"content", {{"name", "ada"}}}};
    };
    auto client = start(options);
    const auto sampled = client.call_tool("trigger-sampling-request-async", {{"prompt", "a colour?"}});
    const auto elicited = client.call_tool("trigger-elicitation-request-async");
    EXPECT_THAT(text_of(sampled.get()), AllOf(HasSubstr("[COMPLETED]"), HasSubstr("vermilion")));
    EXPECT_THAT(text_of(elicited.get()), HasSubstr("[COMPLETED]"));
    EXPECT_THAT(elicited.get().result.at("content").at(1).at("text").as_string().c_str(), HasSubstr("Name: ada"));
}

}  // namespace
}  // namespace andon
