#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>

#include "andon/wire/error.hpp"
#include "apps/andon_process.hpp"
#include "apps/tmux_screen.hpp"
#include "built_programs.hpp"
#include "gateway/journal/journal.hpp"
#include "gateway/journal_entries.hpp"
#include "process/process_watch.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

class log_command : public testing::Test {
protected:
    own_folder folder;
    journal_options options{.path = folder / "state/journal.db"};

    void write(std::initializer_list<journal_entry> entries) const {
        journal kept(options, {});
        for (const journal_entry& each : entries) kept.write(each);
        EXPECT_TRUE(kept.flush(20s));
    }
    [[nodiscard]] std::string out(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "log");
        andon_process process(std::move(arguments), {}, at_home_in(folder));
        EXPECT_EQ(process.end(), 0) << process.err();
        return process.out();
    }
    [[nodiscard]] std::vector<std::uint64_t> numbers(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        std::istringstream lines(out(std::move(arguments)));
        std::vector<std::uint64_t> found;
        for (std::string line; std::getline(lines, line);) {
            const std::string call(json::parse(line).at("call").as_string());
            found.push_back(std::stoull(call.substr(call.find('.') + 1)));
        }
        return found;
    }
};

TEST_F(log_command, says_where_nobody_has_written_yet) {
    andon_process process({"log"}, {}, at_home_in(folder));
    EXPECT_EQ(process.end(), 0);
    EXPECT_EQ(process.out(), "");
    EXPECT_THAT(process.err(), HasSubstr("no call is over yet that is kept"));
    EXPECT_EQ(out({"--json"}), "");
}

TEST_F(log_command, shows_one_line_for_each_call_with_all_that_became_of_it) {
    write({small_entry(1), full_entry()});
    std::istringstream text(out({}));
    std::string line;
    std::getline(text, line);
    EXPECT_THAT(line, HasSubstr(std::to_string(::getpid()) + ".12"));
    EXPECT_THAT(line, HasSubstr("id 9007199254740993  cancelled after 1.50 s; asked to stop by host: the user pressed "
                                "Stop; ignored its cancel, and stopped after 2.04 s (killed), 3 late messages dropped, "
                                "2 processes killed"));
    std::getline(text, line);
    EXPECT_THAT(line, MatchesRegex("2...-..-.. ..:..:..\\.... +[0-9]+\\.1 +everything +wait +completed +after .*"));
    EXPECT_FALSE(std::getline(text, line));
    EXPECT_EQ(out({}).find('\x1b'), std::string::npos) << "no colours in a pipe";
}

TEST_F(log_command, json_has_every_field) {
    const journal_entry entry = full_entry();
    write({entry});
    EXPECT_NE(out({"--json"}).find(R"("took_ms":1500,)"), std::string::npos) << "in plain decimals";
    EXPECT_NE(out({"--json"}).find(R"("time_to_stop_ms":2041.007,)"), std::string::npos);
    const json::object row = json::parse(out({"--json"})).as_object();
    EXPECT_EQ(row.at("call"), json::string(std::to_string(::getpid()) + ".12"));
    EXPECT_EQ(row.at("server"), "files");
    EXPECT_EQ(row.at("session"), "stdio");
    EXPECT_EQ(row.at("method"), "tools/call");
    EXPECT_EQ(row.at("tool"), "search");
    EXPECT_EQ(row.at("id"), "9007199254740993");
    EXPECT_EQ(row.at("end"), "cancelled");
    EXPECT_EQ(row.at("took_ms").to_number<double>(), 1'500);
    EXPECT_EQ(row.at("error_code"), -32'800);
    EXPECT_EQ(row.at("cause"), "peer");
    EXPECT_EQ(row.at("asked_by"), "host");
    EXPECT_EQ(row.at("reason"), "the user pressed Stop");
    EXPECT_DOUBLE_EQ(row.at("time_to_stop_ms").as_double(), 2'041.007);
    EXPECT_EQ(row.at("evidence"), "killed");
    EXPECT_EQ(row.at("ignored"), true);
    EXPECT_EQ(row.at("late_messages"), 3);
    EXPECT_EQ(row.at("killed"), 2);
    EXPECT_EQ(row.at("pid"), 4'711);
    EXPECT_EQ(row.at("traceparent"), json::string(entry.call.traceparent));
}

TEST_F(log_command, filters_and_counts) {
    journal_entry other = small_entry(2, "spin");
    other.call.server = "files";
    other.end = call_end::timed_out;
    other.ignored = true;
    journal_entry old = small_entry(3);
    old.ended -= 2h;
    write({small_entry(1), other, old, small_entry(4)});
    using list = std::vector<std::uint64_t>;
    EXPECT_EQ(numbers({}), (list{1, 2, 3, 4}));
    EXPECT_EQ(numbers({"-n", "2"}), (list{3, 4}));
    EXPECT_EQ(numbers({"-n", "0"}), list{});
    EXPECT_EQ(numbers({"--server", "files"}), list{2});
    EXPECT_EQ(numbers({"--tool", "wait"}), (list{1, 3, 4}));
    EXPECT_EQ(numbers({"--end", "timed out"}), list{2});
    EXPECT_EQ(numbers({"--since", "1h"}), (list{1, 2, 4}));
    EXPECT_EQ(numbers({"--ignored"}), list{2});
    write({small_entry(5, "a\\nb")});
    EXPECT_EQ(numbers({"--tool", "a\nb"}), list{5}) << "as it is called, or as it is shown";
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
             {"log", "--since", "soon"}, {"log", "--end", "well"}, {"log", "-n", "-1"}, {"log", "extra"}}) {
        EXPECT_EQ(andon_process(wrong, {}, at_home_in(folder)).end(), 2);
    }
}

TEST_F(log_command, follows_a_journal_that_does_not_exist_yet_through_many_writers_until_ctrl_c) {
    andon_process process({"log", "--follow", "--json"}, {}, at_home_in(folder));
    for (std::uint64_t i = 1; i <= 20; ++i) {
        write({small_entry(i)});  // each another writer: the files come and go
        const std::string line = process.line();
        ASSERT_NE(line, "") << i;
        EXPECT_THAT(line, HasSubstr('.' + std::to_string(i) + "\","));
    }
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 0) << process.err();
    EXPECT_EQ(process.err(), "");
}

TEST_F(log_command, follows_by_filter_and_begins_with_the_newest) {
    write({small_entry(1, "a"), small_entry(2, "b"), small_entry(3, "a")});
    andon_process process({"log", "-f", "-n", "1", "--tool", "a", "--json"}, {}, at_home_in(folder));
    EXPECT_THAT(process.line(), HasSubstr(".3\","));
    journal kept(options, {});
    for (std::uint64_t i = 4; i < 2'000; ++i) kept.write(small_entry(i, "b"));
    kept.write(small_entry(2'000, "a"));
    EXPECT_THAT(process.line(), HasSubstr(".2000\","));
    process.signal(SIGTERM);
    EXPECT_EQ(process.end(), 0);
}

TEST_F(log_command, follows_a_file_that_is_put_in_its_place) {
    write({small_entry(1), small_entry(2)});
    andon_process process({"log", "-f", "--json"}, {}, at_home_in(folder));
    EXPECT_THAT(process.line(), HasSubstr(".1\","));
    EXPECT_THAT(process.line(), HasSubstr(".2\","));
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(options.path + end);
    write({small_entry(7)});
    EXPECT_THAT(process.line(), HasSubstr(".7\",")) << "although its row has the number of one that was seen";
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 0) << process.err();
}

TEST_F(log_command, leaves_when_nobody_reads_it_any_more) {
    write({small_entry(1)});
    andon_process process({"log", "-f"}, {}, at_home_in(folder));
    EXPECT_NE(process.line(), "");
    process.close_output();
    EXPECT_EQ(process.end(), 0);
}

TEST_F(log_command, following_costs_nothing_while_nothing_happens) {
    write({small_entry(1)});
    andon_process process({"log", "-f"}, {}, at_home_in(folder));
    EXPECT_NE(process.line(), "");
    const auto switches = [&process] {
        std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
        std::string line;
        while (std::getline(status, line) && !line.starts_with("voluntary_ctxt_switches")) {
        }
        return line;
    };
    // It has printed, and may be on its way to its wait still. That nothing wakes it is a matter of time alone.
    std::string before = switches();
    const auto limit = std::chrono::steady_clock::now() + patience;
    int quiet = 0;
    while (quiet < 3 && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(100ms);
        const std::string now = switches();
        quiet = now == before ? quiet + 1 : 0;
        before = now;
    }
    EXPECT_EQ(quiet, 3) << "it is woken again and again";
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 0);
}

TEST_F(log_command, tells_why_a_journal_cannot_be_read) {
    static_cast<void>(folder.write("state/journal.db", std::string(5'000, 'x')));
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{{"log"}, {"log", "--follow"}}) {
        andon_process process(each, {}, at_home_in(folder));
        EXPECT_EQ(process.end(), 1);
        EXPECT_THAT(process.err(), HasSubstr("is not a journal; move it away"));
    }
    const std::string elsewhere = folder.write("a.toml", "[journal]\npath = \"other.db\"\n");
    andon_process other({"log", "--config", elsewhere}, {}, at_home_in(folder));
    EXPECT_EQ(other.end(), 0);
    EXPECT_THAT(other.err(), HasSubstr(folder / "other.db"));
}

TEST_F(log_command, columns_stand_below_one_another_also_in_a_pipe) {
    journal_entry other = small_entry(1'234'567, "a tool with a long name");
    other.call.server = "a-server-of-many-words";
    const journal_entry first = small_entry(1);
    other.ended = first.ended + 1ms;
    write({first, other});
    std::istringstream text(out({}));
    std::string one;
    std::string two;
    std::getline(text, one);
    std::getline(text, two);
    EXPECT_EQ(one.find("completed"), two.find("completed")) << one << '\n' << two;
    EXPECT_THAT(two, HasSubstr("  a-server-of-many-words  a tool with a long name  "));
}

TEST_F(log_command, the_newest_is_last) {
    journal_entry old = small_entry(2);
    old.ended -= 1min;
    old.call.started -= 1min;
    write({small_entry(1), old});
    const std::string text = out({});
    EXPECT_LT(text.find(".2 "), text.find(".1 ")) << text;
    EXPECT_EQ(numbers({}), (std::vector<std::uint64_t>{1, 2})) << "programs have them as the journal has";
}

TEST_F(log_command, fits_the_window) {
    if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;
    journal_entry other = small_entry(13, "a_tool_with_a_name_that_is_longer_than_any");
    other.call.server = "a-server-of-a-great-many-words";
    other.call.request_id = "0123456789abcdef0123456789abcdef";
    journal_entry far = small_entry(14, "検索ツールの長い名前");
    far.call.server = "サーバー";
    far.call.cause = cancel_cause::peer;
    far.call.reason =
        "利用者が停止ボタンを押しました。利用者が停止ボタンを押しました。利用者が停止ボタンを押しました。";
    write({full_entry(), other, far});
    const auto seen_in = [&](int columns) {
        const tmux_screen screen(
            columns, 24, built_program("andon") + " log",
            {{"ANDON_STATE_DIR", folder / "state"}, {"ANDON_CONFIG", ""}, {"HOME", folder / "home"}});
        const std::string whole = screen.wait_for("[ended 0]");
        std::string glass;
        for (const std::string& row : screen.rows()) glass += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
        EXPECT_EQ(glass.substr(0, glass.find("[ended 0]")), whole.substr(0, whole.find("[ended 0]")))
            << "the edge of the window broke a line";
        return glass;
    };
    const std::string wide = seen_in(160);
    EXPECT_THAT(wide, MatchesRegex("ENDED +ID +SERVER +TOOL +REQUEST +WHAT BECAME OF IT\n(.|\n)*"));
    EXPECT_THAT(wide, HasSubstr("a-server-of-a-g…  a_tool_with_a_name_that…  id 01234567…  completed after"));
    EXPECT_THAT(wide, HasSubstr("id 90071992…  cancelled after 1.50 s; asked to stop by host: the user pressed\n"));

    const std::string usual = seen_in(80);
    EXPECT_THAT(usual, HasSubstr("ENDED     ID"));
    EXPECT_THAT(usual, MatchesRegex("ENDED[^\n]*\n2...-..-..\n..:..:..  [0-9]+.12 (.|\n)*")) << "the day above";
    EXPECT_THAT(usual, HasSubstr("a-serve…  a_tool_…  completed after"));
    EXPECT_THAT(usual, HasSubstr("サーバー  検索ツ…   completed after"));

    const std::string narrow = seen_in(36);
    EXPECT_THAT(narrow, HasSubstr("\n    cancelled after 1.50 s; asked to\n    stop by host: the user pressed\n"));
}

TEST_F(log_command, MSG_4_has_colours_on_a_terminal_and_nothing_of_a_stranger) {
    journal_entry entry = full_entry();
    entry.call.reason = "a\x1b[2Jb\nc";
    write({entry});
    winsize size{.ws_row = 24, .ws_col = 250, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
        ::setenv("TERM", "xterm", 1);
        ::unsetenv("NO_COLOR");
        ::setenv("ANDON_STATE_DIR", (folder / "state").c_str(), 1);
        ::setenv("HOME", folder.path().c_str(), 1);
        ::execl(built_program("andon").c_str(), "andon", "log", nullptr);
        ::_exit(127);
    }
    std::string text;
    std::array<char, 4'096> some{};
    for (ssize_t n = 0; (n = ::read(terminal, some.data(), some.size())) > 0;) {
        text.append(some.data(), static_cast<std::size_t>(n));
    }
    ::close(terminal);
    ::waitpid(child, nullptr, 0);
    EXPECT_THAT(text, HasSubstr("\x1b[31mcancelled\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("a\\x1b[2Jb\\nc"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "the heading, and the call";
}

}  // namespace
}  // namespace andon::gateway
