// Tasks on the client's side (2025-11-25): what a server may do with a question that outlives its request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/raw_server.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class hosted_tasks_test : public testing::Test {
protected:
    [[nodiscard]] client_options options() {
        client_options with = quiet_client({revision::v2025_11_25});
        with.on_sampling = [this](const json::object& params, const cancel_token& token) -> json::object {
            asked_.add(json::serialize(params));
            while (!gate_.happened()) {
                if (token.wait_until(std::chrono::steady_clock::now() + 1ms)) {
                    cancelled_.set();
                    token.throw_if_cancelled();
                }
            }
            if (params.contains("fail")) throw rpc_error(-32050, "no");
            return {{"said", "hello"}};
        };
        return with;
    }
    [[nodiscard]] json::object ask(std::string_view method, json::object params) {
        const int id = ++last_;
        raw_.write({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
        json::object answer = raw_.read().as_object();
        EXPECT_EQ(answer.at("id"), id);
        return answer;
    }
    [[nodiscard]] std::string create(json::object params = {}) {
        params["task"] = json::object{{"ttl", 60'000}};
        const json::object answer = ask("sampling/createMessage", std::move(params));
        const json::object& task = answer.at("result").at("task").as_object();
        EXPECT_EQ(task.at("status"), "working");
        EXPECT_EQ(task.at("ttl"), 60'000);
        return std::string(task.at("taskId").as_string());
    }
    [[nodiscard]] json::object about(std::string_view method, const std::string& task) {
        return ask(method, {{"taskId", task}});
    }
    static int code_of(const json::object& answer) { return answer.at("error").at("code").to_number<int>(); }

    recorded<std::string> asked_;
    event gate_;
    event cancelled_;
    raw_server raw_;
    int last_ = 0;
    client client_{raw_.connect(options())};
};

TEST_F(hosted_tasks_test, a_question_with_a_task_is_answered_at_once_and_its_result_waited_for) {
    const std::string id = create({{"n", 1}});
    ASSERT_TRUE(asked_.reach(1));
    EXPECT_THAT(asked_.all(), ElementsAre(R"({"n":1})"));
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "working");
    const int waiting = ++last_;
    raw_.write({{"jsonrpc", "2.0"}, {"id", waiting}, {"method", "tasks/result"}, {"params", {{"taskId", id}}}});
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "working");  // which is answered before
    gate_.set();
    const json::value answer = raw_.read();
    EXPECT_EQ(answer.at("id"), waiting);
    EXPECT_EQ(answer.at("result").at("said"), "hello");
    EXPECT_EQ(answer.at("result").at("_meta").at("io.modelcontextprotocol/related-task").at("taskId").as_string(), id);
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "completed");
    EXPECT_EQ(about("tasks/result", id).at("result").at("said"), "hello");
    EXPECT_EQ(ask("tasks/list", {}).at("result").at("tasks").as_array().size(), 1U);
}

TEST_F(hosted_tasks_test, TASK_1_TASK_2_TASK_3_TASK_6_a_cancel_stops_the_thinking_and_stands) {
    const std::string id = create();
    ASSERT_TRUE(asked_.reach(1));
    EXPECT_EQ(about("tasks/cancel", id).at("result").at("status"), "cancelled");
    EXPECT_TRUE(cancelled_.happens());
    EXPECT_EQ(code_of(about("tasks/cancel", id)), error_code::invalid_params);
    EXPECT_EQ(code_of(about("tasks/result", id)), error_code::request_cancelled);
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "cancelled");
    EXPECT_EQ(code_of(about("tasks/cancel", "another")), error_code::invalid_params);
}

TEST_F(hosted_tasks_test, an_error_of_the_handler_is_the_result) {
    gate_.set();
    const std::string id = create({{"fail", true}});
    EXPECT_EQ(code_of(about("tasks/result", id)), -32050);
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "failed");
}

TEST_F(hosted_tasks_test, RCV_3_waiting_for_a_result_can_be_cancelled_and_the_task_is_not) {
    const std::string id = create();
    const int waiting = ++last_;
    raw_.write({{"jsonrpc", "2.0"}, {"id", waiting}, {"method", "tasks/result"}, {"params", {{"taskId", id}}}});
    raw_.write({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", waiting}}}});
    EXPECT_EQ(about("tasks/get", id).at("result").at("status"), "working");
    gate_.set();
    EXPECT_EQ(about("tasks/result", id).at("result").at("said"), "hello");  // and nothing for the other
}

TEST_F(hosted_tasks_test, bad_wishes_are_refused) {
    EXPECT_EQ(code_of(ask("sampling/createMessage", {{"task", 1}})), error_code::invalid_params);
    EXPECT_EQ(code_of(ask("sampling/createMessage", {{"task", {{"ttl", -1}}}})), error_code::invalid_params);
    EXPECT_EQ(code_of(ask("sampling/createMessage", {{"task", {{"ttl", "long"}}}})), error_code::invalid_params);
    EXPECT_EQ(code_of(ask("tasks/get", {})), error_code::invalid_params);
    EXPECT_EQ(code_of(ask("tasks/list", {{"cursor", "x"}})), error_code::invalid_params);
    EXPECT_EQ(code_of(ask("elicitation/create", {{"task", json::object()}})), error_code::method_not_found);
}

// Our own server asking that way.

class questions_as_tasks : public testing::Test {
protected:
    questions_as_tasks() {
        server_options options = quiet_server();
        options.tasks.questions = true;
        server_ = std::make_unique<server>(std::move(options));
        server_->tool("ask", "", [](call& call) {
            return std::string(call.sample({{"n", 1}}).at("said").as_string());
        });
        server_->tool("ask_later", "", [](call& call) -> async<std::string> {
            const json::object answer = co_await call.async_sample({});
            co_return std::string(answer.at("said").as_string());
        });
    }
    [[nodiscard]] client connect(question_handler handler) const {
        client_options with = quiet_client({revision::v2025_11_25});
        with.on_sampling = std::move(handler);
        return connected(*server_, std::move(with));
    }
    std::unique_ptr<server> server_;
};

TEST_F(questions_as_tasks, are_answered) {
    auto client = connect([](const json::object& params, const cancel_token&) {
        EXPECT_FALSE(params.contains("task"));
        return json::object{{"said", "hello"}};
    });
    EXPECT_EQ(text_of(client.call_tool("ask").get()), "hello");
    EXPECT_EQ(text_of(client.call_tool("ask_later").get()), "hello");
}

TEST_F(questions_as_tasks, RCV_12_SND_6_are_cancelled_with_the_call_that_asks) {
    event asked;
    event cancelled;
    auto client = connect([&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        token.wait();
        cancelled.set();
        return {};
    });
    auto call = client.call_tool("ask");
    ASSERT_TRUE(asked.happens());
    // The task is waited for, and not only made.
    ASSERT_TRUE(eventually([&] {
        for (const request_info& each : server_->requests().list()) {
            if (each.label == "tasks/result") return true;
        }
        return false;
    }));
    EXPECT_TRUE(call.cancel("enough"));
    EXPECT_TRUE(cancelled.happens());
    EXPECT_TRUE(eventually([&] { return server_->requests().size() == 0; }));
}

}  // namespace
}  // namespace andon
