#include "transport/event_loop.hpp"

#include <gtest/gtest.h>
#include <string>

#include "server/pipe_ends.hpp"

namespace andon::detail {
namespace {

/// Reads nothing, and asks again.
struct never_satisfied {
    event_loop::watch& watch;
    int& times;

    void operator()() const {
        constexpr int enough = 10'000;
        if (++times < enough) watch.when(event_loop::readiness::readable, *this);
    }
};

TEST(event_loop, RCV_2_what_goes_on_coming_does_not_keep_a_loop_that_is_at_its_end) {
    event_loop loop;
    pipe_ends pipe;
    pipe.write("something");
    event_loop::watch watch(loop, pipe.out());
    int times = 0;
    bool posted = false;
    watch.when(event_loop::readiness::readable, never_satisfied{watch, times});
    loop.post([&] { posted = true; });
    loop.finish();
    EXPECT_TRUE(posted);
    EXPECT_EQ(times, 0);
}

TEST(event_loop, what_is_posted_last_comes_behind_everything_that_is_ready) {
    event_loop loop;
    pipe_ends one;
    pipe_ends other;
    one.write("something");
    other.write("something");
    event_loop::watch watch_one(loop, one.out());
    event_loop::watch watch_other(loop, other.out());
    std::string order;
    const auto ready = [&] {
        if (order.empty()) {
            loop.post_last([&] {
                order += "last ";
                loop.stop();
            });
            loop.post([&] { order += "posted "; });
        }
        order += "ready ";
    };
    watch_one.when(event_loop::readiness::readable, ready);
    watch_other.when(event_loop::readiness::readable, ready);
    loop.run();
    EXPECT_EQ(order, "ready posted ready last ");
}

TEST(event_loop, what_is_posted_last_by_the_last_is_done_without_another_event) {
    event_loop loop;
    loop.post([&] { loop.post_last([&] { loop.post_last([&] { loop.stop(); }); }); });
    loop.run();
}

}  // namespace
}  // namespace andon::detail
