#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>

#include "andon/wire/error.hpp"
#include "apps/control_commands.hpp"
#include "built_programs.hpp"

namespace andon::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class stop : public testing::Test {
protected:
    gateway::runtime_folder folder;
    fake_andon one;

    void SetUp() override {
        one.say("call wait stdio 12000 running");
        one.say("call build 0af1 1000 running");
        one.fence();
    }
};

TEST_F(stop, by_id_says_what_it_asked_and_the_server_learns_who_and_why) {
    const andon_run end = run_andon({"stop", one.id(1), "--reason", "wrong\n\x1b[2Jfolder"});
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.out, "asked to stop  " + one.id(1) + "  wait of everything (session stdio), in flight for 12 s\n");
    const std::string user = ::getpwuid(::getuid())->pw_name;
    EXPECT_THAT(one.until("folder\n"), HasSubstr("stop 1 operator " + user + ": wrong\\n\\x1b[2Jfolder\n"));
    EXPECT_THAT(one.out(), Not(HasSubstr("stop 2")));
}

TEST_F(stop, by_tool_session_or_all) {
    EXPECT_THAT(run_andon({"stop", "--tool", "build"}).out, AllOf(HasSubstr(one.id(2)), Not(HasSubstr(one.id(1)))));
    EXPECT_THAT(run_andon({"stop", "--session", "stdio"}).out, AllOf(HasSubstr(one.id(1)), Not(HasSubstr(one.id(2)))));
    fake_andon two;
    two.say("call third stdio 1 running");
    two.fence();
    two.say("call a\\nb stdio 1 running");
    two.fence();
    EXPECT_THAT(run_andon({"stop", "--tool", "a\nb"}).out, HasSubstr(two.id(2))) << "or as it is shown";
    EXPECT_THAT(run_andon({"stop", "--all"}).out,
                AllOf(HasSubstr(one.id(1)), HasSubstr(one.id(2)), HasSubstr(two.id(1))));
}

TEST_F(stop, what_is_named_twice_is_asked_once) {
    const std::string number = "1";
    EXPECT_EQ(run_andon({"stop", one.id(1), number, one.id(1)}).out,
              "asked to stop  " + one.id(1) + "  wait of everything (session stdio), in flight for 12 s\n");
    EXPECT_EQ(run_andon({"stop", "99", "99"}).err, "andon: 99 is not in flight\n");
}

TEST_F(stop, of_an_andon_that_does_not_answer_nothing_is_known) {
    ::kill(one.pid(), SIGSTOP);
    const andon_run end = run_andon({"stop", one.id(1)});
    ::kill(one.pid(), SIGCONT);
    EXPECT_EQ(end.status, 3);
    EXPECT_THAT(end.err, AllOf(HasSubstr("does not answer"), HasSubstr(one.id(1) + " is not known to be in flight")));
}

TEST_F(stop, a_bare_number_is_enough_while_one_andon_has_it) {
    EXPECT_EQ(run_andon({"stop", "2"}).status, 0);
    one.until("stop 2");
    fake_andon two;
    two.say("call third stdio 1 running");
    two.fence();
    const andon_run end = run_andon({"stop", "1"});
    EXPECT_EQ(end.status, 2);
    EXPECT_THAT(end.err, AllOf(HasSubstr(one.id(1)), HasSubstr(two.id(1)), HasSubstr("more than once")));
    one.fence();
    EXPECT_THAT(one.out(), Not(HasSubstr("stop 1")));
}

TEST_F(stop, what_matches_nothing_is_exit_1) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"stop", one.id(99)},
                                                      {"stop", "1.1"},
                                                      {"stop", "77"},
                                                      {"stop", "--tool", "none"},
                                                      {"stop", "--session", "none"}}) {
        const andon_run end = run_andon(arguments);
        EXPECT_EQ(end.status, 1) << arguments.back();
        EXPECT_EQ(end.out, "");
        EXPECT_NE(end.err, "");
    }
}

TEST_F(stop, a_wrong_command_line_is_exit_2_and_stops_nothing) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"stop"},
                                                      {"stop", "--all", "--tool", "wait"},
                                                      {"stop", "wait"},
                                                      {"stop", "1.2.3"},
                                                      {"stop", one.id(1), "--timeout", "3"},
                                                      {"stop", "--all", "--wait", "--timeout", "soon"},
                                                      {"stop", "--all", "--wait", "--timeout", "-1"}}) {
        const andon_run end = run_andon(arguments);
        EXPECT_EQ(end.status, 2) << arguments.back() << end.out << end.err;
    }
    one.fence();
    EXPECT_THAT(one.out(), Not(HasSubstr("stop")));
}

TEST_F(stop, wait_returns_when_the_work_has_stopped_and_says_how_long_it_took_and_how_that_was_seen) {
    program command({built_program("andon"), "stop", "--all", "--wait"});
    command.until("asked to stop  " + one.id(2));
    one.say("end 2 killed 2040");
    EXPECT_THAT(command.until("killed\n"),
                HasSubstr("stopped        " + one.id(2) + "  after 2.04 s: it ignored the cancel and was killed\n"));
    EXPECT_THAT(command.out(), Not(HasSubstr("stopped        " + one.id(1))));
    one.say("end 1 quiet 41");
    EXPECT_EQ(command.end(), 0);
    EXPECT_THAT(command.out(), HasSubstr("stopped        " + one.id(1) + "  after 41 ms: it went quiet\n"));
}

TEST_F(stop, wait_of_what_was_asked_before_waits_too) {
    EXPECT_EQ(run_andon({"stop", one.id(1)}).status, 0);
    program command({built_program("andon"), "stop", one.id(1), "--wait"});
    command.until("asked to stop");
    one.say("end 1 exited 5");
    EXPECT_EQ(command.end(), 0);
    EXPECT_THAT(command.out(), HasSubstr("its process ended"));
}

TEST_F(stop, wait_has_a_limit_where_one_is_given) {
    const andon_run end = run_andon({"stop", "--all", "--wait", "--timeout", "200ms"});
    EXPECT_EQ(end.status, 4);
    EXPECT_EQ(end.err, "andon: 2 of 2 did not stop within 200 ms; `andon ps` shows their state\n");
}

TEST_F(stop, ctrl_c_ends_the_waiting_and_the_stop_stands) {
    program command({built_program("andon"), "stop", "--all", "--wait"});
    command.until("asked to stop  " + one.id(2));
    command.signal(SIGINT);
    EXPECT_EQ(command.end(), 128 + SIGINT);
    EXPECT_THAT(run_andon({"ps"}).out, HasSubstr("asked to stop"));
}

TEST_F(stop, an_andon_that_dies_while_it_is_waited_for_is_exit_3) {
    program command({built_program("andon"), "stop", "--all", "--wait"});
    command.until("asked to stop  " + one.id(2));
    one.signal(SIGKILL);
    EXPECT_EQ(command.end(), 3);
    EXPECT_THAT(command.err(), HasSubstr("andon " + std::to_string(one.pid()) + " left"));
}

TEST_F(stop, one_that_hangs_does_not_keep_the_others_from_being_stopped) {
    fake_andon stuck;
    stuck.signal(SIGSTOP);
    const andon_run end = run_andon({"stop", "--all"});
    stuck.signal(SIGCONT);
    EXPECT_EQ(end.status, 3);
    EXPECT_THAT(end.out, HasSubstr(one.id(1)));
    EXPECT_THAT(end.err, HasSubstr("does not answer"));
    one.until("stop 1");
}

TEST_F(stop, json_has_a_line_for_each_event) {
    one.say("obey");
    one.fence();
    const andon_run end = run_andon({"stop", one.id(1), "--wait", "--json"});
    EXPECT_EQ(end.status, 0);
    const std::size_t middle = end.out.find('\n');
    const json::value asked = json::parse(end.out.substr(0, middle));
    EXPECT_EQ(asked.at("event").as_string(), "asked");
    EXPECT_EQ(asked.at("id").as_string(), one.id(1));
    EXPECT_EQ(asked.at("call").at("tool").as_string(), "wait");
    const json::value stopped = json::parse(end.out.substr(middle + 1));
    EXPECT_EQ(stopped.at("event").as_string(), "stopped");
    EXPECT_EQ(stopped.at("evidence").as_string(), "quiet");
    EXPECT_EQ(stopped.at("took_ms").to_number<double>(), 12);
}

}  // namespace
}  // namespace andon::app
