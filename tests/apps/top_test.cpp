// `andon top` in a real terminal.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/control_commands.hpp"
#include "apps/tmux_screen.hpp"
#include "built_programs.hpp"

namespace andon::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class top : public testing::Test {
protected:
    void SetUp() override {
        if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;
        window = std::make_unique<tmux_screen>(100, 20, "sh");
        one.say("call wait stdio 12000 running 1 4 fetching");
        one.say("call build 0af1 1000 running");
        one.fence();
    }
    /// Shows what was there before it is started, and after its end its exit status and the state of the terminal.
    void start(const std::string& arguments = "") {
        window->enter("stty -g >" + file("before"));
        window->enter(std::string("clear; echo still here; ") + built_program("andon") + " top " + arguments +
                      "; echo status $?; stty -g >" + file("after"));
        wait_for("running, ");
    }
    std::string wait_for(const std::string& text) const {
        return window->wait_until([&](const std::string& now) { return now.find(text) != std::string::npos; }, text);
    }
    void expect_restored(const std::string& status) {
        const std::string screen = wait_for("status " + status + "\n");
        EXPECT_THAT(screen, AllOf(HasSubstr("still here"), Not(HasSubstr("running, "))));
        EXPECT_FALSE(window->flag("alternate_on"));
        EXPECT_TRUE(window->flag("cursor_flag"));
        EXPECT_TRUE(window->flag("wrap_flag"));
        window->enter("cmp " + file("before") + ' ' + file("after") + " && echo the terminal is as it was");
        wait_for("\nthe terminal is as it was");
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (files.path() / name).string(); }

    gateway::runtime_folder files;
    gateway::runtime_folder folder;  // the one that counts
    fake_andon one;
    std::unique_ptr<tmux_screen> window;
};

TEST_F(top, shows_what_is_in_flight_as_it_changes_and_leaves_no_trace) {
    start("--interval 0.1");
    EXPECT_TRUE(window->flag("alternate_on"));
    EXPECT_FALSE(window->flag("cursor_flag"));
    EXPECT_THAT(wait_for("2 running, "), AllOf(HasSubstr(one.id(1)), HasSubstr("25 % fetching"), HasSubstr("q quit")));
    one.say("call third stdio 1 ignoring");
    EXPECT_THAT(wait_for("third"), HasSubstr("1 ignoring; 1 andon"));
    window->press("q");
    expect_restored("0");
}

TEST_F(top, s_stops_the_selected_call_once_it_is_confirmed) {
    start("--interval 0.1");
    wait_for("2 running");
    window->press("Down");
    window->press("s");
    wait_for("Stop " + one.id(2) + "? y/n  build of everything (session 0af1)");
    window->press("n");
    wait_for("q quit");
    window->press("s");
    wait_for("? y/n");
    window->press("y");
    one.until("stop 2 operator ");
    wait_for("1 asked to stop");
    EXPECT_THAT(one.out(), Not(HasSubstr("stop 1")));
    window->press("q");
    expect_restored("0");
}

TEST_F(top, ctrl_c_restores_the_terminal) {
    start();
    window->press("C-c");
    expect_restored("130");
}

TEST_F(top, sigterm_restores_the_terminal) {
    start();
    ::kill(window->running(), SIGTERM);
    expect_restored("143");
}

TEST_F(top, ctrl_z_gives_the_terminal_back_and_fg_takes_it_again) {
    start();
    window->press("C-z");
    EXPECT_THAT(wait_for("Stopped"), HasSubstr("still here"));
    EXPECT_FALSE(window->flag("alternate_on"));
    EXPECT_TRUE(window->flag("cursor_flag"));
    window->enter("fg");
    window->wait_until(
        [&](const std::string& now) { return now.find("2 running, ") == 0 || now.find("andon top") == 0; },
        "the screen again");
    EXPECT_TRUE(window->flag("alternate_on"));
    window->press("q");
    window->wait_until([&](const std::string&) { return !window->flag("alternate_on"); }, "the end");
}

TEST_F(top, follows_the_size_of_the_window) {
    start();
    wait_for("ASKED BY");
    window->resize(32, 6);
    const std::string narrow = window->wait_until(
        [&](const std::string& now) {
            return now.find("ASKED BY") == std::string::npos && now.find(one.id(1)) != std::string::npos;
        },
        "a narrow table");
    EXPECT_THAT(narrow, AllOf(HasSubstr("TOOL"), HasSubstr("wait"), HasSubstr("q quit")));
    EXPECT_THAT(narrow, HasSubstr("andon top: 2 running, 0 asked t…\n")) << "the last column is used";
    window->resize(120, 30);
    wait_for("ASKED BY");
    window->press("q");
    wait_for("status 0");
}

TEST_F(top, an_andon_that_hangs_keeps_no_key_waiting) {
    start("--interval 0.1");
    one.signal(SIGSTOP);
    wait_for("does not answer");
    window->press("p");
    wait_for("(paused)");
    window->press("q");
    expect_restored("0");
    one.signal(SIGCONT);
}

TEST_F(top, without_a_terminal_or_on_a_dumb_one_points_to_ps) {
    const andon_run end = run_andon({"top"});
    EXPECT_EQ(end.status, 2);
    EXPECT_THAT(end.err, HasSubstr("andon ps"));
    window->enter(std::string("TERM=dumb ") + built_program("andon") + " top; echo status $?");
    EXPECT_THAT(wait_for("status 2"), HasSubstr("andon ps"));
}

// The others, where they find a terminal.

TEST_F(top, ps_fits_the_width_of_the_terminal) {
    window->enter(std::string("clear; ") + built_program("andon") + " ps");
    EXPECT_THAT(wait_for("fetching"), HasSubstr(one.id(1)));
    window->resize(40, 20);
    window->enter(std::string("clear; ") + built_program("andon") + " ps; echo status $?");
    const std::string narrow = wait_for("status 0");
    EXPECT_THAT(narrow, AllOf(HasSubstr(one.id(1)), HasSubstr("wait"), Not(HasSubstr("SESSION"))));
}

TEST_F(top, wide_characters_break_no_line) {
    one.say("call 検索ツールの長い名前 stdio 1 running 1 4 検索しています👍検索しています");
    one.fence();
    for (const int columns : {100, 70, 45}) {
        window->resize(columns, 20);
        // tmux tells the program of its size when it gets round to it.
        const std::string wide = std::to_string(columns);
        const std::string last = "status 0 in " + wide;
        window->enter("until [ \"$(stty size)\" = '20 " + wide + "' ]; do :; done; clear; " + built_program("andon") +
                      " ps; echo status $? in " + wide);
        const std::string glass = wait_for(last);
        const auto table = glass.substr(0, glass.find(last));
        EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4) << "a heading and three calls\n" << glass;
        EXPECT_THAT(glass, HasSubstr("検索"));
    }
    start();
    const std::string glass = wait_for("検索");
    EXPECT_THAT(glass, testing::MatchesRegex("andon top[^\n]*\nID[^\n]*\n[0-9.]+ [^\n]*\n[0-9.]+ [^\n]*\n[0-9.]+ "
                                             "[^\n]*\n\n(.|\n)*"));
}

TEST_F(top, stop_all_asks_on_a_terminal) {
    window->enter(std::string("clear; ") + built_program("andon") + " stop --all; echo status $?");
    wait_for("Stop 2 calls in flight? [y/N]");
    window->enter("");
    wait_for("status 130");
    one.fence();
    EXPECT_THAT(one.out(), Not(HasSubstr("stop")));
    window->enter(std::string("clear; ") + built_program("andon") + " stop --all --yes; echo status $?");
    wait_for("status 0");
    one.until("stop 2");
}

}  // namespace
}  // namespace andon::app
