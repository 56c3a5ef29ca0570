// TASK-5: a task answers to whoever made it, and for everybody else it is not there.
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const std::string nobodys = "00112233445566778899aabbccddeeff";
const std::vector<std::string> two_people{"--token", "a=alice", "--token", "b=bob"};

std::vector<task_way> http_ways() {
    std::vector<task_way> found;
    for (const task_way& each : task_ways()) {
        if (each.http) found.push_back(each);
    }
    return found;
}

/// Everything that a client can ask about a task, and what it is answered, with the id of the request left out.
std::vector<std::string> answers_about(task_caller& client, const std::string& task) {
    std::vector<std::pair<std::string, std::string>> all{{"tasks/get", client.of(task)},
                                                         {"tasks/cancel", client.of(task)}};
    if (client.extension()) {
        all.emplace_back("tasks/update", client.of(task) + R"(,"inputResponses":{"question":{}})");
    } else {
        all.emplace_back("tasks/result", client.of(task));
    }
    std::vector<std::string> told;
    for (const auto& [method, members] : all) {
        json::object answer = client.ask(method, members);
        EXPECT_EQ(code_of(answer), error_code::invalid_params) << method;
        answer["id"] = 0;
        told.push_back(json::serialize(answer));
    }
    return told;
}

std::vector<std::string> listed(task_caller& client) {
    const json::object answer = client.ask("tasks/list", "");
    std::vector<std::string> ids;
    for (const json::value& each : answer.at("result").at("tasks").as_array()) {
        ids.push_back(string_in(each.as_object(), "taskId"));
    }
    return ids;
}

class task_owners : public testing::TestWithParam<task_way> {
protected:
    [[nodiscard]] static bool extension() { return GetParam().extension(); }
};
INSTANTIATE_TEST_SUITE_P(tasks, task_owners, testing::ValuesIn(http_ways()), by_name());

TEST_P(task_owners, TASK_5_another_principals_task_answers_as_one_that_never_was) {
    task_server server(GetParam(), two_people);
    task_caller alice = server.client("a");
    task_caller bob = server.client("b");
    const std::string parked = alice.create("task_park", with_key("parked"));
    const std::string asks = alice.create("task_ask", with_key("asks"));
    const std::string done = alice.create("task_echo", R"({"text":"alice's own"})");
    EXPECT_EQ(text_of(alice.outcome(done)), "alice's own");
    alice.until_status(asks, "input_required");
    const std::vector<std::string> unknown = answers_about(bob, nobodys);
    for (const std::string& each : {parked, asks, done}) EXPECT_EQ(answers_about(bob, each), unknown);
    EXPECT_EQ(alice.status(parked), "working");
    EXPECT_EQ(alice.status(asks), "input_required");
    EXPECT_EQ(alice.status(done), "completed");
    EXPECT_FALSE(server->marked("cancel", "parked"));
    EXPECT_FALSE(server->marked("cancel", "asks"));
    EXPECT_EQ(code_of(alice.cancel(parked)), 0) << "it was there all the time";
}

TEST_P(task_owners, TASK_5_it_is_so_after_a_restart_too) {
    const own_folder directory;
    std::vector<std::string> with_store = two_people;
    with_store.insert(with_store.end(), {"--task-store", directory / "tasks.db"});
    std::string done;
    {
        task_server server(GetParam(), with_store);
        task_caller alice = server.client("a");
        done = alice.create("task_echo", R"({"text":"alice's own"})");
        EXPECT_EQ(text_of(alice.outcome(done)), "alice's own");
        server.kill();
    }
    task_server server(GetParam(), with_store);
    task_caller alice = server.client("a");
    task_caller bob = server.client("b");
    EXPECT_EQ(answers_about(bob, done), answers_about(bob, nobodys));
    EXPECT_EQ(text_of(alice.outcome(done)), "alice's own");
}

TEST_P(task_owners, TASK_5_a_principals_sessions_and_connections_share_its_tasks) {
    task_server server(GetParam(), two_people);
    task_caller one = server.client("a");
    task_caller two = server.client("a");
    const std::string task = one.create("task_park", with_key("parked"));
    EXPECT_EQ(two.status(task), "working");
    EXPECT_EQ(code_of(two.cancel(task)), 0);
    EXPECT_EQ(one.status(task), "cancelled");
}

TEST_P(task_owners, TASK_5_ids_are_128_bits_and_differ) {
    task_server server(GetParam());
    task_caller client = server.client();
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(client.create("task_echo", R"({"text":""})"));
    EXPECT_THAT(ids, Each(MatchesRegex("[0-9a-f]{40}")));
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
    // Behind the time there is nothing that all of them share: each place has many digits.
    for (std::size_t place = 8; place < 40; ++place) {
        std::set<char> seen;
        for (const std::string& each : ids) seen.insert(each[place]);
        EXPECT_GT(seen.size(), 4U) << "place " << place;
    }
}

/// Without principals a session is the owner; the extension has none, and the id is what one has to know.
class session_owners : public task_owners {};
INSTANTIATE_TEST_SUITE_P(tasks, session_owners, testing::Values(requested_ways().back()), by_name());

TEST_P(session_owners, TASK_5_another_sessions_task_answers_as_one_that_never_was) {
    task_server server(GetParam());
    task_caller ours = server.client();
    task_caller theirs = server.client();
    const std::string parked = ours.create("task_park", with_key("parked"));
    const std::string done = ours.create("task_echo", R"({"text":"ours"})");
    EXPECT_EQ(text_of(ours.outcome(done)), "ours");
    const std::vector<std::string> unknown = answers_about(theirs, nobodys);
    for (const std::string& each : {parked, done}) EXPECT_EQ(answers_about(theirs, each), unknown);
    EXPECT_FALSE(server->marked("cancel", "parked"));
    EXPECT_THAT(listed(theirs), IsEmpty());
    task_caller modern = server.client_of(revision::v2026_07_28);
    EXPECT_EQ(code_of(modern.get(parked)), error_code::invalid_params) << "nor without a session";
}

TEST_P(session_owners, TASK_5_a_list_has_ones_own_only) {
    task_server server(GetParam(), two_people);
    task_caller alice = server.client("a");
    task_caller bob = server.client("b");
    const std::string one = alice.create("task_park", with_key("one"));
    const std::string theirs = bob.create("task_park", with_key("theirs"));
    const std::string two = alice.create("task_echo", R"({"text":"two"})");
    EXPECT_THAT(listed(bob), ElementsAre(theirs));
    const std::vector<std::string> own = listed(alice);
    EXPECT_EQ(std::set(own.begin(), own.end()), (std::set<std::string>{one, two}));
}

TEST(tasks_without_sessions, TASK_5_there_is_no_list_where_nobody_knows_who_asks) {
    task_server server(requested_ways().back(), {"--no-sessions"});
    task_caller client = server.client();
    const json::object opened = client.ask(
        "initialize", R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})");
    const json::object& capabilities = opened.at("result").at("capabilities").as_object();
    EXPECT_EQ(json::serialize(capabilities.at("tasks")), R"({"cancel":{},"requests":{"tools":{"call":{}}}})");
    EXPECT_EQ(code_of(client.ask("tasks/list", "")), error_code::method_not_found);
    const std::string task = client.create("task_park", with_key("parked"));
    EXPECT_EQ(client.status(task), "working");
    EXPECT_EQ(code_of(client.cancel(task)), 0);
}

}  // namespace
}  // namespace andon
