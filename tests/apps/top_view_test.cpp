#include "control/top_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace andon::app {
namespace {

using gateway::found_call;
using gateway::survey;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const auto now = std::chrono::system_clock::time_point(std::chrono::hours(1'000));

survey calls(std::initializer_list<std::uint64_t> numbers) {
    survey all;
    all.andons.push_back({.pid = 12});
    for (const std::uint64_t number : numbers) {
        all.calls.push_back(
            {12, {.number = number, .server = "s", .tool = "tool_" + std::to_string(number), .started = now}});
    }
    return all;
}

std::string screen(const top_view& view, std::size_t width = 80, std::size_t height = 24) {
    std::string text;
    const auto lines = view.lines(width, height, now);
    EXPECT_LE(lines.size(), height);
    for (const std::string& line : lines) (text += line) += '\n';
    return text;
}

class top_keys : public testing::Test {
protected:
    top_view view{palette(false)};
};

TEST_F(top_keys, select_with_arrows_and_letters_within_what_is_there) {
    view.found(calls({1, 2, 3}));
    EXPECT_EQ(view.selected_id(), "12.1");
    static_cast<void>(view.typed("k"));
    EXPECT_EQ(view.selected_id(), "12.1");
    static_cast<void>(view.typed("\x1b[B"));
    EXPECT_EQ(view.selected_id(), "12.2");
    static_cast<void>(view.typed("jjjj"));
    EXPECT_EQ(view.selected_id(), "12.3");
    static_cast<void>(view.typed("\x1bOA\x1b[1;5A"));
    EXPECT_EQ(view.selected_id(), "12.1");
}

TEST_F(top_keys, the_selection_follows_its_call) {
    view.found(calls({1, 2, 3}));
    static_cast<void>(view.typed("j"));
    view.found(calls({2, 3}));
    EXPECT_EQ(view.selected_id(), "12.2");
    view.found(calls({3, 4}));
    EXPECT_EQ(view.selected_id(), "12.3") << "what has moved into its place";
    view.found(calls({}));
    EXPECT_EQ(view.selected_id(), "");
    EXPECT_THAT(screen(view), HasSubstr("Nothing is in flight."));
}

TEST_F(top_keys, s_stops_only_what_y_confirms_and_what_was_asked_about) {
    view.found(calls({1, 2}));
    EXPECT_THAT(view.typed("s").stop, IsEmpty());
    EXPECT_THAT(screen(view), HasSubstr("Stop 12.1? y/n"));
    EXPECT_THAT(view.typed("n").stop, IsEmpty());
    EXPECT_THAT(view.typed("y").stop, IsEmpty());
    static_cast<void>(view.typed("s"));
    EXPECT_THAT(view.typed("\x1b").stop, IsEmpty());
    static_cast<void>(view.typed("s"));
    EXPECT_THAT(view.typed("\x1b[A").stop, IsEmpty());
    static_cast<void>(view.typed("s"));
    view.found(calls({2}));
    const auto asked = view.typed("y");
    ASSERT_EQ(asked.stop.size(), 1U);
    EXPECT_EQ(asked.stop[0].id(), "12.1");
}

TEST_F(top_keys, s_without_a_call_says_so) {
    view.found(calls({}));
    EXPECT_THAT(view.typed("sy").stop, IsEmpty());
    static_cast<void>(view.typed("s"));
    EXPECT_THAT(screen(view), HasSubstr("nothing to stop"));
}

TEST_F(top_keys, p_pauses_and_goes_on) {
    view.found(calls({1}));
    static_cast<void>(view.typed("p"));
    view.found(calls({1, 2}));
    EXPECT_THAT(screen(view), AllOf(HasSubstr("(paused)"), Not(HasSubstr("tool_2"))));
    static_cast<void>(view.typed("p"));
    view.found(calls({1, 2}));
    EXPECT_THAT(screen(view), AllOf(Not(HasSubstr("(paused)")), HasSubstr("tool_2")));
}

TEST_F(top_keys, q_quits_and_other_bytes_do_nothing) {
    EXPECT_FALSE(view.typed("\x1b[200~\xff\x01\x1b").quit);
    EXPECT_TRUE(view.typed("q").quit);
}

TEST_F(top_keys, what_is_selected_is_always_on_the_screen) {
    survey many = calls({});
    for (std::uint64_t i = 1; i <= 100; ++i) many.calls.push_back({12, {.number = i, .tool = "tool"}});
    view.found(many);
    for (int i = 0; i < 60; ++i) static_cast<void>(view.typed("j"));
    EXPECT_THAT(screen(view, 80, 10), HasSubstr("\x1b[7m12.61"));
}

TEST_F(top_keys, every_size_of_window_is_drawn) {
    view.found(calls({1, 2, 3}));
    for (const char* key : {"", "s"}) {
        static_cast<void>(view.typed(key));
        for (std::size_t width = 1; width < 100; width += 7) {
            for (std::size_t height = 1; height < 10; ++height) EXPECT_NE(screen(view, width, height), "");
        }
    }
}

TEST_F(top_keys, a_problem_is_shown) {
    survey one = calls({1});
    one.problems = {"andon 13 does not answer"};
    view.found(one);
    EXPECT_THAT(screen(view), HasSubstr("andon 13 does not answer"));
}

}  // namespace
}  // namespace andon::app
