// TASK-7: tasks in a file outlive the process that made them; and what happens when the file cannot be written.
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "andon/wire/error.hpp"
#include "built_programs.hpp"
#include "core/named_case.hpp"
#include "own_folder.hpp"
#include "server/task_caller.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class stored_tasks : public testing::TestWithParam<task_way> {
protected:
    [[nodiscard]] static bool extension() { return GetParam().extension(); }
    /// A session without a principal does not outlive the process, and neither does what is its own.
    [[nodiscard]] std::vector<std::string> arguments() const {
        std::vector<std::string> all{"--task-store", directory / "tasks.db"};
        if (GetParam().http) all.insert(all.end(), {"--token", "a=alice"});
        return all;
    }

    own_folder directory;
};
INSTANTIATE_TEST_SUITE_P(tasks, stored_tasks, testing::ValuesIn(task_ways()), by_name());

TEST_P(stored_tasks, TASK_3_TASK_7_what_was_answered_is_there_after_a_kill_and_what_worked_has_failed) {
    std::string done;
    std::string failed;
    std::string cancelled;
    std::string parked;
    json::object before;
    {
        task_server server(GetParam(), arguments());
        task_caller client = server.client("a");
        done = client.create("task_echo", R"({"text":"Grüße \u0001 \" \\ "})");
        failed = client.create("protocol_error_job");
        cancelled = client.create("task_park", with_key("cancelled"));
        parked = client.create("task_park", with_key("parked"));
        client.until_status(done, "completed");
        client.until_status(failed, "failed");
        EXPECT_EQ(code_of(client.cancel(cancelled)), 0);
        before = client.get(done).at("result").as_object();
        server.kill();
    }
    task_server server(GetParam(), arguments());
    EXPECT_THAT(server->logged("an earlier process was working on"), HasSubstr(": 1"));
    task_caller client = server.client("a");
    EXPECT_EQ(client.get(done).at("result").as_object(), before);
    EXPECT_EQ(text_of(client.outcome(done)), "Grüße \x01 \" \\ ");
    EXPECT_EQ(message_of(client.outcome(failed)), "the job broke, as it always does");
    EXPECT_EQ(client.status(cancelled), "cancelled");
    EXPECT_EQ(client.status(parked), "failed");
    EXPECT_EQ(client.status_message(parked), "the server stopped while it was working on this task");
    EXPECT_EQ(message_of(client.outcome(parked)), "the server stopped while it was working on this task");
    EXPECT_EQ(code_of(client.outcome(parked)), error_code::internal_error);
    EXPECT_EQ(code_of(client.cancel(parked)), extension() ? 0 : error_code::invalid_params);
    EXPECT_EQ(client.status(parked), "failed");
    EXPECT_NE(client.create("task_park", with_key("next")), parked);
}

/// Standard error, and the code with which a server leaves that cannot have this file.
std::string refused(const std::string& before, const std::string& file) {
    const std::string line =
        before + built_program("everything_server") + " --task-store " + file + " </dev/null 2>&1; echo exit $?";
    std::FILE* const out = ::popen(line.c_str(), "r");
    std::string said;
    std::array<char, 4'096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), out)) > 0;) {
        said.append(buffer.data(), got);
    }
    ::pclose(out);
    return said;
}

TEST(store_that_cannot_be, TASK_7_a_server_that_cannot_have_its_file_says_why_and_leaves) {
    const own_folder directory;
    EXPECT_THAT(refused("", "/no/such/directory/tasks.db"),
                AllOf(HasSubstr("the task store /no/such/directory/tasks.db cannot be opened"), HasSubstr("exit 1\n")));
    std::ofstream(directory / "tasks.db") << std::string(10'000, 'x');
    EXPECT_THAT(refused("", directory / "tasks.db"), AllOf(HasSubstr("not a task store"), HasSubstr("exit 1\n")));
}

TEST(store_that_cannot_be, TASK_7_a_file_belongs_to_one_process_at_a_time) {
    const own_folder directory;
    task_server first(task_ways().front(), {"--task-store", directory / "tasks.db"});
    task_caller client = first.client();
    const std::string task = client.create("task_park", with_key("parked"));
    EXPECT_THAT(refused("", directory / "tasks.db"),
                AllOf(HasSubstr("another process uses it"), HasSubstr("exit 1\n")));
    EXPECT_EQ(client.status(task), "working") << "and the one that has it is not disturbed";
    EXPECT_EQ(code_of(client.cancel(task)), 0);
}

TEST(store_that_cannot_be, TASK_7_a_file_that_is_read_only_is_refused_at_once) {
    const own_folder directory;
    {
        task_server made(task_ways().front(), {"--task-store", directory / "tasks.db"});
        static_cast<void>(made.client());  // it answers: so it has its file
    }
    namespace fs = std::filesystem;
    fs::permissions(directory.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    for (const auto& each : fs::directory_iterator(directory.path())) {
        fs::permissions(each.path(), fs::perms::owner_read | fs::perms::others_read);
    }
    std::string as_nobody;
    if (::geteuid() == 0) {  // who may write what is read-only
        as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
        const std::string usable = as_nobody + "test -x " + built_program("everything_server");
        if (std::system(usable.c_str()) != 0) GTEST_SKIP() << "nobody else may run the server here";
    }
    EXPECT_THAT(refused(as_nobody, directory / "tasks.db"), AllOf(HasSubstr("the task store " + directory / "tasks.db"),
                                                                  HasSubstr("read-only"), HasSubstr("exit 1\n")));
}

/// The files of that process grow no more.
class full_disk {
public:
    explicit full_disk(pid_t of) : of_(of) { EXPECT_EQ(limit(0), 0); }
    ~full_disk() { static_cast<void>(limit(RLIM_INFINITY)); }  // where there is one still
    full_disk(const full_disk&) = delete;
    full_disk& operator=(const full_disk&) = delete;

private:
    [[nodiscard]] int limit(rlim_t most) const {
        const rlimit now{.rlim_cur = most, .rlim_max = RLIM_INFINITY};
        return ::prlimit(of_, RLIMIT_FSIZE, &now, nullptr);
    }
    pid_t of_;
};

TEST_P(stored_tasks, TASK_1_TASK_6_on_a_full_disk_nothing_is_acknowledged_and_the_work_is_told_all_the_same) {
    static const auto ignored [[maybe_unused]] = std::signal(SIGXFSZ, SIG_IGN);  // the server gets it from us
    task_server server(GetParam(), arguments());
    task_caller client = server.client("a");
    const std::string parked = client.create("task_park", with_key("parked"));
    const std::string other = client.create("task_park", with_key("other"));
    const auto waits = client.create("task_spin", with_key("spins", R"("ms":300)"));
    server->mark("start", "parked");
    server->mark("start", "spins");
    const auto expect_refused = [&](const json::object& answer) {
        EXPECT_EQ(code_of(answer), error_code::internal_error);
        if (code_of(answer) == error_code::internal_error) {
            EXPECT_THAT(message_of(answer), HasSubstr("the task store " + directory / "tasks.db"));
        }
    };
    {
        const full_disk full(server->pid());
        expect_refused(client.answer(client.start_task("task_park", with_key("never"))));
        expect_refused(client.cancel(parked));
        server->mark("cancel", "parked");
        expect_refused(client.get(parked));
        expect_refused(client.cancel(parked));
        if (!extension()) expect_refused(client.outcome(waits));
        EXPECT_EQ(client.status(other), "working") << "what needs no writing goes on";
        client.fence();
        EXPECT_FALSE(server->marked("start", "never"));
        server->logged("could not be written down");
    }
    // It is tried again, without anybody asking for it.
    client.until(
        parked, [](const json::object& answer) { return code_of(answer) == 0; }, "room on the disk");
    EXPECT_EQ(client.status(parked), "cancelled");
    client.until(
        waits, [](const json::object& answer) { return code_of(answer) == 0; }, "room on the disk");
    client.until_status(waits, "completed");
    EXPECT_EQ(text_of(client.outcome(client.create("task_echo", R"({"text":"as before"})"))), "as before");
    EXPECT_EQ(code_of(client.cancel(other)), 0);
}

TEST_P(stored_tasks, TASK_7_what_a_full_disk_did_not_take_has_failed_after_a_kill) {
    static const auto ignored [[maybe_unused]] = std::signal(SIGXFSZ, SIG_IGN);
    std::string parked;
    {
        task_server server(GetParam(), arguments());
        task_caller client = server.client("a");
        parked = client.create("task_park", with_key("parked"));
        const full_disk full(server->pid());
        EXPECT_EQ(code_of(client.cancel(parked)), error_code::internal_error);
        server.kill();
    }
    task_server server(GetParam(), arguments());
    task_caller client = server.client("a");
    EXPECT_EQ(client.status(parked), "failed") << "its cancel was not acknowledged";
}

TEST_P(stored_tasks, TASK_1_a_server_that_leaves_while_the_disk_is_full_does_not_wait_for_it) {
    static const auto ignored [[maybe_unused]] = std::signal(SIGXFSZ, SIG_IGN);
    task_server server(GetParam(), arguments());
    task_caller client = server.client("a");
    const std::string parked = client.create("task_park", with_key("parked"));
    const full_disk full(server->pid());
    EXPECT_EQ(code_of(client.cancel(parked)), error_code::internal_error);
    const auto asked = std::chrono::steady_clock::now();
    ::kill(server->pid(), SIGTERM);
    EXPECT_EQ(server->exit().code, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, promptly);
}

}  // namespace
}  // namespace andon
