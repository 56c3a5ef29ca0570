// How a client hears of its tasks: on its session's stream (2025-11-25), or through subscriptions/listen.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const std::string nobodys(32, '0');
constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";

// 2025-11-25.

class told_by_session : public tasked {
protected:
    void SetUp() override {
        if (!http()) return;
        own_.emplace(client.http().get());
        EXPECT_TRUE(own_->head().in_events());
    }
    /// The next state that the session is told of.
    [[nodiscard]] json::object told() {
        if (!http()) return json::parse(server->line_with("notifications/tasks/status")).at("params").as_object();
        for (;;) {
            const auto event = own_->event();
            if (!event) throw std::runtime_error("the session's stream has ended");
            if (event->data.empty()) continue;
            const json::object message = event->message();
            if (string_in(message, "method") == "notifications/tasks/status") return message.at("params").as_object();
        }
    }

    std::optional<http_client> own_;
};
INSTANTIATE_TEST_SUITE_P(tasks, told_by_session, testing::ValuesIn(requested_ways()), by_name());

TEST_P(told_by_session, TASK_1_every_end_is_told_with_the_whole_task) {
    const std::string parked = client.create("task_park", with_key("parked"));
    EXPECT_EQ(code_of(client.cancel(parked)), 0);
    json::object now = told();
    EXPECT_EQ(string_in(now, "taskId"), parked);
    EXPECT_EQ(status_in(now), "cancelled");
    EXPECT_EQ(now, client.get(parked).at("result").as_object()) << "what tasks/get would have answered";
    EXPECT_FALSE(now.contains("_meta"));
    const std::string done = client.create("task_echo", R"({"text":"done"})");
    now = told();
    EXPECT_EQ(string_in(now, "taskId"), done);
    EXPECT_EQ(status_in(now), "completed");
    const std::string failed = client.create("protocol_error_job");
    now = told();
    EXPECT_EQ(string_in(now, "taskId"), failed);
    EXPECT_EQ(status_in(now), "failed");
    EXPECT_EQ(string_in(now, "statusMessage"), "the job broke, as it always does");
}

TEST_P(told_by_session, TASK_1_a_question_is_told_and_its_end) {
    const std::string task = client.create("task_ask", with_key("asks"));
    EXPECT_EQ(status_in(told()), "input_required");
    const std::string result = client.start("tasks/result", client.of(task));
    client.reply(client.message(result, "sampling/createMessage"),
                 R"("result":{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}})");
    EXPECT_EQ(text_of(client.answer(result)), "yes");
    std::string last;
    do last = status_in(told());
    while (last == "input_required" || last == "working");
    EXPECT_EQ(last, "completed");
}

TEST_P(told_by_session, TASK_3_nothing_is_told_after_the_end) {
    const std::string task = client.create("task_wait_ignore", with_key("deaf", R"("ms":100,"tick_ms":5)"),
                                           R"("progressToken":"token of the task")");
    server->mark("start", "deaf");
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    EXPECT_EQ(status_in(told()), "cancelled");
    ASSERT_FALSE(server->marked("end", "deaf")) << "it ended too soon to prove anything";
    const std::size_t from = server->lines().size();
    server->mark("end", "deaf");
    client.fence();
    const std::string next = client.create("task_echo", R"({"text":"next"})");
    EXPECT_EQ(string_in(told(), "taskId"), next) << "the first that is told since";
    if (!http()) {
        EXPECT_EQ(server->heard("token of the task", from), 0);
    }
}

TEST_P(told_by_session, TASK_5_no_other_session_is_told) {
    if (!http()) return;
    task_caller other = server.client();
    const std::string theirs = other.create("task_echo", R"({"text":"theirs"})");
    EXPECT_EQ(text_of(other.outcome(theirs)), "theirs");
    const std::string ours = client.create("task_echo", R"({"text":"ours"})");
    EXPECT_EQ(string_in(told(), "taskId"), ours) << "the first that it hears";
}

// The extension.

TEST(told_of_the_other_dialect, SUB_3_TASK_7_a_subscription_hears_of_a_task_that_2025_11_25_made) {
    task_server server(requested_ways().back(), {"--token", "a=alice"});
    task_caller maker = server.client("a");
    task_caller listener = server.client_of(revision::v2026_07_28, "a");
    const std::string task = maker.create("task_park", with_key("parked"));
    const std::string raw_id =
        listener.start("subscriptions/listen", R"("notifications":{"taskIds":[")" + task + "\"]}");
    static_cast<void>(listener.message(raw_id, acknowledged));
    EXPECT_EQ(status_in(listener.message(raw_id, task).at("params").as_object()), "working");
    EXPECT_EQ(code_of(maker.cancel(task)), 0);
    const json::object last = listener.message(raw_id, task).at("params").as_object();
    EXPECT_EQ(status_in(last), "cancelled");
    EXPECT_TRUE(last.contains("ttlMs")) << "in its own dialect";
}

class told_by_subscription : public tasked {
protected:
    /// Its id.
    [[nodiscard]] std::string listen(const std::vector<std::string>& tasks) {
        return client.start("subscriptions/listen", R"("notifications":{"taskIds":)" +
                                                        json::serialize(json::array(tasks.begin(), tasks.end())) + '}');
    }
    /// The next message on that subscription.
    [[nodiscard]] json::object next(const std::string& raw_id) {
        json::object message = client.message(raw_id, R"("io.modelcontextprotocol/subscriptionId":)" + raw_id);
        return message;
    }
    [[nodiscard]] std::vector<std::string> agreed(const std::string& raw_id) {
        const json::object first = next(raw_id);
        EXPECT_EQ(string_in(first, "method"), acknowledged);
        std::vector<std::string> ids;
        for (const json::value& each : first.at("params").at("notifications").at("taskIds").as_array()) {
            ids.emplace_back(each.as_string());
        }
        return ids;
    }
    /// The task of the next message.
    [[nodiscard]] json::object told(const std::string& raw_id) {
        const json::object message = next(raw_id);
        EXPECT_EQ(string_in(message, "method"), "notifications/tasks") << json::serialize(message);
        return message.at("params").as_object();
    }
};
INSTANTIATE_TEST_SUITE_P(tasks, told_by_subscription, testing::ValuesIn(extension_ways()), by_name());

TEST_P(told_by_subscription, SUB_3_the_present_state_comes_first_and_then_the_end) {
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string raw_id = listen({parked});
    EXPECT_THAT(agreed(raw_id), ElementsAre(parked));
    EXPECT_EQ(status_in(told(raw_id)), "working");
    EXPECT_EQ(code_of(client.cancel(parked)), 0);
    json::object last = told(raw_id);
    EXPECT_EQ(status_in(last), "cancelled");
    last.erase("_meta");
    json::object asked = client.get(parked).at("result").as_object();
    asked.erase("_meta");
    asked.erase("resultType");
    EXPECT_EQ(last, asked) << "what tasks/get would have answered";
}

TEST_P(told_by_subscription, SUB_3_a_result_and_an_error_come_with_the_end) {
    const std::string asks = client.create("task_ask", with_key("asks"));
    client.until_status(asks, "input_required");
    const std::string fails = client.create("protocol_error_job");
    const std::string raw_id = listen({asks, fails});
    EXPECT_THAT(agreed(raw_id), ElementsAre(asks, fails));
    EXPECT_TRUE(told(raw_id).at("inputRequests").as_object().contains("question"));
    json::object of_failed = told(raw_id);
    while (status_in(of_failed) == "working") of_failed = told(raw_id);
    EXPECT_EQ(status_in(of_failed), "failed");
    EXPECT_EQ(of_failed.at("error").at("message").as_string(), "the job broke, as it always does");
    EXPECT_EQ(code_of(client.ask(
                  "tasks/update",
                  client.of(asks) + R"(,"inputResponses":{"question":{"content":{"type":"text","text":"yes"}}})")),
              0);
    json::object of_asked = told(raw_id);
    while (status_in(of_asked) == "working") of_asked = told(raw_id);
    EXPECT_EQ(status_in(of_asked), "completed");
    EXPECT_EQ(text_of(json::object{{"result", of_asked.at("result")}}), "yes");
}

TEST_P(told_by_subscription, SUB_3_what_has_ended_before_is_told_once) {
    const std::string done = client.create("task_echo", R"({"text":"done"})");
    client.until_status(done, "completed");
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string raw_id = listen({done, parked});
    EXPECT_THAT(agreed(raw_id), ElementsAre(done, parked));
    const std::vector<std::string> both{status_in(told(raw_id)), status_in(told(raw_id))};
    EXPECT_THAT(both, UnorderedElementsAre("completed", "working"));
    EXPECT_EQ(code_of(client.cancel(parked)), 0);
    EXPECT_EQ(status_in(told(raw_id)), "cancelled");
}

/// Whoever comes while an end is being written down hears of it from there, or from the store, and not from both.
TEST_P(told_by_subscription, SUB_3_an_end_in_the_moment_one_begins_to_listen_is_told_once) {
    const own_folder directory;
    task_server stored(GetParam(), {"--task-store", directory / "tasks.db"});
    client = stored.client();
    const std::string last = client.create("task_park", with_key("last"));
    for (int i = 0; i < 60; ++i) {
        SCOPED_TRACE(i);
        const std::string one = client.create("task_park", with_key("one"));
        const std::string two = client.create("task_park", with_key("two"));
        std::vector<std::string> cancels;
        if (i % 2 == 0) cancels.push_back(client.start("tasks/cancel", client.of(one)));
        const std::string raw_id = listen({one, last, two});
        if (i % 2 != 0) cancels.push_back(client.start("tasks/cancel", client.of(one)));
        cancels.push_back(client.start("tasks/cancel", client.of(two)));
        EXPECT_EQ(agreed(raw_id).size(), 3U);
        for (const std::string& each : cancels) EXPECT_EQ(code_of(client.answer(each)), 0);
        EXPECT_EQ(client.status(one), "cancelled");
        EXPECT_EQ(client.status(two), "cancelled");
        std::map<std::string, int> ends;
        while (ends[one] == 0 || ends[two] == 0) {
            const json::object task = told(raw_id);
            if (status_in(task) == "cancelled") ++ends[string_in(task, "taskId")];
        }
        client.fence();
        client.withdraw(raw_id);
        if (!http()) {
            client.fence();
            for (const std::string& line : stored->lines()) {
                const bool end = line.find(R"("status":"cancelled")") != std::string::npos;
                const bool here = line.find(R"("io.modelcontextprotocol/subscriptionId":)" + raw_id) != line.npos;
                if (end && here) ++ends[line.find(one) != line.npos ? one + " in all" : two + " in all"];
            }
            EXPECT_EQ(ends[one + " in all"], 1);
            EXPECT_EQ(ends[two + " in all"], 1);
        }
    }
}

TEST_P(told_by_subscription, TASK_5_SUB_3_only_ones_own_are_agreed_on_and_told) {
    if (!http()) {
        const std::string raw_id = listen({nobodys});
        EXPECT_THAT(agreed(raw_id), ElementsAre());
        return;
    }
    task_server shared(GetParam(), {"--token", "a=alice", "--token", "b=bob"});
    task_caller alice = shared.client("a");
    task_caller bob = shared.client("b");
    const std::string hers = alice.create("task_park", with_key("hers"));
    const std::string his = bob.create("task_park", with_key("his"));
    client = std::move(bob);
    const std::string raw_id = listen({hers, his, nobodys});
    EXPECT_THAT(agreed(raw_id), ElementsAre(his));
    EXPECT_EQ(string_in(told(raw_id), "taskId"), his);
    EXPECT_EQ(code_of(alice.cancel(hers)), 0);
    EXPECT_EQ(alice.status(hers), "cancelled");
    EXPECT_EQ(code_of(client.cancel(his)), 0);
    EXPECT_EQ(string_in(told(raw_id), "taskId"), his) << "and nothing of hers before";
}

TEST_P(told_by_subscription, SUB_1_TASK_7_the_end_of_the_subscription_is_not_the_end_of_the_task) {
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string raw_id = listen({parked});
    static_cast<void>(agreed(raw_id));
    EXPECT_EQ(status_in(told(raw_id)), "working");
    client.withdraw(raw_id);
    EXPECT_THAT(server->logged("request " + raw_id + " ("), HasSubstr(http() ? "disconnect" : "peer"));
    EXPECT_EQ(client.status(parked), "working");
    const std::size_t from = server->lines().size();
    EXPECT_EQ(code_of(client.cancel(parked)), 0);
    EXPECT_EQ(client.status(parked), "cancelled");
    if (!http()) {  // where they could come on the stream that is left
        EXPECT_EQ(server->heard("notifications/tasks", from), 0);
    }
}

TEST_P(told_by_subscription, SUB_3_nobody_is_told_who_did_not_ask) {
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string other = client.create("task_park", with_key("other"));
    const std::string raw_id = listen({parked});
    static_cast<void>(agreed(raw_id));
    EXPECT_EQ(status_in(told(raw_id)), "working");
    EXPECT_EQ(code_of(client.cancel(other)), 0);
    EXPECT_EQ(client.status(other), "cancelled");
    EXPECT_EQ(code_of(client.cancel(parked)), 0);
    const json::object last = told(raw_id);
    EXPECT_EQ(string_in(last, "taskId"), parked);
    EXPECT_EQ(status_in(last), "cancelled");
}

TEST_P(told_by_subscription, SUB_3_a_filter_that_is_none_is_refused) {
    for (const char* const wrong : {"1", "{}", R"("x")", "[1]", "[null]"}) {
        const std::string members = R"("notifications":{"taskIds":)" + std::string(wrong) + '}';
        EXPECT_EQ(code_of(client.ask("subscriptions/listen", members)), error_code::invalid_params) << wrong;
    }
    EXPECT_EQ(code_of(client.answer(listen(std::vector<std::string>(1'001, nobodys)))), error_code::invalid_params);
}

TEST_P(told_by_subscription, SUB_2_a_server_that_leaves_completes_the_subscription) {
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string raw_id = listen({parked});
    static_cast<void>(agreed(raw_id));
    EXPECT_EQ(status_in(told(raw_id)), "working");
    ::kill(server->pid(), SIGTERM);
    EXPECT_EQ(string_in(client.answer(raw_id).at("result").as_object(), "resultType"), "complete");
    EXPECT_EQ(server->exit().code, 0);
}

}  // namespace
}  // namespace andon
