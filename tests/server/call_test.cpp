// What a handler can do with its call: notice the cancel in every way, wait, run commands, keep to its time.
#include "andon/server/call.hpp"

#include <array>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "core/named_case.hpp"
#include "server/pipe_ends.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Every way to wait, and the cancel that ends it.

void poll(call& call, event& started) {
    started.set();
    while (!call.cancelled()) std::this_thread::yield();
}

void throw_if_cancelled(call& call, event& started) {
    started.set();
    for (;;) call.throw_if_cancelled();
}

void on_cancel(call& call, event& started) {
    event told;
    const auto registration = call.on_cancel([&] { told.set(); });
    started.set();
    EXPECT_TRUE(told.happens());
}

void stop_token_of_a_condition_variable(call& call, event& started) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    started.set();
    EXPECT_FALSE(changed.wait(lock, call.stop_token(), [] { return false; }));
}

void stop_token_of_a_thread(call& call, event& started) {
    std::jthread thread([&](const std::stop_token& stop) {
        started.set();
        while (!stop.stop_requested()) std::this_thread::yield();
    });
    const std::stop_callback forward(call.stop_token(), [&] { thread.request_stop(); });
    thread.join();
}

void sleep_for(call& call, event& started) {
    started.set();
    call.sleep_for(patience);
}

void wait(call& call, event& started) {
    std::mutex mutex;
    std::condition_variable changed;
    std::unique_lock lock(mutex);
    started.set();
    call.wait(changed, lock, [] { return false; });
}

void wait_readable(call& call, event& started) {
    const pipe_ends pipe;
    started.set();
    static_cast<void>(call.wait_readable(pipe.out()));
}

constexpr const char* sleepers = "sleep 600 & setsid sleep 600 & echo up; wait";

void run(call& call, event& started) {
    call.run(command::shell(sleepers), [&](std::string_view) { started.set(); });
}

// Whose guardian somebody has stopped.

constexpr const char* sleepers_of_a_stopped_guardian = "sleep 600 & setsid sleep 600 & echo $$; wait";

auto stops_guardian(event& started) {
    return [&started](std::string_view pid) {
        stop_guardian(std::stoi(std::string(pid)));
        started.set();
    };
}

void run_below_a_stopped_guardian(call& call, event& started) {
    call.run(command::shell(sleepers_of_a_stopped_guardian), stops_guardian(started));
}

async<void> async_run_below_a_stopped_guardian(call& call, event& started) {
    std::function<void(std::string_view)> stop = stops_guardian(started);
    co_await call.async_run(command::shell(sleepers_of_a_stopped_guardian), std::move(stop));
}

// Which cannot be woken: it dies, and the command with it.

auto holds_guardian(event& started) {
    return [&started](std::string_view pid) {
        hold_guardian(std::stoi(std::string(pid)));
        started.set();
    };
}

void run_below_a_held_guardian(call& call, event& started) {
    call.run(command::shell("echo $$; exec sleep 600"), holds_guardian(started));
}

async<void> async_run_below_a_held_guardian(call& call, event& started) {
    std::function<void(std::string_view)> hold = holds_guardian(started);
    co_await call.async_run(command::shell("echo $$; exec sleep 600"), std::move(hold));
}

async<void> async_sleep_for(call& call, event& started) {
    started.set();
    co_await call.async_sleep_for(patience);
}

async<void> async_wait_readable(call& call, event& started) {
    const pipe_ends pipe;
    started.set();
    static_cast<void>(co_await call.async_wait_readable(pipe.out()));
}

async<void> async_run(call& call, event& started) {
    std::function<void(std::string_view)> told = [&started](std::string_view) { started.set(); };
    co_await call.async_run(command::shell(sleepers), std::move(told));
}

async<void> async_cancelled(call& call, event& started) {
    started.set();
    co_await call.async_cancelled();
}

struct waiting_case {
    std::string name;
    void (*blocking)(call&, event&) = nullptr;
    async<void> (*coroutine)(call&, event&) = nullptr;
    std::uint32_t killed = 0;
};

class every_way_to_wait : public testing::TestWithParam<waiting_case> {};

TEST_P(every_way_to_wait, RCV_1_REG_5_ends_the_moment_the_cancel_comes) {
    event started;
    recorded<std::pair<cancel_cause, std::string>> seen;
    const auto unwound = [&](const cancelled_error& error) {
        seen.add({error.cause(), std::string(error.why().text())});
    };
    server server(quiet_server());
    if (GetParam().blocking != nullptr) {
        server.tool("work", "", [&](call& call) {
            try {
                GetParam().blocking(call, started);
                call.throw_if_cancelled();
            } catch (const cancelled_error& error) {
                unwound(error);
                throw;
            }
        });
    } else {
        server.tool("work", "", [&](call& call) -> async<void> {
            try {
                co_await GetParam().coroutine(call, started);
                call.throw_if_cancelled();
            } catch (const cancelled_error& error) {
                unwound(error);
                throw;
            }
        });
    }
    auto client = connected(server);
    auto pending = client.call_tool("work");
    ASSERT_TRUE(started.happens());
    EXPECT_TRUE(pending.cancel("Stop"));
    ASSERT_TRUE(seen.reach(1));
    EXPECT_THAT(seen.all(), ElementsAre(std::pair(cancel_cause::peer, std::string("Stop"))));
    const outcome left = only_outcome(server.requests());
    EXPECT_EQ(left.cause, cancel_cause::peer);
    EXPECT_EQ(left.why.text(), "Stop");
    EXPECT_TRUE(left.time_to_notice());
    EXPECT_TRUE(left.time_to_stop());
    EXPECT_EQ(left.killed, GetParam().killed);
}

INSTANTIATE_TEST_SUITE_P(
    call, every_way_to_wait,
    testing::Values(waiting_case{"poll", poll}, waiting_case{"throw_if_cancelled", throw_if_cancelled},
                    waiting_case{"on_cancel", on_cancel},
                    waiting_case{"stop_token_of_a_condition_variable", stop_token_of_a_condition_variable},
                    waiting_case{"stop_token_of_a_thread", stop_token_of_a_thread},
                    waiting_case{"sleep_for", sleep_for}, waiting_case{"wait", wait},
                    waiting_case{"wait_readable", wait_readable}, waiting_case{"run", run, nullptr, 3},
                    waiting_case{"async_sleep_for", nullptr, async_sleep_for},
                    waiting_case{"async_wait_readable", nullptr, async_wait_readable},
                    waiting_case{"async_run", nullptr, async_run, 3},
                    waiting_case{"run_below_a_stopped_guardian", run_below_a_stopped_guardian, nullptr, 3},
                    waiting_case{"async_run_below_a_stopped_guardian", nullptr, async_run_below_a_stopped_guardian, 3},
                    waiting_case{"run_below_a_held_guardian", run_below_a_held_guardian},
                    waiting_case{"async_run_below_a_held_guardian", nullptr, async_run_below_a_held_guardian},
                    waiting_case{"async_cancelled", nullptr, async_cancelled}),
    by_name());

// What they do when nobody cancels.

/// Calls the only tool there is.
std::string call_work(server& server) {
    auto client = connected(server);
    return text_of(client.call_tool("work").get());
}

TEST(call_test, what_is_waited_for_in_a_thread_comes) {
    const pipe_ends pipe;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) {
        call.sleep_for(1ms);
        std::ostringstream said;
        said << call.wait_readable(pipe.out(), 1ms);
        std::thread([&] { pipe.write("x"); }).join();
        said << call.wait_readable(pipe.out(), patience);
        std::mutex mutex;
        std::condition_variable changed;
        bool ready = false;
        std::jthread other([&] {
            const std::lock_guard lock(mutex);
            ready = true;
            changed.notify_all();
        });
        std::unique_lock lock(mutex);
        call.wait(changed, lock, [&] { return ready; });
        said << ready << lock.owns_lock();
        return said.str();
    });
    EXPECT_EQ(call_work(server), "0111");
}

TEST(call_test, what_is_waited_for_in_a_coroutine_comes) {
    const pipe_ends pipe;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) -> async<std::string> {
        co_await call.async_sleep_for(1ms);
        std::ostringstream said;
        said << co_await call.async_wait_readable(pipe.out(), 1ms);
        pipe.write("x");
        said << co_await call.async_wait_readable(pipe.out(), patience);
        co_return said.str();
    });
    EXPECT_EQ(call_work(server), "01");
}

TEST(call_test, two_coroutines_wait_for_the_same_descriptor) {
    const pipe_ends pipe;
    recorded<int> waiting;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) -> async<std::string> {
        waiting.add(1);
        const bool there = co_await call.async_wait_readable(pipe.out(), patience);
        co_return there&& readable_now(pipe.out()) ? "there" : "woken for nothing";
    });
    server.tool("nothing", "", [](call&) -> async<void> { co_return; });
    auto client = connected(server);
    const auto first = client.call_tool("work");
    const auto second = client.call_tool("work");
    ASSERT_TRUE(waiting.reach(2));
    EXPECT_TRUE(client.call_tool("nothing").get().completed());
    pipe.write("x");
    EXPECT_EQ(text_of(first.get()), "there");
    EXPECT_EQ(text_of(second.get()), "there");
}

struct command_case {
    std::string name;
    std::string line;
    exit_status status;
    std::string output;
};

class a_command : public testing::TestWithParam<command_case> {};

TEST_P(a_command, is_told_apart_by_exit_and_signal_and_its_output_comes_whole_or_in_pieces) {
    server server(quiet_server());
    const auto said = [](const run_result& result, const std::string& streamed) {
        EXPECT_EQ(result.status, GetParam().status);
        return result.output + '|' + streamed;
    };
    server.tool("whole", "", [&](call& call) { return said(call.run(command::shell(GetParam().line)), ""); });
    server.tool("pieces", "", [&](call& call) {
        std::string streamed;
        const auto result =
            call.run(command::shell(GetParam().line), [&](std::string_view piece) { streamed += piece; });
        return said(result, streamed);
    });
    server.tool("coroutine", "", [&](call& call) -> async<std::string> {
        const auto result = co_await call.async_run(command::shell(GetParam().line));
        co_return said(result, "");
    });
    auto client = connected(server);
    EXPECT_EQ(text_of(client.call_tool("whole").get()), GetParam().output + '|');
    EXPECT_EQ(text_of(client.call_tool("pieces").get()), '|' + GetParam().output);
    EXPECT_EQ(text_of(client.call_tool("coroutine").get()), GetParam().output + '|');
    EXPECT_FALSE(has_children());
}

INSTANTIATE_TEST_SUITE_P(call, a_command,
                         testing::Values(command_case{"exits", "echo out; exit 15", {false, 15}, "out\n"},
                                         command_case{"is_killed", "echo out; kill -TERM $$", {true, 15}, "out\n"},
                                         command_case{"says_nothing", "exit 0", {false, 0}, ""}),
                         by_name());

TEST(call_test, RCV_12_the_whole_tree_of_a_command_is_gone_after_the_cancel) {
    recorded<std::string> printed;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) {
        call.run(command::shell("sleep 600 & echo $!; setsid sleep 600 & echo $!; echo $$; wait"),
                 [&](std::string_view piece) {
                     for (const char c : piece) printed.add(std::string(1, c));
                 });
    });
    auto client = connected(server);
    auto pending = client.call_tool("work");
    std::string text;
    ASSERT_TRUE(eventually([&] {
        text.clear();
        for (const auto& each : printed.all()) text += each;
        return std::count(text.begin(), text.end(), '\n') == 3;
    }));
    std::vector<process_watch> tree;
    std::istringstream pids(text);
    for (pid_t pid = 0; pids >> pid;) tree.emplace_back(pid);
    ASSERT_EQ(tree.size(), 3U);
    EXPECT_TRUE(pending.cancel());
    for (const auto& each : tree) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(only_outcome(server.requests()).killed, 3U);
    EXPECT_FALSE(has_children());
}

TEST(call_test, RCV_13_a_cancel_waits_for_the_end_of_an_uninterrupted_section) {
    event inside;
    event release;
    recorded<bool> cancelled;
    server server(quiet_server());
    server.tool("work", "", [&](call& call) {
        const int kept = call.uninterrupted([&] {
            inside.set();
            EXPECT_TRUE(release.happens());
            cancelled.add(call.cancelled());
            return 7;
        });
        EXPECT_EQ(kept, 7);
        cancelled.add(call.cancelled());
        return "an answer that nobody may hear";
    });
    auto client = connected(server);
    auto pending = client.call_tool("work");
    ASSERT_TRUE(inside.happens());
    EXPECT_TRUE(pending.cancel());
    ASSERT_TRUE(eventually([&] { return server.requests().list().at(0).held; }));
    release.set();
    EXPECT_EQ(only_outcome(server.requests()).discarded, 1U);
    EXPECT_THAT(cancelled.all(), ElementsAre(false, true));
}

}  // namespace
}  // namespace andon
