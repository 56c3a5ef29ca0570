#include "gateway/config/duration_text.hpp"

#include <gtest/gtest.h>

#include "gateway/config/command_words.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

TEST(duration_text, is_read_in_every_unit) {
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("5m"), 5min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("2d"), 48h);
    EXPECT_EQ(parse_duration("1h30m"), 90min);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("0.25s"), 250ms);
    EXPECT_EQ(parse_duration("0s"), 0s);
    EXPECT_EQ(parse_duration("0"), 0s);
    EXPECT_EQ(duration_units(), "ms, s, m, h or d");
}

TEST(duration_text, refuses_what_is_none) {
    for (const char* text : {"", "s", "30", "30 s", "-1s", "1.s", ".5s", "30sec", "5M", "1h30", "1e3s", "400d",
                             "99999999999999999999s", "9223372036854775807ms", "1s\n", "∞"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

TEST(duration_text, is_written_as_it_is_read) {
    for (const duration each :
         std::initializer_list<duration>{0s, 1ms, 250ms, 30s, 90s, 5min, 90min, 25h, 48h, 1h + 1ms, longest_duration}) {
        EXPECT_EQ(parse_duration(duration_text(each)), each) << duration_text(each);
    }
    EXPECT_EQ(duration_text(90min), "1h30m");
    EXPECT_EQ(duration_text(500ms), "500ms");
}

TEST(size_text, is_read_in_every_unit) {
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("512"), 512U);
    EXPECT_EQ(parse_size("64KiB"), 65'536U);
    EXPECT_EQ(parse_size("16MiB"), 16U << 20U);
    EXPECT_EQ(parse_size("1.5KiB"), 1'536U);
    EXPECT_EQ(parse_size("1GB"), 1'000'000'000U);
    for (const char* text : {"", "MiB", "16 MiB", "-1", "1.5", "16mib", "999999GiB", "1KiB1KiB"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
    EXPECT_EQ(size_text(16U << 20U), "16MiB");
    EXPECT_EQ(size_text(0), "0B");
    EXPECT_EQ(parse_size(size_text(1'234'567)), 1'234'567U);
}

TEST(nearest_word, is_the_most_alike_or_none) {
    const std::vector<std::string> known{"", "wait", "wait_ignore", "echo", std::string(100, 'w')};
    EXPECT_EQ(did_you_mean("wiat", known), "; did you mean \"wait\"?");
    EXPECT_EQ(did_you_mean("wait_ignor", known), "; did you mean \"wait_ignore\"?");
    EXPECT_EQ(did_you_mean("wait_ignro", known), "; did you mean \"wait_ignore\"?");
    EXPECT_EQ(did_you_mean("ignore", known), "; did you mean \"wait_ignore\"?");
    EXPECT_EQ(did_you_mean("ecko", known), "; did you mean \"echo\"?");
    EXPECT_EQ(did_you_mean("zzzzzz", known), "");
    EXPECT_EQ(did_you_mean("foo", std::vector<std::string>{"log", "top"}), "") << "one letter in three";
    EXPECT_EQ(did_you_mean("lgo", std::vector<std::string>{"log", "top"}), "; did you mean \"log\"?");
    EXPECT_EQ(did_you_mean(std::string(100, 'w'), known), "");
}

TEST(command_words, are_split_at_spaces_and_kept_by_quotes) {
    EXPECT_EQ(command_words("npx -y  some-server"), (words{"npx", "-y", "some-server"}));
    EXPECT_EQ(command_words("a 'b c' \"d e\" f\\ g"), (words{"a", "b c", "d e", "f g"}));
    EXPECT_EQ(command_words(R"(a "b\"c" 'd\e' '' x"y"z)"), (words{"a", "b\"c", "d\\e", "", "xyz"}));
    EXPECT_EQ(command_words(R"("a\b\$")"), (words{"a\\b$"}));
    EXPECT_EQ(command_words("$HOME ~ *"), (words{"$HOME", "~", "*"}));
    EXPECT_EQ(command_words("  "), words{});
    EXPECT_FALSE(command_words("a 'b"));
    EXPECT_FALSE(command_words("a \"b"));
    EXPECT_FALSE(command_words("a \\"));
}

}  // namespace
}  // namespace andon::gateway
