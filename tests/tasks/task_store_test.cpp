// Where tasks are kept: the same in memory and on the disk, and on the disk after a crash too.
#include "andon/tasks/task_store.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/named_case.hpp"
#include "own_folder.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ids = std::vector<std::string>;

constexpr task_time start{1'000'000ms};

task_record task(std::string id, std::string owner = "o", task_time created = start) {
    return {.id = std::move(id), .owner = std::move(owner), .label = "tool", .created = created, .updated = created};
}

struct store_case {
    std::string name;
    std::unique_ptr<task_store> (*open)(const std::string& file);
};

class every_store : public testing::TestWithParam<store_case> {
protected:
    void write(const std::vector<task_record>& tasks) { store->write(tasks); }
    [[nodiscard]] ids listed(std::string_view owner, const task_place& after = {}, std::size_t most = 100) {
        ids found;
        for (const task_record& each : store->list(owner, after, most)) found.push_back(each.id);
        return found;
    }

    own_folder directory;
    std::unique_ptr<task_store> store = GetParam().open(directory / "tasks.db");
};

TEST_P(every_store, gives_back_what_was_written) {
    task_record one = task("a", std::string("the\0owner", 9));
    one.status = task_status::completed;
    one.status_message = "Grüße";
    one.updated = start + 5ms;
    one.ttl = 60s;
    one.raw_result = R"({"content":[]})";
    write({one, task("b")});
    EXPECT_EQ(store->find("a", one.owner), one);
    EXPECT_EQ(store->find("b", "o"), task("b"));
    EXPECT_EQ(store->find("b", "p"), std::nullopt);
    EXPECT_EQ(store->find("a", "the"), std::nullopt);
    EXPECT_EQ(store->find("c", "o"), std::nullopt);
    EXPECT_EQ(store->find("", "o"), std::nullopt);
    one.status = task_status::failed;
    one.raw_error = R"({"code":-32603})";
    one.ttl.reset();
    write({one});
    EXPECT_EQ(store->find("a", one.owner), one);
    EXPECT_EQ(store->size(), 2U);
}

TEST_P(every_store, TASK_5_lists_an_owners_own_in_pages_without_results) {
    std::vector<task_record> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(task("a" + std::to_string(i), "one", start + i / 2 * 1ms));
        all.back().raw_result = "{}";
        all.push_back(task("b" + std::to_string(i), "another", start));
    }
    write(all);
    EXPECT_EQ(listed("one"), (ids{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"}));
    EXPECT_EQ(listed("one", {}, 3), (ids{"a0", "a1", "a2"}));
    EXPECT_EQ(listed("one", {start + 1ms, "a2"}, 3), (ids{"a3", "a4", "a5"}));
    EXPECT_EQ(listed("one", {start + 4ms, "a9"}), ids{});
    EXPECT_EQ(listed("on"), ids{});
    EXPECT_EQ(listed("another").size(), 10U);
    EXPECT_EQ(store->list("one", {}, 1).front().raw_result, "");
}

TEST_P(every_store, forgets_what_has_expired_and_nothing_else) {
    std::vector<task_record> all{task("never"), task("later"), task("soon"), task("sooner")};
    all[1].ttl = 100s;
    all[2].ttl = 10s;
    all[3].ttl = 1s;
    write(all);
    EXPECT_EQ(store->forget_expired(start + 999ms, 100), 0U);
    EXPECT_EQ(store->forget_expired(start + 10s, 1), 1U);
    EXPECT_EQ(store->size(), 3U);
    EXPECT_EQ(store->forget_expired(start + 10s, 100), 1U);
    EXPECT_EQ(listed("o"), (ids{"later", "never"}));
    all[1].ttl = 1'000s;
    write({all[1]});
    EXPECT_EQ(store->forget_expired(start + 100s, 100), 0U) << "it was given more time";
}

TEST_P(every_store, fails_what_nobody_works_on_any_more) {
    std::vector<task_record> all{task("working"), task("asks"), task("done"), task("cancelled")};
    all[1].status = task_status::input_required;
    all[2].status = task_status::completed;
    all[3].status = task_status::cancelled;
    write(all);
    EXPECT_EQ(store->fail_unfinished(start + 1s, "gone"), 2U);
    for (const char* id : {"working", "asks"}) {
        const auto found = store->find(id, "o");
        EXPECT_EQ(found->status, task_status::failed);
        EXPECT_EQ(found->status_message, "gone");
        EXPECT_EQ(found->updated, start + 1s);
    }
    EXPECT_EQ(store->find("done", "o")->status, task_status::completed);
    EXPECT_EQ(store->find("cancelled", "o")->status, task_status::cancelled);
    EXPECT_EQ(store->fail_unfinished(start + 1s, "gone"), 0U);
}

INSTANTIATE_TEST_SUITE_P(tasks, every_store,
                         testing::Values(store_case{"memory", [](const std::string&) { return memory_task_store(); }},
                                         store_case{"sqlite", sqlite_task_store}),
                         by_name());

/// What `work` wrote to the descriptor, in a process of its own that is killed when it has written so much.
std::string in_a_process_that_is_killed(std::size_t after_bytes, const std::function<void(int)>& work) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipe[0]);
        try {
            work(pipe[1]);
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    ::close(pipe[1]);
    std::string said;
    std::array<char, 4'096> buffer{};
    bool killed = false;
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) > 0;) {
        said.append(buffer.data(), static_cast<std::size_t>(got));
        if (!killed && said.size() >= after_bytes) killed = ::kill(child, SIGKILL) == 0;
    }
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    return said;
}

void say(int to, const std::string& text) { static_cast<void>(!::write(to, text.data(), text.size())); }

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const task_store_error& error) {
        return error.what();
    }
    return "it worked";
}

constexpr std::size_t never = 1'000'000;

TEST(sqlite_store, TASK_7_is_there_again_after_the_process) {
    const own_folder directory;
    sqlite_task_store(directory / "tasks.db")->write(std::vector{task("a")});
    EXPECT_EQ(sqlite_task_store(directory / "tasks.db")->find("a", "o"), task("a"));
}

TEST(sqlite_store, TASK_3_TASK_7_what_was_acknowledged_survives_a_kill_at_any_moment) {
    const own_folder directory;
    const std::size_t line = new_task_id().size() + 1;
    std::set<std::string> acknowledged;
    for (std::size_t round = 0; round < 20; ++round) {
        const std::string said = in_a_process_that_is_killed(line * (1 + round * 3), [&](int to) {
            const auto store = sqlite_task_store(directory / "tasks.db");
            for (int i = 0; i < 200; ++i) {
                task_record one = task(new_task_id());
                store->write(std::vector{one});
                one.status = task_status::cancelled;
                store->write(std::vector{one});
                say(to, one.id + "\n");
            }
        });
        for (std::size_t at = 0; at + line <= said.size(); at += line) {
            EXPECT_TRUE(acknowledged.insert(said.substr(at, line - 1)).second) << "an id twice";
        }
        const auto store = sqlite_task_store(directory / "tasks.db");
        store->fail_unfinished(start, "killed");
        for (const std::string& id : acknowledged) {
            const auto found = store->find(id, "o");
            ASSERT_TRUE(found) << id;
            ASSERT_EQ(found->status, task_status::cancelled) << id;
        }
    }
    EXPECT_GT(acknowledged.size(), 100U);
}

TEST(sqlite_store, belongs_to_one_process_at_a_time) {
    const own_folder directory;
    const auto first = sqlite_task_store(directory / "tasks.db");
    first->write(std::vector{task("a")});
    EXPECT_THAT(in_a_process_that_is_killed(
                    never,
                    [&](int to) {
                        say(to, refusal([&] { static_cast<void>(sqlite_task_store(directory / "tasks.db")->size()); }));
                    }),
                HasSubstr("another process uses it"));
    first->write(std::vector{task("b")});
}

TEST(sqlite_store, says_what_is_wrong_with_a_file) {
    const own_folder directory;
    EXPECT_THAT(refusal([] { static_cast<void>(sqlite_task_store("/no/such/directory/tasks.db")->size()); }),
                HasSubstr("/no/such/directory/tasks.db cannot be opened"));
    std::ofstream(directory / "tasks.db") << std::string(10'000, 'x');
    EXPECT_THAT(refusal([&] { static_cast<void>(sqlite_task_store(directory / "tasks.db")->size()); }),
                HasSubstr("not a task store"));
}

TEST(sqlite_store, a_full_disk_is_an_error_that_changes_nothing) {
    const own_folder directory;
    const std::string said = in_a_process_that_is_killed(never, [&](int to) {
        const auto store = sqlite_task_store(directory / "tasks.db");
        store->write(std::vector{task("a")});
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit little{.rlim_cur = 200'000, .rlim_max = 200'000};
        ::setrlimit(RLIMIT_FSIZE, &little);
        task_record large = task("large");
        large.raw_result = std::string(1'000'000, 'x');
        say(to, refusal([&] { store->write(std::vector{task("b"), large}); }));
        say(to, store->find("a", "o") && !store->find("b", "o") && !store->find("large", "o") ? ", as before, "
                                                                                              : ", lost, ");
        say(to, refusal([&] { store->write(std::vector{task("c")}); }));
    });
    EXPECT_THAT(said, HasSubstr("the task store " + directory / "tasks.db"));
    EXPECT_THAT(said, HasSubstr(", as before, it worked"));
    EXPECT_TRUE(sqlite_task_store(directory / "tasks.db")->find("c", "o"));
}

TEST(task_record_test, TASK_5_ids_cannot_be_guessed) {
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(seen.insert(new_task_id()).second);
    EXPECT_EQ(seen.begin()->size(), 40U);
}

TEST(task_record_test, states_have_the_names_of_the_wire) {
    for (const auto status : {task_status::working, task_status::input_required, task_status::completed,
                              task_status::failed, task_status::cancelled}) {
        EXPECT_EQ(task_status_from(to_string(status)), status);
    }
    EXPECT_EQ(task_status_from("cancelling"), std::nullopt);
}

}  // namespace
}  // namespace andon
