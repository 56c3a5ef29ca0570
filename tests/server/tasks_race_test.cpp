// A cancel against everything else that can happen to a task in the same moment: one terminal state, and every answer
// agrees with it.
#include <boost/json/serialize.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

const int rounds = sanitized ? 60 : 250;

std::string said(std::string_view text) {
    return R"({"role":"assistant","model":"test","content":{"type":"text","text":")" + std::string(text) + "\"}}";
}

class task_races : public tasked {
protected:
    /// No wait for anything: what comes next is to fall into every moment.
    void pause_up_to(int microseconds) {
        const auto moment = std::chrono::steady_clock::now() +
                            std::chrono::microseconds(random_() % static_cast<unsigned>(microseconds));
        while (std::chrono::steady_clock::now() < moment) {
        }
    }
    [[nodiscard]] bool coin() { return random_() % 2 == 0; }
    [[nodiscard]] unsigned up_to(unsigned most) { return static_cast<unsigned>(random_() % (most + 1)); }

    /// How a task ended, which it did once and for ever; `cancel` is what a cancel was answered.
    std::string end_of(const std::string& task, const json::object& cancel) {
        const json::object now = client
                                     .until(
                                         task,
                                         [](const json::object& answer) {
                                             const std::string status = status_in(answer.at("result").as_object());
                                             return status != "working" && status != "input_required";
                                         },
                                         "its end")
                                     .at("result")
                                     .as_object();
        const std::string status = status_in(now);
        if (extension()) {
            EXPECT_EQ(code_of(cancel), 0);
        } else if (code_of(cancel) == 0) {
            EXPECT_EQ(status, "cancelled") << "the answer said so";
        } else {
            EXPECT_EQ(code_of(cancel), error_code::invalid_params);
            EXPECT_NE(status, "cancelled");
        }
        const json::object outcome = client.outcome(task);
        EXPECT_EQ(outcome.contains("result"), status == "completed") << json::serialize(outcome);
        if (!http() && !extension()) {
            int ends = 0;
            for (const std::string& line : server->lines()) {
                const bool told = line.find("notifications/tasks/status") != std::string::npos &&
                                  line.find(task) != std::string::npos;
                const bool live = line.find(R"("status":"working")") != std::string::npos ||
                                  line.find(R"("status":"input_required")") != std::string::npos;
                ends += told && !live ? 1 : 0;
            }
            EXPECT_EQ(ends, 1) << "it was told of an end so often";
        }
        EXPECT_EQ(client.get(task).at("result"), json::value(now)) << "and so it stays";
        return status;
    }

private:
    std::mt19937 random_{2026};
};
INSTANTIATE_TEST_SUITE_P(tasks, task_races, testing::ValuesIn(task_ways()), by_name());

TEST_P(task_races, TASK_1_TASK_2_TASK_3_a_cancel_against_the_completion) {
    int cancelled = 0;
    int completed = 0;
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        const std::string key = "k" + std::to_string(i);
        // On the loop's thread, and on a worker.
        const std::string tool = coin() ? "task_wait" : "task_spin";
        const bool never_completes = i % 10 == 0;
        const unsigned ms = never_completes ? 600'000 : up_to(2);
        const std::string task = client.create(tool, with_key(key, R"("ms":)" + std::to_string(ms)));
        if (i % 10 == 1) client.until_status(task, "completed");
        pause_up_to(2'500);
        const std::string status = end_of(task, client.cancel(task));
        (status == "cancelled" ? cancelled : completed) += 1;
        if (status == "completed") {
            EXPECT_FALSE(server->marked("cancel", key)) << "it was told of a cancel that came too late";
        } else {
            EXPECT_EQ(status, "cancelled");
        }
    }
    EXPECT_GT(cancelled, 0);
    EXPECT_GT(completed, 0);
}

TEST_P(task_races, TASK_1_TASK_2_TASK_4_cancels_that_come_at_once) {
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        const std::string key = "k" + std::to_string(i);
        const std::string task = client.create("task_park", with_key(key));
        std::vector<std::string> cancels;
        for (int each = 0; each < 3; ++each) cancels.push_back(client.start("tasks/cancel", client.of(task)));
        int taken = 0;
        for (const std::string& each : cancels) {
            const json::object answer = client.answer(each);
            if (code_of(answer) == 0) {
                ++taken;
            } else {
                EXPECT_EQ(code_of(answer), error_code::invalid_params);
            }
        }
        EXPECT_EQ(taken, extension() ? 3 : 1);
        EXPECT_EQ(client.status(task), "cancelled");
        EXPECT_LE(server->times_logged("@cancel " + key + ' '), 1);
        EXPECT_EQ(server->times_logged("task " + task), 1);
    }
}

TEST_P(task_races, TASK_3_TASK_6_a_cancel_against_the_answer_to_a_question) {
    int cancelled = 0;
    int completed = 0;
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        const std::string task = client.create("task_ask", with_key("k" + std::to_string(i)));
        const bool answer_first = i % 4 != 0;
        std::string cancel;
        std::string other;
        const auto send_cancel = [&] { cancel = client.start("tasks/cancel", client.of(task)); };
        if (extension()) {
            client.until_status(task, "input_required");
            if (!answer_first) send_cancel();
            other =
                client.start("tasks/update", client.of(task) + R"(,"inputResponses":{"question":)" + said("yes") + '}');
        } else {
            other = client.start("tasks/result", client.of(task));
            const json::object asked = client.message(other, "sampling/createMessage");
            if (!answer_first) send_cancel();
            client.reply(asked, R"("result":)" + said("yes"));
        }
        if (answer_first) {
            if (i % 10 == 1) client.until_status(task, "completed");
            pause_up_to(300);
            send_cancel();
        }
        const json::object told = client.answer(other);
        const std::string status = end_of(task, client.answer(cancel));
        (status == "cancelled" ? cancelled : completed) += 1;
        if (extension()) {
            EXPECT_EQ(code_of(told), 0);
        } else {
            EXPECT_EQ(code_of(told), status == "completed" ? 0 : error_code::request_cancelled);
        }
        if (status == "completed") {
            EXPECT_EQ(text_of(client.outcome(task)), "yes");
        }
    }
    EXPECT_GT(cancelled, 0);
    EXPECT_GT(completed, 0);
}

class expiry_races : public testing::TestWithParam<task_way> {};
INSTANTIATE_TEST_SUITE_P(tasks, expiry_races, testing::ValuesIn(task_ways()), by_name());

TEST_P(expiry_races, TASK_1_TASK_2_a_cancel_against_the_end_of_its_time) {
    const bool extension = GetParam().extension();
    task_server server(GetParam(), {"--task-ttl-ms", "10"});
    task_caller client = server.client();
    std::mt19937 random(2026);
    std::vector<std::string> tasks;
    int in_time = 0;
    for (int i = 0; i < rounds; ++i) {
        SCOPED_TRACE(i);
        const std::string key = "k" + std::to_string(i);
        const auto made = std::chrono::steady_clock::now();
        const std::string task = client.create("task_park", with_key(key));
        if (i % 10 == 0) server->mark("cancel", key);  // its time is over for certain
        const auto moment = made + std::chrono::microseconds(i % 10 == 1 ? 0 : 4'000 + random() % 10'000);
        while (std::chrono::steady_clock::now() < moment) {
        }
        const json::object answer = client.cancel(task);
        const int code = code_of(answer);
        EXPECT_TRUE(code == 0 || code == error_code::invalid_params) << json::serialize(answer);
        server->wait_until([&] { return server->times_logged("task " + task) > 0; }, "the end of the work");
        const bool by_client = server->logged("task " + task).find("cancelled: peer") != std::string::npos;
        in_time += by_client ? 1 : 0;
        if (!extension && code == 0) {
            EXPECT_TRUE(by_client);
            EXPECT_EQ(status_in(answer.at("result").as_object()), "cancelled");
        }
        server->mark("cancel", key);
        EXPECT_EQ(server->times_logged("@cancel " + key + ' '), 1);
        tasks.push_back(task);
    }
    EXPECT_GT(in_time, 0);
    EXPECT_LT(in_time, rounds);
    for (const std::string& each : tasks) client.until_unknown(each);
    for (const std::string& each : tasks) EXPECT_EQ(server->times_logged("task " + each), 1);
}

}  // namespace
}  // namespace andon
