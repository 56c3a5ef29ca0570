#include "andon/wire/line_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "core/named_case.hpp"

namespace andon {
namespace {

constexpr const char* too_long = "(too long)";

/// Gives it all bytes in chunks of one size, and collects what comes out.
std::vector<std::string> lines_of(std::string_view bytes, std::size_t longest, std::size_t chunk) {
    line_splitter splitter(longest);
    std::vector<std::string> lines;
    while (!bytes.empty()) {
        const auto room = splitter.room();
        const std::size_t size = std::min({chunk, bytes.size(), room.size()});
        std::memcpy(room.data(), bytes.data(), size);
        splitter.filled(size);
        bytes.remove_prefix(size);
        while (const auto line = splitter.next()) lines.emplace_back(line->too_long ? too_long : line->text);
    }
    return lines;
}

struct split_case {
    const char* name;
    std::string bytes;
    std::vector<std::string> lines;
    std::size_t longest = 8;
};

class split : public testing::TestWithParam<split_case> {};

TEST_P(split, is_the_same_wherever_the_chunks_end) {
    const split_case& given = GetParam();
    for (std::size_t chunk = 1; chunk <= given.bytes.size(); ++chunk) {
        EXPECT_EQ(lines_of(given.bytes, given.longest, chunk), given.lines) << "in chunks of " << chunk;
    }
}

TEST_P(split, is_the_same_wherever_one_cut_falls) {
    const split_case& given = GetParam();
    for (std::size_t cut = 1; cut < given.bytes.size(); ++cut) {
        line_splitter splitter(given.longest);
        std::vector<std::string> lines;
        for (const std::string& part : {given.bytes.substr(0, cut), given.bytes.substr(cut)}) {
            const auto room = splitter.room();
            std::copy(part.begin(), part.end(), room.begin());
            splitter.filled(part.size());
            while (const auto line = splitter.next()) lines.emplace_back(line->too_long ? too_long : line->text);
        }
        EXPECT_EQ(lines, given.lines) << "cut at " << cut;
    }
}

INSTANTIATE_TEST_SUITE_P(
    line_splitter, split,
    testing::ValuesIn(std::vector<split_case>{
        split_case{"one", "abc\n", {"abc"}}, split_case{"two", "a\nbc\n", {"a", "bc"}},
        split_case{"an_unfinished_one_is_none", "a\nbc", {"a"}},
        split_case{"blank_lines_are_none", "\n\n \n\t\n\r\na\n\n", {"a"}},
        split_case{"a_carriage_return_stays_for_the_parser_which_skips_it", "a\r\nb\r\n", {"a\r", "b\r"}},
        split_case{"a_nul_byte_is_a_byte", std::string("a\0b\n", 4), {std::string("a\0b", 3)}},
        split_case{"just_as_long_as_allowed", "12345678\n", {"12345678"}},
        split_case{"one_too_long", "123456789\n", {too_long}},
        split_case{"much_too_long", std::string(100, 'x') + "\n", {too_long}},
        split_case{"goes_on_behind_what_was_too_long", "a\n123456789abc\nb\n", {"a", too_long, "b"}},
        split_case{"two_too_long", "123456789\n123456789\n1\n", {too_long, too_long, "1"}},
        split_case{"too_long_and_blank", std::string(20, ' ') + "\nb\n", {too_long, "b"}},
        split_case{"too_long_and_unfinished_is_not_reported_yet", "a\n1234567890", {"a"}},
        split_case{"no_line_at_all_is_allowed", "a\n\n", {too_long}, 0}}),
    by_name());

RC_GTEST_PROP(line_splitter, any_bytes_in_any_chunks_give_the_lines_of_a_plain_split, ()) {
    const auto longest = *rc::gen::inRange<std::size_t>(0, 20);
    const auto bytes = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \r\n\n\t\"")));
    const auto chunk = *rc::gen::inRange<std::size_t>(1, 30);
    std::vector<std::string> expected;
    for (std::size_t begin = 0; begin < bytes.size();) {
        const std::size_t end = bytes.find('\n', begin);
        if (end == std::string::npos) break;
        const std::string line = bytes.substr(begin, end - begin);
        const bool blank = line.find_first_not_of(" \t\r") == std::string::npos;
        if (line.size() > longest) {
            expected.emplace_back(too_long);
        } else if (!blank) {
            expected.push_back(line);
        }
        begin = end + 1;
    }
    RC_ASSERT(lines_of(bytes, longest, chunk) == expected);
}

TEST(line_splitter, holds_a_line_of_the_limit_and_what_is_behind_it_can_be_read) {
    constexpr std::size_t longest = 4U << 20U;
    const std::string line(longest, 'x');
    line_splitter splitter(longest);
    const std::string bytes = line + '\n';
    for (std::size_t sent = 0; sent < bytes.size();) {
        const auto room = splitter.room();
        const std::size_t size = std::min(room.size(), bytes.size() - sent);
        std::memcpy(room.data(), bytes.data() + sent, size);
        splitter.filled(size);
        sent += size;
        const auto got = splitter.next();
        if (!got) continue;
        ASSERT_EQ(sent, bytes.size());
        EXPECT_EQ(got->text, line);
        // As simdjson does; the address sanitizer watches.
        const std::string_view behind(got->text.data() + got->text.size(), line_splitter::padding);
        EXPECT_EQ(behind.front(), '\n');
        EXPECT_EQ(std::count(behind.begin() + 1, behind.end(), '\n'), 0);
        return;
    }
    FAIL() << "the line did not come out";
}

TEST(line_splitter, an_endless_line_costs_its_limit_and_no_more) {
    constexpr std::size_t longest = 1U << 20U;
    line_splitter splitter(longest);
    std::size_t largest = 0;
    for (std::size_t sent = 0; sent < 20 * longest;) {
        const auto room = splitter.room();
        largest = std::max(largest, room.size());
        std::memset(room.data(), 'x', room.size());
        splitter.filled(room.size());
        sent += room.size();
        EXPECT_FALSE(splitter.next());
    }
    EXPECT_LE(largest, longest + (64U << 10U));
    const auto room = splitter.room();
    room[0] = '\n';
    splitter.filled(1);
    const auto reported = splitter.next();
    ASSERT_TRUE(reported);
    EXPECT_TRUE(reported->too_long);
    EXPECT_FALSE(splitter.next());
}

TEST(line_splitter, says_what_it_saw_of_a_line_that_was_too_long) {
    const std::string bytes = R"({"id":1,"result":"short"})"
                              "\n"
                              R"({"jsonrpc":"2.0","result":{"id":6,"text":"\"}"},"id":5})"
                              "\n"
                              R"({"jsonrpc":"2.0","method":"m","params":{"id":6,"a":[]}})"
                              "\n";
    for (std::size_t chunk = 1; chunk <= bytes.size(); ++chunk) {
        line_splitter splitter(30);
        std::vector<skimmed_line> seen;
        for (std::string_view rest = bytes; !rest.empty();) {
            const std::size_t size = std::min(chunk, rest.size());
            std::memcpy(splitter.room().data(), rest.data(), size);
            splitter.filled(size);
            rest.remove_prefix(size);
            while (const auto line = splitter.next()) {
                if (line->too_long) seen.push_back(*line->seen);
            }
        }
        ASSERT_EQ(seen.size(), 2U);
        EXPECT_EQ(seen[0].longest, 30U);
        EXPECT_TRUE(seen[0].messages.at(0).result);
        EXPECT_EQ(seen[0].messages.at(0).raw_id, "5");
        EXPECT_TRUE(seen[1].messages.at(0).method);
        EXPECT_FALSE(seen[1].messages.at(0).has_id);
    }
}

TEST(line_splitter, has_more_room_for_a_peer_that_fills_it_at_once) {
    line_splitter splitter(1U << 20U);
    const auto fill = [&] {
        const auto room = splitter.room();
        std::memset(room.data(), '\n', room.size());
        splitter.filled(room.size());
        while (splitter.next()) continue;
        return room.size();
    };
    const std::size_t first = fill();
    EXPECT_LE(first, 16U << 10U) << "a quiet session costs little";
    std::size_t last = 0;
    for (int i = 0; i < 4; ++i) last = fill();
    EXPECT_EQ(last, 64U << 10U);
    splitter.filled(0);
    EXPECT_EQ(splitter.room().size(), last);
}

TEST(line_splitter, gives_back_what_a_long_line_took) {
    constexpr std::size_t longest = 8U << 20U;
    const std::size_t before = line_splitter(longest).room().size();
    line_splitter splitter(longest);
    for (std::size_t sent = 0; sent < longest;) {
        const auto room = splitter.room();
        const std::size_t size = std::min(room.size(), longest - sent);
        std::memset(room.data(), 'x', size);
        splitter.filled(size);
        sent += size;
        EXPECT_FALSE(splitter.next());
    }
    splitter.room()[0] = '\n';
    splitter.filled(1);
    EXPECT_TRUE(splitter.next());
    EXPECT_EQ(splitter.room().size(), before);
}

TEST(line_splitter, always_has_room_also_when_nobody_takes_the_lines) {
    line_splitter splitter(10);
    std::size_t sent = 0;
    for (int i = 0; i < 100; ++i) {
        const auto room = splitter.room();
        ASSERT_GE(room.size(), 1'000U);
        std::memset(room.data(), 'x', room.size());
        for (std::size_t at = 9; at < room.size(); at += 10) room[at] = '\n';
        const std::size_t whole = room.size() / 10 * 10;
        splitter.filled(whole);
        sent += whole;
        if (sent > (4U << 20U)) break;
    }
    std::size_t lines = 0;
    while (const auto line = splitter.next()) {
        ASSERT_EQ(line->text, "xxxxxxxxx");
        ++lines;
    }
    EXPECT_EQ(lines, sent / 10);
}

}  // namespace
}  // namespace andon
