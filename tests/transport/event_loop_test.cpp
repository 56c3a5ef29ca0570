#include "transport/event_loop.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace andon::detail
