// TASK-7: a server that is killed at any moment, again and again, while its client makes and cancels tasks. What was
// acknowledged stands.
#include <boost/json/parse.hpp>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sqlite3.h>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

/// What a client knows of a task that it made.
struct known_task {
    bool echo = false;
    bool cancel_sent = false;
    bool cancelled = false;  // and acknowledged
    std::string id{};        // empty: its making was not acknowledged
    std::string result{};    // that was read
};

std::string integrity_of(const std::string& file) {
    sqlite3* base = nullptr;
    std::string said = "not opened";
    if (sqlite3_open(file.c_str(), &base) == SQLITE_OK) {
        const auto keep = [](void* to, int, char** columns, char**) {
            *static_cast<std::string*>(to) = columns[0];
            return 0;
        };
        sqlite3_exec(base, "PRAGMA integrity_check(1)", keep, &said, nullptr);
    }
    sqlite3_close(base);
    return said;
}

/// One process, and what its client does with it until it is killed. Many requests are on their way at once.
class killed_server {
public:
    killed_server(const task_way& how, const std::string& file, std::size_t round)
        : server_(how, {"--task-store", file}), client_(server_.client()), prefix_(std::to_string(round) + '-') {
        read_ = server_->lines().size();
    }

    /// Makes so many, some of them at once, and goes on with each until so many answers have come.
    void work(std::size_t tasks, std::size_t answers) {
        constexpr std::size_t at_once = 100;
        to_make_ = tasks;
        std::string lines;
        for (std::size_t i = 0; i < at_once; ++i) lines += make();
        server_->write(lines);
        server_->wait_until([&] { return take_answers(), answered_ >= answers; }, "answers");
    }
    /// What had been written before is read.
    std::map<std::string, known_task> kill() {
        server_.kill();
        try {
            server_->wait_until([] { return false; }, "the end of the output");
        } catch (const std::runtime_error&) {  // that is it
        }
        take_answers();
        return std::move(tasks_);
    }
    /// How each of these is now.
    void check(const std::map<std::string, known_task>& tasks) {
        std::string lines;
        for (const auto& [key, task] : tasks) {
            if (task.id.empty()) continue;
            lines += client_.line(id("get", key), "tasks/get", client_.of(task.id)) + '\n';
            if (task.echo && !client_.extension()) {
                lines += client_.line(id("read", key), "tasks/result", client_.of(task.id)) + '\n';
            }
        }
        server_->write(lines);
        client_.fence();
        std::map<std::string, json::object> answers;
        server_->wait_until([&] { return take(answers), answers.contains(R"("fence 1")"); }, "answers");
        for (const auto& [key, task] : tasks) {
            if (task.id.empty()) continue;
            SCOPED_TRACE(key);
            const auto found = [&](const char* what) { return answers.find(id(what, key)); };
            server_->wait_until([&] { return take(answers), found("get") != answers.end(); }, "an answer");
            ASSERT_EQ(code_of(found("get")->second), 0) << "it is gone";
            const json::object& now = found("get")->second.at("result").as_object();
            if (task.echo && !client_.extension()) {
                server_->wait_until([&] { return take(answers), found("read") != answers.end(); }, "a result");
                expect(task, now, found("read")->second);
            } else {
                json::object outcome;
                for (const char* const what : {"result", "error"}) {
                    if (now.contains(what)) outcome[what] = now.at(what);
                }
                expect(task, now, outcome);
            }
        }
    }

private:
    [[nodiscard]] static std::string id(std::string_view what, std::string_view key) {
        return '"' + std::string(what) + ' ' + std::string(key) + '"';
    }
    void expect(const known_task& task, const json::object& now, const json::object& outcome) const {
        const std::string status = status_in(now);
        if (task.cancelled) {
            ASSERT_EQ(status, "cancelled") << "its cancel was acknowledged";
        } else if (!task.result.empty()) {
            ASSERT_EQ(status, "completed") << "its result was read";
            ASSERT_EQ(text_of(outcome), task.result);
        } else if (status == "completed") {
            ASSERT_TRUE(task.echo);
            ASSERT_THAT(text_of(outcome), testing::StartsWith("text of "));
        } else if (status == "cancelled") {
            ASSERT_TRUE(task.cancel_sent);
        } else {
            ASSERT_EQ(status, "failed");
            ASSERT_EQ(string_in(now, "statusMessage"), "the server stopped while it was working on this task");
        }
    }
    /// Those that have come, by the ids of their requests.
    void take(std::map<std::string, json::object>& answers) {
        for (; read_ < server_->lines().size(); ++read_) {
            json::object message = json::parse(server_->lines()[read_]).as_object();
            if (message.contains("method")) continue;
            std::string raw_id = '"' + string_in(message, "id") + '"';
            answers.insert_or_assign(std::move(raw_id), std::move(message));
        }
    }
    void take_answers() {
        std::map<std::string, json::object> answers;
        take(answers);
        std::string lines;
        for (const auto& [raw_id, answer] : answers) {
            ++answered_;
            const std::size_t space = raw_id.find(' ');
            const std::string what = raw_id.substr(1, space - 1);
            const std::string key = raw_id.substr(space + 1, raw_id.size() - space - 2);
            known_task& task = tasks_.at(key);
            EXPECT_EQ(code_of(answer), 0) << raw_id;
            if (code_of(answer) != 0) continue;
            const json::object& result = answer.at("result").as_object();
            if (what == "make") {
                task.id = string_in(client_.extension() ? result : result.at("task").as_object(), "taskId");
                lines += next(task, key) + make();
            } else if (what == "cancel") {
                task.cancelled = true;
            } else if (what == "read") {
                const json::object whole{{"result", client_.extension() && result.contains("result")
                                                        ? result.at("result")
                                                        : json::value(result)}};
                if (client_.extension() && status_in(result) != "completed") {
                    lines += next(task, key);
                } else {
                    task.result = text_of(whole);
                }
            }
        }
        if (!lines.empty()) server_->write(lines);
    }
    [[nodiscard]] std::string make() {
        if (tasks_.size() == to_make_) return {};
        const std::string key = prefix_ + std::to_string(tasks_.size());
        known_task& task = tasks_[key];
        task.echo = tasks_.size() % 3 == 0;
        const std::string tool = task.echo ? "task_echo" : "task_park";
        const std::string arguments = task.echo ? R"({"text":"text of )" + key + "\"}" : with_key(key);
        return client_.line(id("make", key), "tools/call", client_.task_members(tool, arguments)) + '\n';
    }
    /// An echo is read, every second of the others is cancelled.
    [[nodiscard]] std::string next(known_task& task, const std::string& key) {
        const char* const read = client_.extension() ? "tasks/get" : "tasks/result";
        if (task.echo) return client_.line(id("read", key), read, client_.of(task.id)) + '\n';
        if (key.back() % 2 == 0) return {};
        task.cancel_sent = true;
        return client_.line(id("cancel", key), "tasks/cancel", client_.of(task.id)) + '\n';
    }

    task_server server_;
    task_caller client_;
    std::string prefix_;
    std::size_t read_ = 0;
    std::size_t to_make_ = 0;
    std::size_t answered_ = 0;
    std::map<std::string, known_task> tasks_;
};

class killed_again_and_again : public testing::TestWithParam<task_way> {};
INSTANTIATE_TEST_SUITE_P(tasks, killed_again_and_again,
                         testing::Values(requested_ways().front(), extension_ways().front()), by_name());

TEST_P(killed_again_and_again, TASK_3_TASK_5_TASK_7_what_was_acknowledged_stands) {
    const std::size_t rounds = sanitized ? 6 : 100;
    const std::size_t tasks = sanitized ? 300 : 1'000;
    const own_folder directory;
    std::mt19937 random(2026);
    std::set<std::string> ids;
    std::map<std::string, known_task> before;
    std::size_t made = 0;
    std::size_t cancelled = 0;
    std::size_t read = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        killed_server server(GetParam(), directory / "tasks.db", round);
        server.check(before);
        if (testing::Test::HasFailure()) return;
        // Of each there are one, two or more answers; some are still to come when it is killed.
        server.work(tasks, 1 + random() % (tasks * 3 / 2));
        before = server.kill();
        for (const auto& [key, task] : before) {
            if (task.id.empty()) continue;
            ++made;
            cancelled += task.cancelled ? 1U : 0U;
            read += task.result.empty() ? 0U : 1U;
            ASSERT_TRUE(ids.insert(task.id).second) << "an id twice";
        }
        // Not every time: it would put the file in order before the server has to.
        if (round % 10 == 9 || round + 1 == rounds) {
            ASSERT_EQ(integrity_of(directory / "tasks.db"), "ok");
        }
    }
    killed_server(GetParam(), directory / "tasks.db", rounds).check(before);
    EXPECT_GT(made, rounds * tasks / 10);
    EXPECT_GT(cancelled, made / 20);
    EXPECT_GT(read, made / 20);
    RecordProperty("made", static_cast<int>(made));
    RecordProperty("cancelled", static_cast<int>(cancelled));
    RecordProperty("read", static_cast<int>(read));
}

}  // namespace
}  // namespace andon
