#include "core/grace_period.hpp"

#include <gtest/gtest.h>
#include <optional>

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
    std::optional<grace_period::reader> reading(std::in_place, grace);
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
    std::optional<grace_period::reader> before(std::in_place, grace);
    for (int i = 0; i < 10 && !grace.passed(unlinked); ++i) {
        grace.try_advance();
        std::optional<grace_period::reader> after(std::in_place, grace);
        EXPECT_FALSE(grace.quiet());
        before.reset();
        grace.try_advance();
        before.emplace(grace);
        after.reset();
    }
    EXPECT_TRUE(grace.passed(unlinked));
}

}  // namespace
}  // namespace andon::detail
