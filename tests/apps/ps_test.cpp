#include <boost/json/parse.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "apps/control_commands.hpp"

namespace andon::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ps : public testing::Test {
protected:
    gateway::runtime_folder folder;
};

TEST_F(ps, says_so_when_nothing_runs) {
    const andon_run end = run_andon({"ps"});
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.out, "Nothing is in flight: no andon is running.\n");
    EXPECT_EQ(end.err, "");
    EXPECT_EQ(run_andon({"ps", "--json"}).out, "[]\n");
    EXPECT_EQ(run_andon({"ps", "--servers"}).out, "No andon is running.\n");
}

TEST_F(ps, says_so_when_an_andon_has_nothing_to_do) {
    fake_andon one;
    EXPECT_EQ(run_andon({"ps"}).out, "Nothing is in flight: 1 andon is running.\n");
}

TEST_F(ps, shows_what_every_andon_has_in_flight_the_oldest_first_and_wide_when_piped) {
    fake_andon one;
    fake_andon two;
    one.say("call wait stdio 70000 running 1 4 fetching the third of a great many pages of a very long document");
    two.say("call build 0af1 7300000 ignoring");
    two.say("call old stdio 9000000 stopped");
    one.fence();
    two.fence();
    const andon_run end = run_andon({"ps"});
    EXPECT_EQ(end.status, 0);
    EXPECT_THAT(end.out, testing::StartsWith("ID "));
    EXPECT_THAT(end.out, AllOf(HasSubstr(one.id(1)),
                               HasSubstr("25 % fetching the third of a great many pages of a very "
                                         "long document"),
                               HasSubstr("1 min 10 s  running")));
    EXPECT_THAT(end.out, AllOf(HasSubstr("2 h 1 min  ignoring 3.0 s"), HasSubstr("host\n"), Not(HasSubstr("\x1b"))));
    EXPECT_LT(end.out.find("build"), end.out.find("wait"));
    EXPECT_THAT(end.out, Not(HasSubstr("old")));
    EXPECT_THAT(run_andon({"ps", "--all"}).out, HasSubstr("stopped"));
}

TEST_F(ps, json_is_for_scripts) {
    fake_andon one;
    one.say("call wait stdio 1000 running 1 4 half");
    one.fence();
    const json::value all = json::parse(run_andon({"ps", "--json"}).out);
    ASSERT_EQ(all.as_array().size(), 1U);
    EXPECT_EQ(all.at(0).at("id").as_string(), one.id(1));
    EXPECT_EQ(all.at(0).at("state").as_string(), "running");
    EXPECT_EQ(all.at(0).at("progress").at("message").as_string(), "half");
    EXPECT_GE(all.at(0).at("age_ms").to_number<int>(), 1'000);
}

TEST_F(ps, servers_are_the_upstreams) {
    fake_andon one;
    one.say("server everything ready 4711 3 2");
    one.fence();
    const std::string text = run_andon({"ps", "--servers"}).out;
    EXPECT_THAT(text, AllOf(HasSubstr("RESTARTS"), HasSubstr("everything"), HasSubstr("4711")));
    const json::value all = json::parse(run_andon({"ps", "--servers", "--json"}).out);
    EXPECT_EQ(all.at(0).at("restarts").to_number<int>(), 3);
    EXPECT_EQ(all.at(0).at("kind").as_string(), "wrap");
}

TEST_F(ps, one_that_hangs_is_named_and_the_others_are_shown) {
    fake_andon stuck;
    fake_andon well;
    well.say("call wait stdio 1000 running");
    well.fence();
    stuck.signal(SIGSTOP);
    const andon_run end = run_andon({"ps"});
    stuck.signal(SIGCONT);
    EXPECT_EQ(end.status, 0);
    EXPECT_THAT(end.out, HasSubstr(well.id(1)));
    EXPECT_EQ(end.err, "andon: andon " + std::to_string(stuck.pid()) + " does not answer\n");
}

TEST_F(ps, what_a_killed_andon_leaves_is_cleared_away) {
    {
        fake_andon killed;
        killed.signal(SIGKILL);
        EXPECT_EQ(killed.end(), 128 + SIGKILL);
    }
    EXPECT_EQ(folder.files(), 1U);
    EXPECT_EQ(run_andon({"ps"}).out, "Nothing is in flight: no andon is running.\n");
    EXPECT_EQ(folder.files(), 0U);
}

TEST_F(ps, one_that_is_asked_to_leave_takes_its_socket_along) {
    fake_andon one;
    EXPECT_EQ(folder.files(), 1U);
    one.signal(SIGTERM);
    EXPECT_EQ(one.end(), 0);
    EXPECT_EQ(folder.files(), 0U);
}

TEST_F(ps, a_folder_that_is_open_to_others_is_named_with_what_to_do) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    EXPECT_THAT(run_andon({"ps"}).err, HasSubstr("chmod 700"));
}

TEST_F(ps, help_has_examples_and_exit_statuses) {
    for (const char* command : {"ps", "stop", "top"}) {
        const andon_run end = run_andon({command, "--help"});
        EXPECT_EQ(end.status, 0);
        EXPECT_THAT(end.out, AllOf(HasSubstr("Examples:"), HasSubstr("Exit status:"))) << command;
    }
    EXPECT_EQ(run_andon({"ps", "--nonsense"}).status, 2);
}

}  // namespace
}  // namespace andon::app
