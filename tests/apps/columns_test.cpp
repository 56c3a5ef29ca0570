#include "control/columns.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/call_rows.hpp"

namespace andon::app {
namespace {

using testing::ElementsAre;

const std::vector<column> three{{.title = "ID", .least = 3, .importance = 3},
                                {.title = "NAME", .least = 4, .importance = 2},
                                {.title = "AGE", .least = 3, .importance = 1, .side = align::right}};
const std::vector<std::vector<cell>> rows{{{"1"}, {"a rather long name"}, {"7 s"}}, {{"22"}, {"é…"}, {"10 s"}}};

TEST(columns, are_as_wide_as_their_text_where_nothing_limits_them) {
    EXPECT_THAT(
        table_lines(three, rows, std::nullopt, palette(false)),
        ElementsAre("ID  NAME                 AGE", "1   a rather long name   7 s", "22  é…                  10 s"));
}

TEST(columns, give_way_the_widest_first_and_then_the_least_important_one_whole) {
    EXPECT_THAT(table_lines(three, rows, 18, palette(false)),
                ElementsAre("ID  NAME       AGE", "1   a rathe…   7 s", "22  é…        10 s"));
    EXPECT_THAT(table_lines(three, rows, 8, palette(false)), ElementsAre("ID  NAME", "1   a r…", "22  é…"));
    EXPECT_THAT(table_lines(three, rows, 2, palette(false)), ElementsAre("ID", "1", "22"));
    EXPECT_THAT(table_lines(three, rows, 1, palette(false)), ElementsAre("…", "1", "…"));
}

TEST(columns, never_are_wider_than_the_screen) {
    gateway::found_call call;
    call.andon = 1'234'567;
    call.call = {.number = 123'456,
                 .server = std::string(300, 's'),
                 .session = std::string(300, 'i'),
                 .method = "tools/call",
                 .tool = std::string(300, 't'),
                 .progress = gateway::call_progress{1, 2, std::string(300, 'p')},
                 .asked_by = std::string(300, 'a')};
    const auto row = call_row(call, std::chrono::system_clock::now());
    for (std::size_t screen = 1; screen < 200; ++screen) {
        for (const std::string& line : table_lines(call_columns(), {row}, screen, palette(false))) {
            const auto shown = std::count_if(line.begin(), line.end(),
                                             [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
            EXPECT_LE(static_cast<std::size_t>(shown), screen) << line;
        }
    }
}

TEST(show_age, is_for_people) {
    using namespace std::chrono_literals;
    EXPECT_EQ(show_age(-3s), "0.0 s");
    EXPECT_EQ(show_age(400ms), "0.4 s");
    EXPECT_EQ(show_age(59s), "59 s");
    EXPECT_EQ(show_age(200s), "3 min 20 s");
    EXPECT_EQ(show_age(7'500s), "2 h 5 min");
    EXPECT_EQ(show_age(100h), "4 d 4 h");
}

}  // namespace
}  // namespace andon::app
