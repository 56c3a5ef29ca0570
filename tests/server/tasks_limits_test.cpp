// How long tasks are kept, how many there may be, how often one may ask; and how a server leaves that has some.
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

class task_limits : public testing::TestWithParam<task_way> {
protected:
    [[nodiscard]] static bool extension() { return GetParam().extension(); }
};
INSTANTIATE_TEST_SUITE_P(tasks, task_limits, testing::ValuesIn(task_ways()), by_name());

// Time.

TEST_P(task_limits, a_task_is_forgotten_when_its_time_is_over_and_its_work_stopped) {
    task_server server(GetParam(), {"--task-ttl-ms", "100"});
    task_caller client = server.client();
    const json::object made = client.born(client.start_task("task_park", with_key("parked")));
    EXPECT_EQ(made.at(extension() ? "ttlMs" : "ttl").as_int64(), 100);
    const std::string parked = string_in(made, "taskId");
    const std::string done = client.create("task_echo", R"({"text":"done"})");
    server->mark("cancel", "parked");
    EXPECT_THAT(server->logged("task " + parked), HasSubstr("cancelled: timeout"));
    client.until_unknown(parked);
    client.until_unknown(done);
    EXPECT_EQ(code_of(client.cancel(parked)), error_code::invalid_params);
    if (!extension()) {
        EXPECT_EQ(code_of(client.outcome(parked)), error_code::invalid_params);
        EXPECT_TRUE(client.ask("tasks/list", "").at("result").at("tasks").as_array().empty());
    }
    const std::string next = client.create("task_echo", R"({"text":"next"})");
    EXPECT_NE(next, parked);
}

TEST_P(task_limits, work_that_does_not_listen_is_forgotten_too) {
    task_server server(GetParam(), {"--task-ttl-ms", "50"});
    task_caller client = server.client();
    const std::string task = client.create("task_block", with_key("blocks", R"("ms":1500)"));
    client.until_unknown(task);
    ASSERT_FALSE(server->marked("end", "blocks")) << "it ended too soon to prove anything";
    server->mark("end", "blocks");
    client.fence();
    EXPECT_EQ(code_of(client.get(task)), error_code::invalid_params);
}

TEST(task_ttl, a_client_asks_for_its_own_time) {
    for (const task_way& way : requested_ways()) {
        task_server server(way);
        task_caller client = server.client();
        const std::string shortly = client.create("task_park", with_key("short"), {}, R"({"ttl":50})");
        const std::string longer = client.create("task_park", with_key("long"), {}, R"({"ttl":600000})");
        server->mark("cancel", "short");
        client.until_unknown(shortly);
        EXPECT_EQ(client.status(longer), "working");
        EXPECT_FALSE(server->marked("cancel", "long"));
    }
}

// Numbers.

TEST_P(task_limits, so_many_work_at_once_and_no_more) {
    task_server server(GetParam(), {"--live-tasks", "3"});
    task_caller client = server.client();
    std::vector<std::string> tasks;
    for (int i = 0; i < 3; ++i) tasks.push_back(client.create("task_park", with_key("p" + std::to_string(i))));
    for (int twice = 0; twice < 2; ++twice) {
        const json::object refused = client.answer(client.start_task("task_park", with_key("refused")));
        EXPECT_EQ(code_of(refused), error_code::internal_error);
        EXPECT_THAT(message_of(refused), HasSubstr("tasks"));
    }
    EXPECT_EQ(code_of(client.cancel(tasks[1])), 0);
    server->mark("cancel", "p1");
    // There is room again when the work is over, which the client is not told of.
    json::object next;
    do next = client.answer(client.start_task("task_park", with_key("next")));
    while (code_of(next) == error_code::internal_error);
    EXPECT_EQ(code_of(next), 0);
    server->mark("start", "next");
    EXPECT_FALSE(server->marked("start", "refused"));
    for (const int i : {0, 2}) EXPECT_EQ(client.status(tasks[static_cast<std::size_t>(i)]), "working");
}

TEST_P(task_limits, work_that_ended_makes_room) {
    task_server server(GetParam(), {"--live-tasks", "1"});
    task_caller client = server.client();
    for (int i = 0; i < 20; ++i) {
        json::object made;
        do made = client.answer(client.start_task("task_echo", R"({"text":"x"})"));
        while (code_of(made) == error_code::internal_error);
        ASSERT_EQ(code_of(made), 0);
    }
}

TEST_P(task_limits, so_many_are_kept_and_no_more) {
    task_server server(GetParam(), {"--kept-tasks", "2", "--task-ttl-ms", "2000"});
    task_caller client = server.client();
    const std::string first = client.create("task_echo", R"({"text":"one"})");
    const std::string second = client.create("task_echo", R"({"text":"two"})");
    client.until_status(first, "completed");
    client.until_status(second, "completed");
    const json::object refused = client.answer(client.start_task("task_echo", R"({"text":"three"})"));
    EXPECT_EQ(code_of(refused), error_code::internal_error);
    EXPECT_THAT(message_of(refused), HasSubstr("keeps as many tasks as it may"));
    client.until_unknown(first);
    client.until_unknown(second);
    EXPECT_EQ(text_of(client.outcome(client.create("task_echo", R"({"text":"four"})"))), "four");
}

TEST_P(task_limits, so_much_may_be_asked_in_a_second_and_a_cancel_still_works) {
    task_server server(GetParam(), {"--task-requests", "5"});
    task_caller client = server.client();
    const std::string task = client.create("task_park", with_key("parked"));
    json::object refused;
    for (int i = 0; i < 100 && code_of(refused) == 0; ++i) refused = client.get(task);
    EXPECT_EQ(code_of(refused), error_code::internal_error);
    EXPECT_THAT(message_of(refused), HasSubstr("try again later"));
    EXPECT_EQ(code_of(client.cancel(task)), 0);
    server->mark("cancel", "parked");
    // Whoever guesses ids is held up.
    json::object guessed;
    for (int i = 0; i < 100; ++i) {
        guessed = client.cancel(std::string(31, '0') + static_cast<char>('a' + i % 6));
        if (code_of(guessed) == error_code::internal_error) break;
        EXPECT_EQ(code_of(guessed), error_code::invalid_params);
    }
    EXPECT_EQ(code_of(guessed), error_code::internal_error);
}

TEST(task_limits_of_owners, one_owner_does_not_use_up_what_another_may_ask) {
    task_server server(extension_ways().back(), {"--task-requests", "5", "--token", "a=alice", "--token", "b=bob"});
    task_caller alice = server.client("a");
    task_caller bob = server.client("b");
    const std::string task = bob.create("task_park", with_key("parked"));
    json::object refused;
    for (int i = 0; i < 100 && code_of(refused) != error_code::internal_error; ++i) {
        refused = alice.get(std::string(32, '0'));
    }
    EXPECT_EQ(code_of(refused), error_code::internal_error);
    EXPECT_EQ(bob.status(task), "working");
}

// The end of the server.

TEST_P(task_limits, TASK_6_a_server_that_leaves_tells_its_tasks_and_is_gone_promptly) {
    const own_folder directory;
    const std::vector<std::string> with_store{"--task-store", directory / "tasks.db", "--token", "a=alice"};
    const std::vector<std::string> arguments =
        GetParam().http ? with_store : std::vector<std::string>(with_store.begin(), with_store.begin() + 2);
    std::vector<std::string> tasks;
    std::string done;
    {
        task_server server(GetParam(), arguments);
        task_caller client = server.client("a");
        tasks = {client.create("task_park", with_key("parks")),
                 client.create("task_spin", with_key("spins", R"("ms":600000)")),
                 client.create("task_block", with_key("blocks", R"("ms":600000)")),
                 client.create("task_child", with_key("child")), client.create("task_ask", with_key("asks"))};
        for (const char* const key : {"parks", "spins", "blocks", "child", "asks"}) server->mark("start", key);
        done = client.create("task_echo", R"({"text":"done"})");
        client.until_status(done, "completed");
        const auto asked = std::chrono::steady_clock::now();
        ::kill(server->pid(), SIGTERM);
        const exit_status how = server->exit();
        EXPECT_LT(std::chrono::steady_clock::now() - asked, promptly);
        EXPECT_FALSE(how.signalled);
        EXPECT_EQ(how.code, 0);
        for (const char* const key : {"parks", "spins", "child", "asks"}) EXPECT_TRUE(server->marked("cancel", key));
    }
    task_server server(GetParam(), arguments);
    task_caller client = server.client("a");
    for (const std::string& each : tasks) {
        EXPECT_EQ(client.status(each), "failed");
        EXPECT_EQ(client.status_message(each), "the server was shut down");
    }
    EXPECT_EQ(text_of(client.outcome(done)), "done");
    EXPECT_EQ(server->times_logged("an earlier process was working on"), 0) << "each was ended in order";
}

TEST(task_server_alone, TASK_6_a_client_that_leaves_ends_the_tasks_of_its_process) {
    const own_folder directory;
    for (const task_way& way : {requested_ways().front(), extension_ways().front()}) {
        std::string task;
        {
            task_server server(way, {"--task-store", directory / "tasks.db"});
            task_caller client = server.client();
            task = client.create("task_park", with_key("parked"));
            server->mark("start", "parked");
            server->close_input();
            EXPECT_EQ(server->exit().code, 0);
            EXPECT_TRUE(server->marked("cancel", "parked"));
        }
        task_server server(way, {"--task-store", directory / "tasks.db"});
        task_caller client = server.client();
        EXPECT_EQ(client.status(task), "failed");
        EXPECT_NE(client.status_message(task), "");
    }
}

}  // namespace
}  // namespace andon
