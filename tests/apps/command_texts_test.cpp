// Help and the man page: made from the command line itself.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "apps/andon_process.hpp"
#include "apps/everything_server.hpp"
#include "built_programs.hpp"
#include "own_folder.hpp"

namespace andon {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

/// The words that may come next; descriptions cut off.
std::set<std::string> next_words(const std::string& line) {
    std::istringstream from(run_andon({"__complete", "--", line}).out);
    std::set<std::string> words;
    for (std::string each; std::getline(from, each);) words.insert(each.substr(0, each.find('\t')));
    return words;
}

std::string output_of(const std::string& shell_line) {
    auto tree = process_tree::start(command::shell(shell_line), {.err = stdio::inherit});
    std::string text;
    std::array<char, 4'096> part{};
    for (;;) {
        const ssize_t got = ::read(tree.out(), part.data(), part.size());
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
        if (got == 0) break;
        if (got < 0 && errno != EAGAIN && errno != EINTR) break;
        if (got < 0) tree.wait(std::chrono::milliseconds(10));
    }
    tree.wait();
    return text;
}

const std::set<std::string>& subcommands() {
    static const std::set<std::string> all = next_words("andon ");
    return all;
}

TEST(andon_help, of_every_subcommand_has_examples_and_exit_statuses) {
    EXPECT_THAT(subcommands(), IsSupersetOf({"call", "tools", "tasks", "completion", "man"}));
    for (const std::string& each : subcommands()) {
        const andon_run ran = run_andon({each, "--help"});
        EXPECT_EQ(ran.status, 0) << each;
        EXPECT_THAT(ran.out, HasSubstr("Examples:\n  ")) << each;
        EXPECT_THAT(ran.out, HasSubstr("Exit status:\n  ")) << each;
    }
}

/// Lines that are longer than a usual terminal.
std::vector<std::string> too_long(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream from(text);
    for (std::string line; std::getline(from, line);) {
        // A character that is more than a byte is one column.
        const auto columns =
            std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        if (columns > 80) found.push_back(line);
    }
    return found;
}

TEST(andon_help, fits_a_usual_terminal) {
    EXPECT_THAT(too_long(run_andon({"--help"}).out), testing::IsEmpty());
    for (const std::string& each : subcommands()) {
        EXPECT_THAT(too_long(run_andon({each, "--help"}).out), testing::IsEmpty()) << each;
    }
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"tasks", "list"}, {"tasks", "follow"}, {"config", "init"}, {"config", "check"}, {"config", "show"}}) {
        EXPECT_THAT(too_long(run_andon({each[0], each[1], "--help"}).out), testing::IsEmpty()) << each[0] << each[1];
    }
    const std::string stop = run_andon({"stop", "--help"}).out;
    EXPECT_THAT(stop, HasSubstr("Usage: andon stop [OPTIONS] [ID...]\n"));
    EXPECT_THAT(stop, Not(testing::ContainsRegex("TEXT:|Option Group|REQUIRED|help-all")));
    EXPECT_THAT(run_andon({"wrap", "--help"}).out, HasSubstr("--on-ignored drop|restart|isolate\n"));
}

TEST(andon_help, a_wrong_command_line_is_status_2) {
    EXPECT_EQ(run_andon({}).status, 2);
    EXPECT_EQ(run_andon({"no-such-thing"}).status, 2);
    EXPECT_EQ(run_andon({"call"}).status, 2);
    EXPECT_EQ(run_andon({"call", everything_server, "echo", "--no-such-option"}).status, 2);
    EXPECT_EQ(run_andon({"completion", "fish"}).status, 2);
}

TEST(andon_help, a_word_that_is_no_subcommand_says_which_was_meant) {
    const andon_run typo = run_andon({"clal", "./server"});
    EXPECT_EQ(typo.status, 2);
    EXPECT_EQ(typo.err, "andon: there is no \"clal\"; did you mean \"call\"?\n");
    EXPECT_EQ(run_andon({"config", "shwo"}).err, "andon: there is no \"shwo\"; did you mean \"show\"?\n");
    EXPECT_EQ(run_andon({"no-such-thing"}).err, "andon: there is no \"no-such-thing\"; see andon --help\n");
    EXPECT_EQ(run_andon({"config", "no-such-thing"}).err,
              "andon: there is no \"no-such-thing\"; see andon config --help\n");
    EXPECT_THAT(run_andon({}).err, HasSubstr("Usage: andon [OPTIONS] SUBCOMMAND"));
}

TEST(andon_help, an_option_that_is_not_there_says_which_was_meant) {
    EXPECT_EQ(run_andon({"call", "--tmieout", "3s"}).err,
              "andon call: there is no option --tmieout; did you mean --timeout?\n")
        << "and not that SERVER is missing";
    EXPECT_EQ(run_andon({"stop", "--nonsense"}).err,
              "andon stop: there is no option --nonsense; see andon stop --help\n");
    EXPECT_EQ(run_andon({"tasks", "follow"}).err,
              "andon tasks follow: SERVER is required; see andon tasks follow --help\n");
    EXPECT_EQ(run_andon({"stop"}).err, "andon stop: say what to stop, in one way: an ID, --tool, --session or --all\n");
    EXPECT_EQ(run_andon({"stop", "--all", "--tool", "x"}).status, 2);
}

TEST(andon_help, what_cannot_be_written_is_an_error) {
    const auto status_of = [](const std::string& words) {
        return output_of(built_program("andon") + " " + words + " 2>&1 >/dev/full; echo $?");
    };
    for (const char* const each : {"--help", "man", "config init -", "completion bash", "check --list"}) {
        EXPECT_EQ(status_of(each), "andon: standard output cannot be written to\n1\n") << each;
    }
    const std::string server = built_program("everything_server");
    for (const std::string& each : {"tools " + server, "call " + server + " echo text=a", std::string("ps")}) {
        EXPECT_THAT(output_of("exec 3>&1; { " + built_program("andon") + " " + each + " <&- >&- 2>&3; echo $? >&3; }"),
                    testing::EndsWith("andon: standard output cannot be written to\n1\n"))
            << each;
    }
    EXPECT_EQ(output_of("bash -o pipefail -c '" + built_program("andon") + " man | true; echo $?'"), "0\n")
        << "a reader that left is none";
}

TEST(andon_man, has_every_subcommand_and_option) {
    std::string page = run_andon({"man"}).out;
    EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS"));
    EXPECT_THAT(page, HasSubstr(".SH ENVIRONMENT"));
    EXPECT_THAT(page, HasSubstr(".SH FILES"));
    for (std::size_t at = page.find("\\-"); at != std::string::npos; at = page.find("\\-", at)) page.erase(at, 1);
    for (const std::string& each : subcommands()) {
        EXPECT_THAT(page, HasSubstr(".SS \"andon " + each + "\"\n"));
        for (const std::string& option : next_words("andon " + each + " --")) {
            if (option.starts_with("--help")) continue;
            EXPECT_THAT(page, HasSubstr("\\fB" + option + "\\fR")) << each;
        }
    }
}

TEST(andon_man, is_set_without_a_warning) {
    if (std::system("command -v man >/dev/null && command -v groff >/dev/null") != 0) {
        GTEST_SKIP() << "man is not installed";
    }
    const own_folder here;
    const std::string page = (here.path() / "andon.1").string();
    std::ofstream(page) << run_andon({"man"}).out;
    const std::string all = "LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat MANOPT= man -l --warnings " + page;
    EXPECT_EQ(output_of(all + " 2>&1 >/dev/null"), "");
    const std::string text = output_of(all);
    EXPECT_THAT(text, HasSubstr("andon call"));
    EXPECT_THAT(too_long(text), testing::IsEmpty());
}

}  // namespace
}  // namespace andon
