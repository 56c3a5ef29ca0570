#include "andon/process/process_tree.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "process/process_watch.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::optional<exit_status> exit_of(const command& what) {
    auto tree = process_tree::start(what);
    EXPECT_TRUE(tree.wait(patience));
    return tree.exited();
}

TEST(process_tree, gives_the_output_and_the_exit_code) {
    auto tree = process_tree::start(shell("echo hello; exit 3"));
    EXPECT_GT(tree.pid(), 0);
    EXPECT_EQ(read_all(tree.out()), "hello\n");
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 3}));
    EXPECT_EQ(tree.killed(), 0U);
    EXPECT_EQ(tree.survivors(), 0U);
    EXPECT_EQ(tree.in(), -1);
    EXPECT_EQ(tree.err(), -1);
}

TEST(process_tree, tells_an_exit_code_from_a_signal_of_the_same_number) {
    EXPECT_EQ(exit_of(shell("exit 15")), (exit_status{false, SIGTERM}));
    EXPECT_EQ(exit_of(shell("kill -TERM $$")), (exit_status{true, SIGTERM}));
    EXPECT_EQ(exit_of(shell("exit 143")), (exit_status{false, 143}));
}

TEST(process_tree, input_output_and_errors_are_pipes_of_their_own) {
    auto tree = process_tree::start(shell("read line; echo out $line; echo err $line >&2; cat"),
                                    {stdio::pipe, stdio::pipe, stdio::pipe});
    ASSERT_EQ(::write(tree.in(), "one\ntwo\n", 8), 8);
    EXPECT_EQ(read_line(tree.out()), "out one");
    EXPECT_EQ(read_line(tree.err()), "err one");
    tree.close_in();
    EXPECT_EQ(tree.in(), -1);
    EXPECT_EQ(read_all(tree.out()), "two\n");
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 0}));
    tree.close_out();
    tree.close_err();
    EXPECT_EQ(tree.out(), -1);
    EXPECT_EQ(tree.err(), -1);
}

TEST(process_tree, takes_environment_and_directory) {
    auto what = shell("echo $ANDON_ONE-$ANDON_TWO; pwd");
    what.environment = {{"ANDON_ONE", "1"}, {"ANDON_TWO", "first"}, {"ANDON_TWO", "2"}};
    what.directory = "/proc";
    auto tree = process_tree::start(what);
    EXPECT_EQ(read_all(tree.out()), "1-2\n/proc\n");
}

TEST(process_tree, looks_up_the_program_in_the_path_of_the_command) {
    EXPECT_EQ(exit_of({.argv = {"true"}}), (exit_status{false, 0}));
    EXPECT_THROW((void)process_tree::start({.argv = {"true"}, .environment = {{"PATH", "/proc"}}}), std::system_error);
}

TEST(process_tree, large_output_comes_through_whole) {
    auto tree = process_tree::start({.argv = {"head", "-c", "20000000", "/dev/zero"}});
    EXPECT_EQ(read_all(tree.out()), std::string(20'000'000, '\0'));
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 0}));
}

struct start_fault {
    const char* name;
    command what;
    std::errc reason;
    const char* says;
};
class process_tree_faults : public ::testing::TestWithParam<start_fault> {};

TEST_P(process_tree_faults, are_thrown_with_the_reason_and_the_name) {
    try {
        (void)process_tree::start(GetParam().what);
        FAIL() << "it was started";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), GetParam().reason) << error.what();
        EXPECT_THAT(error.what(), AllOf(HasSubstr(GetParam().what.argv[0]), HasSubstr(GetParam().says)));
    }
    EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(
    each, process_tree_faults,
    ::testing::Values(
        start_fault{"missing", {.argv = {"andon-no-such-program"}}, std::errc::no_such_file_or_directory, "No such"},
        start_fault{"missing_path", {.argv = {"/no/such"}}, std::errc::no_such_file_or_directory, "No such"},
        start_fault{"not_executable", {.argv = {"/etc/passwd"}}, std::errc::permission_denied, "Permission denied"},
        start_fault{"a_directory", {.argv = {"/etc"}}, std::errc::permission_denied, "Permission denied"},
        start_fault{"below_a_file", {.argv = {"/etc/passwd/x"}}, std::errc::not_a_directory, "Not a directory"},
        start_fault{"bad_directory",
                    {.argv = {"true"}, .directory = "/no/such/place"},
                    std::errc::no_such_file_or_directory,
                    "in the directory '/no/such/place'"},
        start_fault{"too_long",
                    {.argv = {"true", std::string(3'000'000, 'x')}},
                    std::errc::argument_list_too_long,
                    "list too long"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(process_tree, refuses_what_can_be_no_command) {
    using namespace std::string_literals;
    EXPECT_THROW((void)process_tree::start({.argv = {}}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {""}}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {"echo", "a\0b"s}}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {"true"}, .environment = {{"A=B", ""}}}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {"true"}, .environment = {{"", ""}}}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {"true"}, .directory = "/\0"s}), std::invalid_argument);
    EXPECT_THROW((void)process_tree::start({.argv = {"true"}, .grace = milliseconds(-1)}), std::invalid_argument);
}

TEST(process_tree, an_event_loop_is_woken_for_every_report) {
    auto tree = process_tree::start(shell("exit 5"));
    while (!tree.finished()) {
        ASSERT_TRUE(readable(tree.report_fd()));
        tree.poll();
    }
    EXPECT_EQ(tree.exited(), (exit_status{false, 5}));
    EXPECT_FALSE(has_children());
}

TEST(process_tree, a_program_without_standard_streams_can_start_one) {
    EXPECT_EQ(exit_of({.argv = {PROGRAM_WITH_TREES, "without_streams"}}), (exit_status{false, 0}));
}

TEST(process_tree, the_command_starts_with_a_clean_slate) {
    const int leaked = ::dup(STDERR_FILENO);  // without close-on-exec, as other people's libraries leave them
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    sigset_t block{};
    sigset_t mask{};
    sigaddset(&block, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &block, &mask);
    auto tree =
        process_tree::start(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status; read -r pid name state parent group rest "
                                  "</proc/$$/stat; [ $group = $$ ] || exit 1\n"
                                  "[ -e /proc/$$/fd/" +
                                  std::to_string(leaked) + " ] && exit 2; exit 0"));
    EXPECT_EQ(read_all(tree.out()), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 0}));
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    std::signal(SIGPIPE, before);
    ::close(leaked);
}

std::atomic<int> child_signals{0};

TEST(process_tree, the_program_s_own_dealings_with_children_are_not_disturbed) {
    const auto before = std::signal(SIGCHLD, [](int) { ++child_signals; });
    auto tree = process_tree::start(shell("exit 5"));
    EXPECT_EQ(read_all(tree.out()), "");
    while (readable(tree.report_fd()) && !tree.exited()) tree.poll();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "wait(-1) must not find the guardian";
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(child_signals, 0);

    std::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(exit_of(shell("exit 6")), (exit_status{false, 6}));
    std::signal(SIGCHLD, before);
}

TEST(process_tree, the_guardian_holds_nothing_of_the_program_open) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    auto tree = process_tree::start(shell("exec sleep 1000"));
    ::close(ends[1]);
    EXPECT_EQ(read_all(ends[0]), "");
    ::close(ends[0]);
}

long private_kilobytes(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    const std::string name = "RssAnon:";
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return std::stol(line.substr(name.size()));
    }
    return -1;
}

TEST(process_tree, the_guardian_holds_no_memory_of_the_program) {
    const std::vector<char> large(std::size_t{64} << 20, 'x');
    auto tree = process_tree::start(shell("exec sleep 1000"));
    const auto guardian = state_and_parent(tree.pid()).second;
    const auto limit = time_point::clock::now() + patience;
    while (private_kilobytes(guardian) > 32768 && time_point::clock::now() < limit) std::this_thread::yield();
    EXPECT_LT(private_kilobytes(guardian), 32768);
    EXPECT_GE(private_kilobytes(guardian), 0);
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGTERM}));
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(process_tree, RCV_2_two_hundred_runs_leave_no_descriptor_and_no_zombie) {
    const auto before = open_descriptors();
    for (int i = 0; i < 200; ++i) {
        auto tree = process_tree::start({.argv = {"true"}}, {stdio::pipe, stdio::pipe, stdio::pipe});
        // Every other one is left to the destructor.
        if (i % 2 == 0) {
            ASSERT_TRUE(tree.wait(patience));
        }
        EXPECT_THROW((void)process_tree::start({.argv = {"/no/such"}}), std::system_error);
    }
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
}

TEST(process_tree, RCV_12_many_trees_from_many_threads) {
    const auto before = open_descriptors();
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 10; ++i) {
                // Allocating keeps the locks busy that a careless fork would inherit locked.
                std::vector<std::string> noise(100, std::string(100, 'x'));
                const auto text = std::to_string(t) + '-' + std::to_string(i);
                auto tree = process_tree::start(shell("echo " + text + "; exec sleep 1000"));
                EXPECT_EQ(read_line(tree.out()), text);
                if (i % 2 == 0) {
                    tree.terminate();
                } else {
                    tree.kill();
                }
                EXPECT_EQ(read_all(tree.out()), "");
                EXPECT_TRUE(tree.wait(patience));
                EXPECT_EQ(tree.exited(), (exit_status{true, i % 2 == 0 ? SIGTERM : SIGKILL}));
                EXPECT_EQ(tree.killed(), 1U);
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
}

}  // namespace
}  // namespace andon
