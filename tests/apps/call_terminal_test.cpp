// `andon call` on a real terminal.
#include <gmock/gmock.h>

#include "apps/andon_process.hpp"
#include "apps/everything_server.hpp"
#include "apps/tmux_screen.hpp"
#include "built_programs.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string call(const std::string& arguments) {
    return built_program("andon") + " call " + everything_server + ' ' + arguments;
}

/// Rows on which a bar, or what is left of one, can be seen.
int bars_in(const std::vector<std::string>& rows) {
    int count = 0;
    for (const std::string& each : rows) count += each.find_first_of("%[>") != std::string::npos ? 1 : 0;
    return count;
}

class andon_call_terminal : public testing::Test {
protected:
    void SetUp() override {
        if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;
    }
};

TEST_F(andon_call_terminal, a_bar_is_drawn_in_its_place_and_gone_at_the_end) {
    const tmux_screen screen(80, 10, call("wait ms=2000 tick_ms=10"));
    screen.wait_for_match(R"(wait  \[=+> +\] +[1-9][0-9]?%  \d)");
    EXPECT_EQ(bars_in(screen.rows()), 1);
    const std::string end = screen.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr("waited 2000 ms\n[ended 0]"));
    EXPECT_THAT(end, Not(HasSubstr("%")));
}

TEST_F(andon_call_terminal, log_messages_come_above_the_bar) {
    const tmux_screen screen(80, 10, call("wait_ignore ms=60000 tick_ms=20"));
    const std::string seen = screen.wait_for_match(R"(\[warning\] still here\n.*wait_ignore  \[)");
    EXPECT_THAT(screen.rows(), testing::Not(testing::Contains(testing::AllOf(HasSubstr("%"), HasSubstr("warning")))))
        << seen;
}

TEST_F(andon_call_terminal, SND_7_the_first_control_c_cancels_and_says_what_became_of_it) {
    const tmux_screen screen(80, 12, call("wait ms=60000 tick_ms=10 key=w"), {{"ANDON_MARKS", "1"}});
    screen.wait_for_match(R"(\d%  )");
    screen.press("C-c");
    const std::string end = screen.wait_for("[ended 130]");
    EXPECT_THAT(end, HasSubstr("cancelling…\n"));
    EXPECT_THAT(end, HasSubstr("@cancel w")) << "the server was not told";
    EXPECT_THAT(end,
                testing::ContainsRegex("cancelled after .* s; the server was told, and ended .* later\n.ended 130"));
    EXPECT_THAT(end, Not(HasSubstr("%")));
}

TEST_F(andon_call_terminal, the_second_control_c_leaves_at_once) {
    // A server that stays, and would be killed politely only after four seconds.
    const std::string lives_on = "'sh -c \"trap : TERM; " + everything_server + "; while :; do sleep 0.1; done\"'";
    const tmux_screen screen(80, 12, built_program("andon") + " call " + lives_on + " wait ms=60000 tick_ms=10");
    screen.wait_for_match(R"(\d%  )");
    screen.press("C-c");
    screen.wait_for("cancelling…");
    screen.press("C-c");
    const std::string end = screen.wait_for("[ended 130]");
    EXPECT_THAT(end, Not(HasSubstr("cancelled after"))) << "it stayed until the server was killed";
    EXPECT_THAT(end, HasSubstr("\n[ended 130]"));
    EXPECT_THAT(end, Not(testing::ContainsRegex("\\^C|ncelling  "))) << "something is left of the bar, or of ^C";
}

TEST_F(andon_call_terminal, the_bar_follows_the_width_of_the_window_and_touches_nothing_else) {
    const tmux_screen screen(100, 10, "seq 7; " + call("wait ms=60000 tick_ms=10"));
    // With what has left the window at its top: tmux moves rows there when it breaks lines. A bar that is itself moved
    // there cannot be reached any more, so there are some lines above it, as there mostly are.
    screen.wait_for_match(R"(^1\n2\n3\n4\n5\n6\n7\nwait  \[.{40}\] [^\n]*%[^\n]*\n*$)");
    screen.resize(30, 10);
    screen.wait_for_match(R"(^1\n2\n3\n4\n5\n6\n7\n\[.{10,16}\] +\d+%  [\d.]+ s\n*$)");
    screen.resize(9, 10);
    screen.wait_for_match(R"(^1\n2\n3\n4\n5\n6\n7\n\d+%\n*$)");
    screen.resize(100, 10);
    screen.wait_for_match(R"(^1\n2\n3\n4\n5\n6\n7\nwait  \[.{40}\] [^\n]*%[^\n]*\n*$)");
}

TEST_F(andon_call_terminal, a_dumb_terminal_gets_lines) {
    const tmux_screen screen(80, 10, call("wait ms=60000 tick_ms=10"), {{"TERM", "dumb"}});
    const std::string seen = screen.wait_for_match(R"(wait: \d% \(\d+ of 60000\)\nwait: \d+% \()");
    EXPECT_THAT(seen, Not(HasSubstr("[=")));
    screen.press("C-c");
    EXPECT_THAT(screen.wait_for("[ended 130]"), HasSubstr("cancelled after"));
}

TEST_F(andon_call_terminal, without_a_terminal_for_it_there_is_no_bar) {
    const tmux_screen screen(80, 10, call("wait ms=30 tick_ms=10") + " 2>&1 | cat -v");
    const std::string end = screen.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr("wait: 33% (10 of 30)\nwaited 30 ms\n"));
    EXPECT_THAT(end, Not(HasSubstr("^[")));
}

TEST_F(andon_call_terminal, the_result_in_a_pipe_leaves_the_bar_on_the_terminal) {
    const tmux_screen screen(80, 10, call("wait ms=1000 tick_ms=10") + " | sed s/waited/piped/");
    screen.wait_for_match(R"(wait  \[=+>)");
    EXPECT_THAT(screen.wait_for("[ended 0]"), HasSubstr("piped 1000 ms\n"));
}

TEST_F(andon_call_terminal, colours_are_for_terminals_that_want_them) {
    const std::string line = built_program("andon") + " tools " + everything_server + " echo";
    const tmux_screen coloured(80, 40, line);
    coloured.wait_for("[ended 0]");
    EXPECT_THAT(coloured.styled(), HasSubstr("\x1b[1mecho"));
    const tmux_screen plain(80, 40, line, {{"NO_COLOR", "1"}});
    plain.wait_for("[ended 0]");
    EXPECT_THAT(plain.styled(), Not(HasSubstr("\x1b[1m")));
    const tmux_screen piped(80, 40, line + " | cat -v");
    EXPECT_THAT(piped.wait_for("[ended 0]"), Not(HasSubstr("^[")));
}

TEST_F(andon_call_terminal, tools_stand_below_one_another_in_a_narrow_window) {
    const tmux_screen screen(40, 200, built_program("andon") + " tools " + everything_server);
    const std::string end = screen.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr("\nwait\n    Waits, with progress, and stops when\n    it is cancelled\n"
                               "    ms:integer tick_ms?:integer\n    key?:string\n"));
    EXPECT_THAT(end, HasSubstr("\ntest_elicitation_sep1330_enums\n")) << "a name is whole";
    EXPECT_THAT(end, Not(HasSubstr("…")));
    for (const std::string& row : screen.rows()) {
        EXPECT_TRUE(end.find('\n' + row + '\n') != std::string::npos || end.starts_with(row)) << "broken: " << row;
    }
    const tmux_screen one(40, 200, built_program("andon") + " tools " + everything_server + " wait");
    EXPECT_THAT(one.wait_for("[ended 0]"), HasSubstr("wait\nWaits, with progress, and stops when it\nis cancelled\n"));
}

TEST_F(andon_call_terminal, a_server_that_takes_its_time_is_told_of_and_not_waited_for_longer_than_wanted) {
    const std::string mute = "'sh -c \"cat >/dev/null\"'";
    const tmux_screen screen(80, 10, built_program("andon") + " tools " + mute + " --timeout 1500ms");
    screen.wait_for_match(R"(connecting…  1\.\d s)");
    EXPECT_THAT(screen.wait_for("[ended 4]"),
                testing::StartsWith("andon: timed out: no answer within 1s500ms\n[ended"));
}

TEST_F(andon_call_terminal, the_table_of_tools_is_cut_to_the_window) {
    const tmux_screen screen(100, 60, built_program("andon") + " tools " + everything_server);
    const std::string end = screen.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr("…"));
    for (const std::string& row : screen.rows()) EXPECT_FALSE(row.starts_with(" ")) << "a line was broken: " << row;
}

TEST_F(andon_call_terminal, what_check_is_doing_is_gone_at_its_end_also_in_a_narrow_window) {
    const tmux_screen screen(40, 20, built_program("andon") + " check --rules MSG-1,MSG-2 -- " + everything_server);
    EXPECT_THAT(screen.wait_for("[ended 0]"), testing::StartsWith(everything_server));
}

TEST_F(andon_call_terminal, what_the_server_asks_is_asked) {
    const tmux_screen screen(80, 14, call("test_elicitation \"message=Who are you?\""));
    EXPECT_THAT(screen.wait_for("yes, no (decline) or cancel: "), HasSubstr("The server asks: Who are you?"));
    screen.type("yes\n");
    screen.wait_for("username - User's response (string, needed): ");
    screen.type("\n");
    screen.wait_for("must be filled in");
    screen.type("ada\n");
    screen.wait_for("email");
    screen.type("ada@example.com\n");
    const std::string end = screen.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr(R"(action: accept, content: {"username":"ada","email":"ada@example.com"})"));
}

TEST_F(andon_call_terminal, what_the_server_asks_can_be_declined_and_cancelled_and_defaults_are_taken) {
    const tmux_screen declined(80, 14, call("test_elicitation message=hi"));
    declined.wait_for("or cancel: ");
    declined.type("no\n");
    EXPECT_THAT(declined.wait_for("[ended 0]"), HasSubstr("action: decline"));

    const tmux_screen ended(80, 14, call("test_elicitation message=hi"));
    ended.wait_for("or cancel: ");
    ended.press("C-d");
    EXPECT_THAT(ended.wait_for("[ended 0]"), HasSubstr("action: cancel"));

    const tmux_screen defaults(80, 20, call("test_elicitation_sep1034_defaults"));
    defaults.wait_for("or cancel: ");
    defaults.type("y\nGrace\nold\n41\n\n\n\n");
    const std::string end = defaults.wait_for("[ended 0]");
    EXPECT_THAT(end, HasSubstr("must be integer"));
    EXPECT_THAT(end, HasSubstr(R"("name":"Grace","age":41,"score":9.55E1,"status":"active","verified":true)"));
}

TEST_F(andon_call_terminal, control_c_at_a_question_cancels_the_call) {
    for (const std::string revision : {"2025-11-25", "2026-07-28"}) {
        const tmux_screen screen(80, 14, call("test_elicitation message=hi --revision " + revision));
        screen.wait_for("or cancel: ");
        screen.press("C-c");
        EXPECT_THAT(screen.wait_for("[ended 130]"), HasSubstr("cancelled after")) << revision;
    }
}

}  // namespace
}  // namespace andon
