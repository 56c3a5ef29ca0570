// What the shells offer next, made from the command line itself and from what is on this machine.
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "apps/control_commands.hpp"
#include "apps/tmux_screen.hpp"
#include "built_programs.hpp"
#include "gateway/journal/journal.hpp"
#include "gateway/journal_entries.hpp"

namespace andon::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

using words = std::set<std::string>;

class andon_completion : public testing::Test {
protected:
    own_folder folder;
    gateway::runtime_folder running;
    std::string config = folder.write("a.toml",
                                      "[servers.files]\ncommand = \"npx -y files\"\n"
                                      "[servers.tickets]\nurl = \"https://tickets.example/mcp\"\n");

    [[nodiscard]] environment_list environment() const {
        return at_home_in(folder, {{"ANDON_CONFIG", config}, {"ANDON_RUNTIME_DIR", running.path().string()}});
    }
    /// The words that may come next; descriptions cut off.
    [[nodiscard]] words next_words(const std::string& line) const {
        std::istringstream from(run_andon({"__complete", "--", line}, {}, environment()).out);
        words found;
        for (std::string each; std::getline(from, each);) found.insert(each.substr(0, each.find('\t')));
        return found;
    }
    /// A shell in a window, which knows of andon.
    [[nodiscard]] tmux_screen shell(const std::string& which, const std::string& setup) const {
        std::map<std::string, std::string> all{{"PS1", "> "}, {"TERM", "screen"}};
        for (const auto& [name, value] : environment()) all[name] = value;
        tmux_screen screen(100, 30, "cd " + folder.path().string() + "; " + which, all);
        screen.enter("PATH=$(dirname " + built_program("andon") + "):$PATH; PS1='> '; " + setup + "; echo rea''dy");
        screen.wait_for("\nready\n");
        return screen;
    }
};

TEST_F(andon_completion, knows_a_file_that_can_be_named_in_two_ways) {
    EXPECT_THAT(next_words("andon config check --"), Contains("--config"));
    EXPECT_EQ(next_words("andon config check "), words{":files"});
    EXPECT_EQ(next_words("andon config check --config="), words{":files"});
}

TEST_F(andon_completion, knows_subcommands_options_and_values) {
    EXPECT_THAT(next_words("andon "), AllOf(Contains("wrap"), Not(Contains("__complete"))));
    EXPECT_EQ(next_words("andon tas"), words{"tasks"});
    EXPECT_EQ(next_words("andon tasks "), (words{"list", "follow", "cancel"}));
    EXPECT_THAT(next_words("andon call x y --"),
                IsSupersetOf({"--timeout", "--max-timeout", "--json", "--bearer-env"}));
    EXPECT_EQ(next_words("andon call x --revision 2025-1"), words{"2025-11-25"});
    EXPECT_EQ(next_words("andon call x --revision=2025-1"), words{"2025-11-25"});
    EXPECT_EQ(next_words("andon completion "), (words{"bash", "zsh"}));
    EXPECT_EQ(next_words("andon check --rules RCV-3,SUB-"), (words{"RCV-3,SUB-1", "RCV-3,SUB-2", "RCV-3,SUB-3"}));
    EXPECT_THAT(next_words("andon call --bearer-env ANDON_CONF"), words{"ANDON_CONFIG"});
}

TEST_F(andon_completion, offers_files_where_files_are_wanted_and_only_there) {
    EXPECT_EQ(next_words("andon call --ca-file "), words{":files"});
    EXPECT_EQ(next_words("andon wrap --config "), words{":files"});
    EXPECT_EQ(next_words("andon check --junit "), words{":files"});
    EXPECT_EQ(next_words("andon call --cwd "), words{":folders"});
    EXPECT_EQ(next_words("andon call ./ser"), words{":files"});
    EXPECT_EQ(next_words("andon call 'a b"), words{":files"}) << "an open quote";
    EXPECT_EQ(next_words("andon call -- --"), words{":files"}) << "no options behind --";
    for (const char* const each : {"andon call x y --timeout ", "andon stop --reason ", "andon gateway --port ",
                                   "andon tasks follow files ", "andon call files "}) {
        EXPECT_EQ(next_words(each), words{}) << each;
    }
}

TEST_F(andon_completion, knows_the_servers_of_the_configuration) {
    for (const char* const each : {"call", "tools", "tasks list", "check"}) {
        EXPECT_EQ(next_words("andon " + std::string(each) + ' '), (words{"files", "tickets", ":files"})) << each;
    }
    EXPECT_EQ(next_words("andon wrap --server "), (words{"files", "tickets"}));
    EXPECT_EQ(next_words("andon wrap --server t"), words{"tickets"});
    const std::string other = folder.write("b.toml", "[servers.other]\ncommand = \"cat\"\n");
    EXPECT_EQ(next_words("andon wrap --config " + other + " --server "), words{"other"});
    EXPECT_EQ(next_words("andon wrap --config=" + other + " --server "), words{"other"});
    EXPECT_EQ(next_words("andon wrap --config /no/such/file --server "), words{});
}

TEST_F(andon_completion, knows_what_is_in_flight) {
    EXPECT_EQ(next_words("andon stop "), words{});
    fake_andon andon;
    andon.say("call index 7ab7 2000 running");
    andon.say("call build stdio 1000 asked");
    andon.say("call done stdio 1000 stopped");
    andon.fence();
    EXPECT_EQ(next_words("andon stop "), (words{andon.id(1), andon.id(2)}));
    EXPECT_EQ(next_words("andon stop " + andon.id(1) + ' '), (words{andon.id(1), andon.id(2)})) << "more than one";
    EXPECT_EQ(next_words("andon stop --session "), (words{"7ab7", "stdio"}));
    EXPECT_EQ(next_words("andon stop -t "), (words{"build", "index"}));
}

TEST_F(andon_completion, knows_what_the_journal_has) {
    EXPECT_EQ(next_words("andon log --server "), words{});
    {
        gateway::journal kept({.path = folder / "state/journal.db"}, {});
        kept.write(gateway::small_entry(1, "spin"));
        kept.write(gateway::full_entry());
        EXPECT_TRUE(kept.flush(std::chrono::seconds(20)));
    }
    EXPECT_EQ(next_words("andon log --server "), (words{"everything", "files"}));
    EXPECT_EQ(next_words("andon log --tool s"), (words{"search", "spin"}));
    EXPECT_EQ(next_words("andon log --end t"), words{"timed out"});
}

TEST_F(andon_completion, leaves_the_words_behind_the_dashes_to_the_shell) {
    for (const char* const each :
         {"andon wrap -- ", "andon wrap --name x -- npx -", "andon gateway -- ", "andon check -- "}) {
        EXPECT_EQ(next_words(each), words{":command"}) << each;
    }
    EXPECT_EQ(next_words("andon wrap "), words{"--"});
}

/// What every shell does, with one call in flight and `certificates.pem` in its folder.
void expect_words(const tmux_screen& screen, const std::string& call) {
    screen.type("andon sto\t");
    screen.wait_for("> andon stop ");
    screen.type("\t");
    screen.wait_for("> andon stop " + call + ' ');
    screen.press("C-u");
    screen.type("andon call --ca-file cert\t");
    screen.wait_for("> andon call --ca-file certificates.pem");
    screen.press("C-u");
    screen.type("andon call --revision=2025-1\t");
    screen.wait_for("> andon call --revision=2025-11-25 ");
    screen.press("C-u");
    screen.type("andon call tick\t");
    screen.wait_for("> andon call tickets ");
    screen.press("C-u");
}

TEST_F(andon_completion, works_in_a_real_bash) {
    if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;
    fake_andon andon;
    andon.say("call index 7ab7 2000 running");
    andon.fence();
    static_cast<void>(folder.write("certificates.pem", ""));
    const tmux_screen screen = shell("bash --norc --noprofile -i", "source <(andon completion bash)");
    expect_words(screen, andon.id(1));
    screen.type("andon log --end tim\t");
    screen.wait_for(R"(> andon log --end timed\ out)");
    screen.press("C-u");
    screen.type("andon wrap -- mkfi\t");
    screen.wait_for("> andon wrap -- mkfifo ");
    screen.type("cert\t");
    screen.wait_for("> andon wrap -- mkfifo certificates.pem");
}

TEST_F(andon_completion, works_in_a_real_zsh) {
    if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;
    if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "zsh is not installed";
    fake_andon andon;
    andon.say("call index 7ab7 2000 running");
    andon.fence();
    static_cast<void>(folder.write("certificates.pem", ""));
    const tmux_screen screen =
        shell("zsh -f -i", "autoload -Uz compinit && compinit -u -D && source <(andon completion zsh)");
    expect_words(screen, andon.id(1));
    screen.type("andon wrap --name x -- mkfi\t");
    screen.wait_for("> andon wrap --name x -- mkfifo ");
    screen.type("cert\t");
    screen.wait_for("> andon wrap --name x -- mkfifo certificates.pem");
}

}  // namespace
}  // namespace andon::app
