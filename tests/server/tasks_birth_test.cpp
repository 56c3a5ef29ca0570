// DIR-5: before its birth a call is cancelled by the notification, after it a task by tasks/cancel, and there is
// nothing in between.
#include <boost/json/serialize.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view confirmed = R"({"user_name":{"action":"accept","content":{"name":"Alice"}}})";

/// No wait for anything: what comes next is to fall into every moment.
void spin_for(std::uint64_t microseconds) {
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < moment) {
    }
}

/// 2026-07-28: a tool that asks first, as a call, and is a task from then on.
class task_on_demand : public tasked {
protected:
    /// The call with the answer, to be started.
    [[nodiscard]] std::string second_round(std::string_view raw_responses) {
        const json::object asked = client.answer(client.start_task("test_tool_with_task"));
        const json::object& result = asked.at("result").as_object();
        EXPECT_EQ(string_in(result, "resultType"), "input_required");
        EXPECT_TRUE(result.at("inputRequests").as_object().contains("user_name"));
        return R"("name":"test_tool_with_task","arguments":{},"inputResponses":)" + std::string(raw_responses) +
               R"(,"requestState":)" + json::serialize(result.at("requestState"));
    }
};
INSTANTIATE_TEST_SUITE_P(tasks, task_on_demand, testing::ValuesIn(extension_ways()), by_name());

TEST_P(task_on_demand, asks_as_a_call_and_is_a_task_then) {
    const std::string task = string_in(client.born(client.start("tools/call", second_round(confirmed))), "taskId");
    EXPECT_EQ(client.status(task), "working");
    EXPECT_EQ(text_of(client.outcome(task)), "done for Alice");
}

TEST_P(task_on_demand, is_no_task_where_it_does_not_need_to_be) {
    const std::string declined = R"({"user_name":{"action":"decline"}})";
    const json::object answer = client.ask("tools/call", second_round(declined));
    EXPECT_EQ(string_in(answer.at("result").as_object(), "resultType"), "complete");
    EXPECT_EQ(text_of(answer), "not begun");
}

/// The cancel comes at any moment of the way: while it is a call, while the task is written, after that.
TEST_P(task_on_demand, DIR_5_a_cancel_before_the_birth_leaves_no_task_that_lives) {
    std::mt19937 random(2026);
    const std::string members = second_round(confirmed);
    int cancelled = 0;
    std::vector<std::string> born;
    for (int i = 0; i < 200; ++i) {
        const std::string call = client.start("tools/call", members);
        if (i % 10 == 0 && !http()) {  // this one is born for certain
            server->wait_until([&] { return server->untaken(call); }, "the birth");
        } else if (i % 10 != 1) {
            spin_for(random() % (sanitized ? 8'000 : 400));
        }
        client.withdraw(call);
        if (http()) continue;  // there is no telling from the outside which it was
        client.fence();
        server->wait_until([&] { return server->untaken(call) || server->times_logged("request " + call + " (") > 0; },
                           "an answer or a cancel");
        if (server->untaken(call)) {
            born.push_back(string_in(client.born(call), "taskId"));
        } else {
            ++cancelled;
        }
    }
    for (const std::string& each : born) EXPECT_EQ(text_of(client.outcome(each)), "done for Alice");
    client.fence();
    if (!http()) {
        EXPECT_GT(cancelled, 0);
        EXPECT_GT(born.size(), 0U);
    }
    EXPECT_EQ(server->times_logged("task "), 0) << "none of them was cancelled as a task";
}

class birth_storm : public testing::TestWithParam<task_way> {};
INSTANTIATE_TEST_SUITE_P(tasks, birth_storm, testing::Values(requested_ways().front(), extension_ways().front()),
                         by_name());

/// Each is over with no answer, and then nothing runs for it; or there is a task, and then that lives.
TEST_P(birth_storm, DIR_5_a_call_cancelled_in_the_moment_of_its_birth_is_either_over_or_a_task) {
    const own_folder directory;
    task_server server(GetParam(), {"--task-store", directory / "tasks.db"});
    task_caller client = server.client();
    const int rounds = sanitized ? 10 : 40;
    constexpr int calls = 50;
    std::mt19937 random(2026);
    int born = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto id = [&](int i) { return std::to_string(100'000 + round * calls + i); };
        std::string lines;
        for (int i = 0; i < calls; ++i) {
            lines += client.line(id(i), "tools/call", client.task_members("task_park", with_key("k" + id(i)))) + '\n';
        }
        std::string cancels;
        for (int i = 0; i < calls; ++i) cancels += cancel_line(id(i)) + '\n';
        switch (round % 4) {
            case 0:  // none of them has a chance
                server->write(lines + cancels);
                break;
            case 1:  // one at least is born
                server->write(lines);
                server->wait_until([&] { return server->untaken(id(0)); }, "a birth");
                server->write(cancels);
                break;
            default:  // and here it may be any
                server->write(lines);
                const std::uint64_t pause = random() % (sanitized ? 1'000 : 100);
                for (int i = 0; i < calls; ++i) {
                    spin_for(pause);
                    server->send(cancel_line(id(i)));
                }
        }
        for (int i = 0; i < calls; ++i) {
            SCOPED_TRACE(id(i));
            const auto cancelled = [&] { return server->times_logged("request " + id(i) + " ("); };
            server->wait_until([&] { return server->untaken(id(i)) || cancelled() > 0; }, "an answer or a cancel");
            if (!server->untaken(id(i))) continue;
            ++born;
            const std::string task = string_in(client.born(id(i)), "taskId");
            server->mark("start", "k" + id(i));
            EXPECT_EQ(client.status(task), "working") << "the cancel came too late, and does nothing";
            EXPECT_EQ(code_of(client.cancel(task)), 0);
            server->mark("cancel", "k" + id(i));
        }
        // Behind whatever the disk still has to take of those that were cancelled: they count until then.
        EXPECT_EQ(code_of(client.get(std::string(32, '0'))), error_code::invalid_params);
    }
    client.fence();
    for (int i = 100'000; i < 100'000 + rounds * calls; ++i) {
        const std::string id = std::to_string(i);
        ASSERT_EQ(server->answers(id) + server->times_logged("request " + id + " ("), 1) << id;
        ASSERT_EQ(server->marked("start", "k" + id), server->answers(id) == 1) << id;
        ASSERT_EQ(server->marked("cancel", "k" + id), server->answers(id) == 1) << id;
    }
    EXPECT_GT(born, 0);
    EXPECT_LT(born, rounds * calls);
}

/// The same where a connection closes. What was not answered may have been a task already, whose answer nobody read.
TEST(http_birth_storm, DIR_5_TASK_7_a_connection_that_closes_in_the_moment_of_the_birth_stops_a_call_and_no_task) {
    task_server server(extension_ways().back());
    task_caller client = server.client();
    constexpr int calls = 300;
    std::mt19937 random(2026);
    for (int i = 0; i < calls; ++i) {
        const std::string key = "k" + std::to_string(i);
        const std::string call = client.start_task("task_park", with_key(key));
        if (i % 10 == 0) server->mark("start", key);  // this one is a task for certain
        spin_for(random() % (sanitized ? 5'000 : 800));
        client.withdraw(call);
    }
    int born = 0;
    int cancelled = 0;
    for (int i = 1; i <= calls; ++i) {
        const std::string key = "k" + std::to_string(i - 1);
        server->wait_until(
            [&] {
                return server->marked("start", key) || server->times_logged("request " + std::to_string(i) + " (") > 0;
            },
            "a task or a cancel of " + key);
        (server->marked("start", key) ? born : cancelled) += 1;
        EXPECT_FALSE(server->marked("cancel", key)) << "one that began is a task, and no connection's";
    }
    client.fence();
    EXPECT_EQ(server->times_logged("task "), 0);
    EXPECT_GT(born, 0);
    EXPECT_GT(cancelled, 0);
    RecordProperty("born", born);
}

class births_listed : public tasked {};
INSTANTIATE_TEST_SUITE_P(tasks, births_listed, testing::ValuesIn(requested_ways()), by_name());

TEST_P(births_listed, DIR_5_what_was_cancelled_at_its_birth_is_cancelled_in_the_store) {
    constexpr int calls = 200;
    std::vector<std::string> started;
    for (int i = 0; i < calls; ++i) {
        started.push_back(client.start_task("task_park", with_key("p" + std::to_string(i))));
        client.withdraw(started.back());
    }
    int born = 0;
    for (const std::string& each : started) {
        if (http()) {
            const int code = code_of(client.answer(each));
            EXPECT_TRUE(code == 0 || code == error_code::request_cancelled) << code;
            if (code == 0) ++born;
        } else {
            server->wait_until(
                [&] { return server->untaken(each) || server->times_logged("request " + each + " (") > 0; },
                "an answer or a cancel");
            if (server->untaken(each)) ++born;
        }
    }
    client.fence();
    int working = 0;
    std::string cursor;
    do {
        const json::object page = client.ask("tasks/list", cursor.empty() ? "" : R"("cursor":")" + cursor + '"');
        for (const json::value& each : page.at("result").at("tasks").as_array()) {
            if (status_in(each.as_object()) == "working") {
                ++working;
            } else {
                EXPECT_EQ(status_in(each.as_object()), "cancelled");
                EXPECT_THAT(string_in(each.as_object(), "statusMessage"), HasSubstr("before it was a task"));
            }
        }
        cursor = string_in(page.at("result").as_object(), "nextCursor");
    } while (!cursor.empty());
    EXPECT_EQ(working, born);
}

}  // namespace
}  // namespace andon
