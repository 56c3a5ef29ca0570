#include "andon/core/visible_text.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "andon/core/reason.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

TEST(visible_text, leaves_ordinary_text_of_any_language_alone) {
    for (const char* text :
         {"User pressed Stop", "Der Nutzer drückte Stopp", "ユーザーが停止した", "🛑 stop", "C:\\x"}) {
        EXPECT_EQ(visible_text(text, 512), text);
    }
}

struct text_case {
    const char* name;
    std::string text;
    std::string shown;
};

class hostile_text : public testing::TestWithParam<text_case> {};

TEST_P(hostile_text, MSG_4_is_made_visible) { EXPECT_EQ(visible_text(GetParam().text, 512), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(
    visible_text, hostile_text,
    testing::Values(text_case{"line_breaks", "a\nb\r\tc", "a\\nb\\r\\tc"},
                    text_case{"escape_sequence", "\x1b[2Jgone", "\\x1b[2Jgone"},
                    text_case{"nul", std::string("a\0b", 3), "a\\x00b"}, text_case{"delete", "\x7f", "\\x7f"},
                    text_case{"c1_control",
                              "\xC2\x9B"
                              "31m",
                              "\\x9b31m"},
                    text_case{"right_to_left_override",
                              "\xE2\x80\xAE"
                              "abc",
                              "\\u{202e}abc"},
                    text_case{"zero_width_space",
                              "a\xE2\x80\x8B"
                              "b",
                              "a\\u{200b}b"},
                    text_case{"line_separator", "\xE2\x80\xA8", "\\u{2028}"},
                    text_case{"byte_order_mark", "\xEF\xBB\xBFx", "\\u{feff}x"},
                    text_case{"tag_character", "\xF3\xA0\x81\x81", "\\u{e0041}"},
                    text_case{"lone_continuation",
                              "a\x80"
                              "b",
                              "a\xEF\xBF\xBD"
                              "b"},
                    text_case{"overlong", "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                    text_case{"surrogate", "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                    text_case{"beyond_unicode", "\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                    text_case{"cut_off_sequence", "x\xE2\x80", "x\xEF\xBF\xBD\xEF\xBF\xBD"}),
    by_name());

TEST(visible_text, MSG_4_is_cut_at_the_limit_and_says_so) {
    EXPECT_EQ(visible_text("abcdef", 6), "abcdef");
    EXPECT_EQ(visible_text("abcdefg", 6), "abc…");
    EXPECT_EQ(visible_text("aaaa\n\n", 6), "aaa…") << "no half of an escape is left behind";
    EXPECT_EQ(visible_text("ab", 1), "") << "not even room to say that something was cut";
    EXPECT_EQ(visible_text("anything", 0), "");
}

bool is_fit_to_show(const std::string& text) {
    return visible_text(text, text.size()) == text &&
           std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

RC_GTEST_PROP(visible_text, MSG_4_any_bytes_come_out_fit_to_show, (const std::string& text)) {
    const auto most = static_cast<std::size_t>(*rc::gen::inRange(0, 60));
    const auto shown = visible_text(text, most);
    RC_ASSERT(shown.size() <= most);
    RC_ASSERT(is_fit_to_show(shown));
}

TEST(reason, MSG_4_a_megabyte_is_kept_to_its_cap) {
    const reason why(std::string(1U << 20U, 'x'));
    EXPECT_LE(why.text().size(), reason::longest);
    EXPECT_TRUE(why.text().ends_with("…"));
}

TEST(reason, MSG_4_is_cleaned_when_it_is_made) { EXPECT_EQ(reason("\x1b]0;title\x07").text(), "\\x1b]0;title\\x07"); }

TEST(reason, copies_share_the_text_and_outlive_each_other) {
    reason copy;
    EXPECT_TRUE(copy.empty());
    {
        const reason original("the user pressed Stop");
        copy = original;
        EXPECT_EQ(copy.text().data(), original.text().data());
    }
    EXPECT_EQ(copy.text(), "the user pressed Stop");
    reason moved = std::move(copy);
    EXPECT_EQ(moved.text(), "the user pressed Stop");
    const reason& itself = moved;
    moved = itself;
    EXPECT_EQ(moved, reason("the user pressed Stop"));
    EXPECT_TRUE(reason("").empty());
}

}  // namespace
}  // namespace andon
