// How a tree ends: asked, killed, left behind, or with the program.
#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "process/process_watch.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;

// Prints four pids: its own, a child's, that of a grandchild with its own session, and a daemon's, whose parent is
// gone.
const std::string wide_tree =
    "echo $$\n"
    "sh -c 'echo $$; setsid sh -c \"echo \\$\\$; exec sleep 1000\"' &\n"
    "(setsid sh -c 'echo $$; exec sleep 1000' &)\n"
    "wait\n";
constexpr int wide_tree_size = 4;

bool all_end(const std::vector<process_watch>& processes) {
    bool all = true;
    for (const auto& each : processes) {
        EXPECT_TRUE(each.wait_for_end()) << each.pid();
        all = all && each.ended();
    }
    return all;
}

bool all_ended(const std::vector<process_watch>& processes) {
    for (const auto& each : processes) {
        if (!each.ended()) return false;
    }
    return true;
}

TEST(process_tree_end, RCV_12_terminate_reaches_sessions_and_daemons) {
    auto tree = process_tree::start(shell(wide_tree));
    const auto processes = watch_printed(tree.out(), wide_tree_size);
    EXPECT_FALSE(tree.wait(duration::zero()));
    EXPECT_FALSE(tree.exited());
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(all_ended(processes));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGTERM}));
    EXPECT_GE(tree.killed(), static_cast<unsigned>(wide_tree_size));
}

TEST(process_tree_end, RCV_12_kill_reaches_sessions_and_daemons) {
    auto tree = process_tree::start(shell(wide_tree));
    const auto processes = watch_printed(tree.out(), wide_tree_size);
    tree.kill();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(all_ended(processes));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGKILL}));
    EXPECT_GE(tree.killed(), static_cast<unsigned>(wide_tree_size));
}

TEST(process_tree_end, within_the_grace_time_a_command_may_end_its_own_way) {
    auto tree = process_tree::start(shell("trap 'echo bye; exit 7' TERM; echo ready; while :; do :; done"));
    EXPECT_EQ(read_line(tree.out()), "ready");
    tree.terminate();
    tree.terminate();
    EXPECT_EQ(read_all(tree.out()), "bye\n");
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 7}));
}

TEST(process_tree_end, RCV_12_who_ignores_the_asking_is_killed_after_the_grace_time) {
    constexpr milliseconds grace{50};
    auto tree = process_tree::start(shell("trap '' TERM; echo ready; sleep 1000; sleep 1000", grace));
    EXPECT_EQ(read_line(tree.out()), "ready");
    const auto asked = time_point::clock::now();
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_GE(time_point::clock::now() - asked, grace);
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGKILL}));
    EXPECT_GE(tree.killed(), 1U);
}

TEST(process_tree_end, what_is_left_behind_in_the_grace_time_is_asked_in_its_turn) {
    auto tree = process_tree::start(
        shell(
            "trap 'sh -c \"echo \\$\\$; exec sleep 1000\" & read line; exit 7' TERM; echo ready; while :; do :; done"),
        {stdio::pipe, stdio::pipe, stdio::inherit});
    EXPECT_EQ(read_line(tree.out()), "ready");
    tree.terminate();
    const auto cleaner = watch_printed(tree.out(), 1);
    EXPECT_FALSE(cleaner[0].ended()) << "what a command starts to clean up with is not disturbed";
    const auto closed = time_point::clock::now();
    tree.close_in();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_LT(time_point::clock::now() - closed, patience / 2) << "it was not asked, but killed after the grace time";
    EXPECT_EQ(tree.exited(), (exit_status{false, 7}));
    EXPECT_EQ(tree.killed(), 2U);
}

TEST(process_tree_end, kill_does_not_wait_for_the_grace_time) {
    auto tree = process_tree::start(shell("trap '' TERM; echo ready; exec sleep 1000", std::chrono::hours(1000000)));
    EXPECT_EQ(read_line(tree.out()), "ready");
    tree.terminate();
    tree.kill();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGKILL}));
    EXPECT_EQ(tree.killed(), 1U);
}

TEST(process_tree_end, a_stopped_process_gets_its_chance_too) {
    auto tree = process_tree::start(shell("trap 'exit 7' TERM; echo ready; while :; do :; done"));
    EXPECT_EQ(read_line(tree.out()), "ready");
    ASSERT_EQ(::kill(tree.pid(), SIGSTOP), 0);
    while (state_and_parent(tree.pid()).first != 'T') std::this_thread::yield();
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{false, 7}));
}

TEST(process_tree_end, RCV_2_what_the_command_leaves_behind_ends_with_it) {
    auto tree = process_tree::start(shell("(setsid sh -c 'echo $$; exec sleep 1000' &)\n"
                                          "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & read line; exit 4",
                                          milliseconds(20)),
                                    {stdio::pipe, stdio::pipe, stdio::inherit});
    const auto processes = watch_printed(tree.out(), 2);
    tree.close_in();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(all_ended(processes));
    EXPECT_EQ(tree.exited(), (exit_status{false, 4}));
    EXPECT_EQ(tree.killed(), 2U);
}

TEST(process_tree_end, RCV_2_the_destructor_leaves_nothing) {
    std::vector<process_watch> processes;
    {
        auto tree = process_tree::start(shell(wide_tree));
        processes = watch_printed(tree.out(), wide_tree_size);
    }
    EXPECT_TRUE(all_ended(processes));
    EXPECT_FALSE(has_children());
}

TEST(process_tree_end, moving_hands_the_tree_over) {
    auto tree = process_tree::start(shell("echo $$; exec sleep 1000"));
    const auto first = watch_printed(tree.out(), 1);
    auto other = std::move(tree);
    EXPECT_FALSE(first[0].ended());
    other = process_tree::start(shell("exit 1"));
    EXPECT_TRUE(first[0].ended());
    EXPECT_TRUE(other.wait(patience));
}

TEST(process_tree_end, RCV_12_another_thread_may_stop_it) {
    auto tree = process_tree::start(shell("echo ready; exec sleep 1000"));
    EXPECT_EQ(read_line(tree.out()), "ready");
    std::vector<std::thread> cancellers;
    for (int i = 0; i < 4; ++i) {
        cancellers.emplace_back([&tree] {
            for (int k = 0; k < 1000; ++k) tree.terminate();
            tree.kill();
        });
    }
    EXPECT_TRUE(tree.wait(patience));
    for (auto& each : cancellers) each.join();
    EXPECT_TRUE(tree.exited() && tree.exited()->signalled);
}

TEST(process_tree_end, RCV_12_who_keeps_forking_away_is_caught) {
    // Each generation starts the next and ends: its pid is never there for long.
    auto tree =
        process_tree::start(shell("run() { if [ $1 -gt 0 ]; then run $(($1 - 1)) & else echo escaped; fi; }\n"
                                  "trap '' TERM; run 20000; run 20000; run 20000",
                                  milliseconds(20)));
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(read_all(tree.out()), "");
    EXPECT_GE(tree.killed(), 1U);
}

TEST(process_tree_end, RCV_12_a_tree_that_doubles_is_caught) {
    auto tree = process_tree::start(
        shell("run() { if [ $1 -gt 0 ]; then run $(($1 - 1)) & run $(($1 - 1)) & wait; else echo escaped; fi; }\n"
              "echo ready; run 14",
              milliseconds(20)));
    EXPECT_EQ(read_line(tree.out()), "ready");
    tree.kill();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGKILL}));
    EXPECT_FALSE(has_children());
}

TEST(process_tree_end, a_guardian_that_is_killed_takes_the_command_along) {
    auto tree = process_tree::start(shell("echo $$; sleep 1000 & echo $!; wait"));
    const auto processes = watch_printed(tree.out(), 2);
    const auto guardian = state_and_parent(tree.pid()).second;
    ASSERT_NE(guardian, ::getpid());
    ASSERT_EQ(::kill(guardian, SIGKILL), 0);
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(tree.finished());
    EXPECT_FALSE(tree.exited());
    EXPECT_TRUE(all_end(processes));
    EXPECT_FALSE(has_children());
}

TEST(process_tree_end, a_guardian_that_is_stopped_does_not_hang_the_destructor) {
    auto tree = process_tree::start(shell("echo $$; exec sleep 1000"));
    const auto processes = watch_printed(tree.out(), 1);
    stop_guardian(tree.pid());
    { const auto gone = std::move(tree); }
    EXPECT_TRUE(all_ended(processes));
}

TEST(process_tree_end, RCV_12_a_guardian_that_is_stopped_is_woken_by_what_it_is_asked) {
    for (const auto ask : {&process_tree::terminate, &process_tree::kill}) {
        auto tree = process_tree::start(shell(wide_tree));
        const auto processes = watch_printed(tree.out(), wide_tree_size);
        stop_guardian(tree.pid());
        (tree.*ask)();
        ASSERT_TRUE(tree.wait(patience));
        EXPECT_TRUE(all_ended(processes));
        EXPECT_FALSE(tree.guardian_lost());
        EXPECT_GE(tree.killed(), static_cast<unsigned>(wide_tree_size));
    }
}

TEST(process_tree_end, RCV_12_a_guardian_that_is_stopped_again_is_woken_again) {
    auto tree = process_tree::start(shell("trap '' TERM; echo $$; while :; do sleep 1000; done"));
    const auto processes = watch_printed(tree.out(), 1);
    const auto guardian = stop_guardian(tree.pid());
    tree.terminate();
    stop_process(guardian);
    while (state_and_parent(guardian).first == 'T') EXPECT_FALSE(tree.wait(milliseconds(1)));
    EXPECT_FALSE(processes[0].ended());
    tree.kill();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(all_ended(processes));
    EXPECT_FALSE(tree.guardian_lost());
}

TEST(process_tree_end, RCV_12_a_guardian_that_nothing_wakes_is_killed_and_the_command_with_it) {
    auto tree = process_tree::start(shell("trap '' TERM; echo $$; while :; do sleep 1000; done"));
    const auto processes = watch_printed(tree.out(), 1);
    hold_guardian(tree.pid());
    std::thread([&] { tree.terminate(); }).join();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(tree.guardian_lost());
    EXPECT_TRUE(all_end(processes));
    EXPECT_FALSE(has_children());
}

TEST(process_tree_end, RCV_12_a_command_that_stops_itself_when_asked_is_killed) {
    auto tree = process_tree::start(
        shell("trap 'kill -STOP $$' TERM; echo ready; while :; do sleep 0.01; done", milliseconds(200)));
    EXPECT_EQ(read_line(tree.out()), "ready");
    stop_process(tree.pid());
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_EQ(tree.exited(), (exit_status{true, SIGKILL}));
}

// A program under test, without a guardian of ours above it that would do its work.
pid_t spawn(const std::vector<std::string>& argv, int out) {
    std::vector<char*> pointers;
    for (const auto& each : argv) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    const auto pid = ::fork();
    if (pid == 0) {
        ::dup2(out, STDOUT_FILENO);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }
    return pid;
}

TEST(process_tree_end, RCV_2_a_program_that_is_killed_leaves_nothing) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const auto program = spawn({PROGRAM_WITH_TREES, "hold", wide_tree}, ends[1]);
    ::close(ends[1]);
    const auto processes = watch_printed(ends[0], wide_tree_size);
    const process_watch guardian(state_and_parent(processes[0].pid()).second);
    for (const auto& each : processes) EXPECT_FALSE(each.ended());
    ASSERT_EQ(::kill(program, SIGKILL), 0);
    ASSERT_EQ(::waitpid(program, nullptr, 0), program);
    EXPECT_TRUE(all_end(processes));
    EXPECT_TRUE(guardian.wait_for_end());
    EXPECT_EQ(read_all(ends[0]), "");
    ::close(ends[0]);
}

TEST(process_tree_end, RCV_12_trees_in_trees_end_with_the_outermost) {
    auto tree = process_tree::start({.argv = {PROGRAM_WITH_TREES, "hold", wide_tree}, .grace = patience});
    const auto processes = watch_printed(tree.out(), wide_tree_size);
    const process_watch inner_guardian(state_and_parent(processes[0].pid()).second);
    tree.terminate();
    ASSERT_TRUE(tree.wait(patience));
    EXPECT_TRUE(all_ended(processes));
    EXPECT_TRUE(inner_guardian.ended());
}

}  // namespace
}  // namespace andon
