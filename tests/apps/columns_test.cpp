#include "control/columns.hpp"

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

// In whatever locale: a test has none.
TEST(columns, count_as_a_terminal_does) {
    EXPECT_EQ(width_of(""), 0U);
    EXPECT_EQ(width_of("naïve…"), 6U);
    EXPECT_EQ(width_of("検索"), 4U);
    EXPECT_EQ(width_of("한국"), 4U);
    EXPECT_EQ(width_of("ok 👍"), 5U);
    EXPECT_EQ(width_of("e\u0301\u0302x"), 2U) << "marks stand on their character";
    EXPECT_EQ(width_of("\xff|"), 2U) << "what is no character is shown as one";
}

TEST(columns, are_cut_at_whole_characters) {
    EXPECT_EQ(fit("検索する", 8), "検索する");
    EXPECT_EQ(fit("検索する", 9), "検索する ");
    EXPECT_EQ(fit("検索する", 7), "検索す…");
    EXPECT_EQ(fit("検索する", 6), "検索… ") << "half of the third does not fit";
    EXPECT_EQ(fit("検索する", 6, align::right), " 検索…");
    EXPECT_EQ(fit("検索", 1), "…");
    EXPECT_EQ(fit("検索", 0), "");
    EXPECT_EQ(fit("ae\u0301bc", 3), "ae\u0301…");
    EXPECT_EQ(fit("ae\u0301", 2), "ae\u0301");
    EXPECT_EQ(fit("e\u0301x", 1), "…") << "no mark without its character";
    EXPECT_THAT(wrapped("検索する ツール", 8), ElementsAre("検索する", "ツール"));
    EXPECT_THAT(wrapped("検索する", 5), ElementsAre("検索", "する"));
    EXPECT_THAT(wrapped("ae\u0301bc", 2), ElementsAre("ae\u0301", "bc"));
    EXPECT_THAT(wrapped("検索", 1), ElementsAre("検", "索")) << "it has to stand somewhere";
}

TEST(columns, stand_below_one_another_whatever_is_in_them) {
    const std::vector<std::vector<cell>> all{{{"1"}, {"検索"}, {"7 s"}}, {{"2"}, {"e\u0301"}, {"10 s"}}};
    EXPECT_THAT(table_lines(three, all, std::nullopt, palette(false)),
                ElementsAre("ID  NAME   AGE", "1   検索   7 s", "2   e\u0301     10 s"));
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
    for (std::string* const each : {&call.call.server, &call.call.session, &call.call.tool, &call.call.asked_by}) {
        each->clear();
        for (int i = 0; i < 100; ++i) *each += "検";
    }
    const auto wide = call_row(call, std::chrono::system_clock::now());
    for (std::size_t screen = 1; screen < 200; ++screen) {
        for (const std::string& line : table_lines(call_columns(), {row, wide}, screen, palette(false))) {
            EXPECT_LE(width_of(line), screen) << line;
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
