#include "andon/core/cancel_callback.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

TEST(cancel_callback, RCV_1_runs_once_on_the_cancelling_thread_when_registered_before) {
    cancel_source source;
    std::vector<std::thread::id> ran;
    const cancel_callback callback(source.token(), [&] { ran.push_back(std::this_thread::get_id()); });
    EXPECT_TRUE(ran.empty());
    std::thread::id canceller;
    std::thread([&] {
        canceller = std::this_thread::get_id();
        source.cancel(cancel_cause::peer, "Stop", start);
        source.cancel(cancel_cause::peer, "again", start);
    }).join();
    EXPECT_EQ(ran, std::vector{canceller});
}

TEST(cancel_callback, RCV_1_runs_once_at_once_when_registered_after) {
    cancel_source source;
    source.cancel(cancel_cause::peer, "Stop", start);
    int ran = 0;
    const cancel_callback callback(source.token(), [&] { ++ran; });
    EXPECT_EQ(ran, 1);
}

TEST(cancel_callback, sees_the_cause_and_the_reason) {
    cancel_source source;
    std::string seen;
    const auto token = source.token();
    const cancel_callback callback(token, [&] {
        seen = to_string(token.cause());
        seen += ": ";
        seen += token.why().text();
    });
    source.cancel(cancel_cause::timeout, "too slow", start);
    EXPECT_EQ(seen, "timeout: too slow");
}

TEST(cancel_callback, does_not_run_once_it_is_gone) {
    cancel_source source;
    int ran = 0;
    {
        const cancel_callback callback(source.token(), [&] { ++ran; });
    }
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(ran, 0);
}

TEST(cancel_callback, does_not_run_when_the_response_won) {
    cancel_source source;
    int ran = 0;
    const cancel_callback callback(source.token(), [&] { ++ran; });
    ASSERT_TRUE(source.begin_response());
    source.cancel(cancel_cause::peer, "Stop", start);
    source.end(start);
    EXPECT_EQ(ran, 0);
}

TEST(cancel_callback, of_a_token_that_cannot_be_cancelled_never_runs) {
    int ran = 0;
    {
        const cancel_callback callback(cancel_token(), [&] { ++ran; });
    }
    EXPECT_EQ(ran, 0);
}

TEST(cancel_callback, the_newest_runs_first) {
    cancel_source source;
    std::string order;
    const cancel_callback a(source.token(), [&] { order += 'a'; });
    const cancel_callback b(source.token(), [&] { order += 'b'; });
    const cancel_callback c(source.token(), [&] { order += 'c'; });
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(order, "cba");
}

TEST(cancel_callback, may_cancel_again_register_more_and_end_the_request) {
    cancel_source source;
    int inner = 0;
    const cancel_callback outer(source.token(), [&] {
        EXPECT_EQ(source.cancel(cancel_cause::timeout, "x", start).what, cancel_result::verdict::already_cancelled);
        const cancel_callback more(source.token(), [&] { ++inner; });
        source.end(start);
    });
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(inner, 1);
}

// A registration that can go away at any moment, also inside its own function.
struct function_box {
    std::function<void()> f;
    void operator()() const { f(); }
};
using boxed_callback = cancel_callback<function_box>;

TEST(cancel_callback, destroyed_inside_its_own_function_does_not_deadlock) {
    cancel_source source;
    std::optional<boxed_callback> callback;
    int ran = 0;
    callback.emplace(source.token(), function_box{[&] {
                         ++ran;
                         callback.reset();
                     }});
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(ran, 1);
    EXPECT_FALSE(callback.has_value());
}

TEST(cancel_callback, may_let_go_of_everything_its_canceller_included) {
    auto source = std::make_unique<cancel_source>();
    std::unique_ptr<boxed_callback> callback;
    callback = std::make_unique<boxed_callback>(source->token(), function_box{[&] {
                                                    auto self = std::move(callback);
                                                    source.reset();
                                                }});
    auto& canceller = *source;
    EXPECT_TRUE(canceller.cancel(cancel_cause::peer, "Stop", start).accepted());
    EXPECT_EQ(source, nullptr);
}

TEST(cancel_callback, one_that_destroys_another_keeps_it_from_running) {
    cancel_source source;
    int ran = 0;
    std::optional<boxed_callback> victim;
    victim.emplace(source.token(), function_box{[&] { ++ran; }});
    const cancel_callback killer(source.token(), [&] { victim.reset(); });
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(ran, 0);
}

TEST(cancel_callback, one_that_destroys_another_that_has_run_does_not_wait) {
    cancel_source source;
    int ran = 0;
    std::optional<boxed_callback> first;
    const cancel_callback second(source.token(), [&] { first.reset(); });
    first.emplace(source.token(), function_box{[&] { ++ran; }});  // newest, runs first
    source.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(ran, 1);
}

TEST(cancel_callback, destroyed_while_it_runs_on_another_thread_waits_for_it) {
    cancel_source source;
    std::latch running(1);
    std::latch may_finish(1);
    std::atomic<bool> finished = false;
    auto callback = std::make_unique<boxed_callback>(source.token(), function_box{[&] {
                                                         running.count_down();
                                                         may_finish.wait();
                                                         finished = true;
                                                     }});
    std::jthread canceller([&] { source.cancel(cancel_cause::peer, "Stop", start); });
    running.wait();
    std::atomic<bool> destroying = false;
    std::jthread destroyer([&] {
        destroying = true;
        callback.reset();
        EXPECT_TRUE(finished) << "the destructor returned while the function was running";
    });
    while (!destroying) std::this_thread::yield();
    may_finish.count_down();
    destroyer.join();
    canceller.join();
}

TEST(cancel_callback, while_one_runs_others_come_and_go) {
    cancel_source source;
    std::latch running(1);
    std::latch may_finish(1);
    int never = 0;
    int late = 0;
    auto other = std::make_unique<boxed_callback>(source.token(), function_box{[&] { ++never; }});
    const cancel_callback slow(source.token(), [&] {
        running.count_down();
        may_finish.wait();
    });
    std::jthread canceller([&] { source.cancel(cancel_cause::peer, "Stop", start); });
    running.wait();
    other.reset();  // still waiting for its turn: removed
    const cancel_callback newcomer(source.token(), [&] { ++late; });
    EXPECT_EQ(late, 1) << "it does not wait for the slow one";
    may_finish.count_down();
    canceller.join();
    EXPECT_EQ(never, 0);
}

TEST(cancel_callback, RCV_13_waits_for_the_end_of_the_section_and_runs_on_the_thread_that_leaves) {
    cancel_source source;
    std::thread::id ran_on;
    const cancel_callback callback(source.token(), [&] { ran_on = std::this_thread::get_id(); });
    {
        const uninterrupted_section section(source.token());
        EXPECT_TRUE(section.protects());
        std::thread([&] { source.cancel(cancel_cause::peer, "Stop", start); }).join();
        EXPECT_EQ(ran_on, std::thread::id());
        EXPECT_FALSE(source.token().cancelled());
        EXPECT_TRUE(source.token().state()->cancel_accepted());
    }
    EXPECT_EQ(ran_on, std::this_thread::get_id());
    EXPECT_TRUE(source.token().cancelled());
    EXPECT_FALSE(uninterrupted_section(source.token()).protects());
}

TEST(cancel_callback, exactly_once_in_every_race_of_registration_and_cancel) {
    for (int round = 0; round < 2'000; ++round) {
        cancel_source source;
        std::atomic<int> ran{0};
        std::atomic<bool> go{false};
        std::jthread canceller([&] {
            while (!go) std::this_thread::yield();
            source.cancel(cancel_cause::peer, "Stop", start);
        });
        go = true;
        {
            const cancel_callback callback(source.token(), [&] { ++ran; });
            canceller.join();
        }
        ASSERT_EQ(ran, 1);
    }
}

}  // namespace
}  // namespace andon
