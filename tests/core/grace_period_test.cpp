#include "core/grace_period.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace andon::detail {
namespace {

TEST(grace_period, without_readers_it_is_quiet_and_passes_in_three_steps) {
    grace_period grace;
    EXPECT_TRUE(grace.quiet());
    const auto unlinked = grace.current();
    for (int step = 0; step < 3; ++step) {
        EXPECT_FALSE(grace.passed(unlinked));
        EXPECT_TRUE(grace.try_advance());
    }
    EXPECT_TRUE(grace.passed(unlinked));
}

TEST(grace_period, does_not_pass_while_a_reader_from_before_is_there) {
    grace_period grace;
    auto reading = std::make_unique<grace_period::reader>(grace);
    EXPECT_FALSE(grace.quiet());
    const auto unlinked = grace.current();
    for (int attempt = 0; attempt < 10; ++attempt) grace.try_advance();
    EXPECT_FALSE(grace.passed(unlinked));
    reading.reset();
    EXPECT_TRUE(grace.quiet());
    for (int attempt = 0; attempt < 3; ++attempt) grace.try_advance();
    EXPECT_TRUE(grace.passed(unlinked));
}

TEST(grace_period, passes_although_there_is_always_some_reader) {
    grace_period grace;
    const auto unlinked = grace.current();
    auto before = std::make_unique<grace_period::reader>(grace);
    for (int i = 0; i < 10 && !grace.passed(unlinked); ++i) {
        grace.try_advance();
        const auto after = std::make_unique<grace_period::reader>(grace);
        EXPECT_FALSE(grace.quiet());
        before.reset();
        grace.try_advance();
        before = std::make_unique<grace_period::reader>(grace);
    }
    EXPECT_TRUE(grace.passed(unlinked));
}

// More threads than there are counters: the last ones share one, and none is lost.
TEST(grace_period, sees_every_one_of_many_readers) {
    grace_period grace;
    for (int round = 0; round < 3; ++round) {  // again, with places that were given back
        constexpr int many = 40;
        std::latch all_reading(many);
        std::vector<std::unique_ptr<std::latch>> may_leave;
        for (int i = 0; i < many; ++i) may_leave.push_back(std::make_unique<std::latch>(1));
        std::vector<std::jthread> threads;
        for (int i = 0; i < many; ++i) {
            threads.emplace_back([&, i] {
                const grace_period::reader reading(grace);
                const grace_period::reader nested(grace);
                all_reading.count_down();
                may_leave[static_cast<std::size_t>(i)]->wait();
            });
        }
        all_reading.wait();
        for (int i = 0; i < many; ++i) {
            EXPECT_FALSE(grace.quiet()) << many - i << " are still reading";
            may_leave[static_cast<std::size_t>(i)]->count_down();
            threads[static_cast<std::size_t>(i)].join();
        }
        EXPECT_TRUE(grace.quiet());
    }
}

}  // namespace
}  // namespace andon::detail
