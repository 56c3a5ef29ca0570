// `andon call` and `andon tools`, as scripts use them: no terminal.
#include <boost/json/parse.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "andon/core/visible_text.hpp"
#include "apps/andon_process.hpp"
#include "apps/everything_server.hpp"
#include "own_folder.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::Not;

andon_run call(std::vector<std::string> arguments, std::string_view input = {},
               std::vector<std::pair<std::string, std::string>> environment = {}) {
    arguments.insert(arguments.begin(), {"call", everything_server});
    return run_andon(arguments, input, std::move(environment));
}

json::object call_as_json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const andon_run ran = call(std::move(arguments));
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
    return json::parse(ran.out).as_object();
}

/// A server in a few lines of shell, for what ours does not do.
std::string shell_server(const std::string& script) { return "sh -c '" + script + "'"; }

/// Answers the beginning of a session, lists one tool without a schema, and does `on_call` when it is called.
std::string scripted_server(const std::string& on_call) {
    return shell_server(
        R"(while read -r line; do id=${line#*\"id\":}; id=${id%%[,\}]*}; case $line in )"
        R"(*server/discover*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}";; )"
        R"(*\"initialize\"*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}";; )"
        R"(*tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\"}}]}}";; )"
        R"(*tools/call*) )" +
        on_call + ";; esac; done");
}

TEST(andon_call, prints_the_text_of_the_result_and_nothing_else) {
    const andon_run ran = call({"echo", "text=hello"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "hello\n");
    EXPECT_EQ(ran.err, "");
}

TEST(andon_call, takes_the_arguments_as_json_from_the_line_a_file_and_standard_input) {
    const own_folder here;
    const std::string file = (here.path() / "arguments.json").string();
    std::ofstream(file) << R"({"text": "from a file"})";
    EXPECT_EQ(call({"echo", R"({"text": "from the line"})"}).out, "from the line\n");
    EXPECT_EQ(call({"echo", "@" + file}).out, "from a file\n");
    EXPECT_EQ(call({"echo", "-"}, R"({"text": "from standard input"})").out, "from standard input\n");
    EXPECT_EQ(call({"echo", R"(text:="as \u004aSON")"}).out, "as JSON\n");
    EXPECT_EQ(call({"echo", "text=5"}).out, "5\n");
    EXPECT_EQ(call({"wait", "ms=5"}).out, "waited 5 ms\n");
}

TEST(andon_tools, says_how_a_server_ended_that_did_not_stay) {
    const andon_run ran = run_andon({"tools", "sh -c 'exit 7'"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("no session with the server: it exited with status 7"));
}

TEST(andon_call, refuses_wrong_arguments_before_anything_is_sent) {
    const auto refused = [](std::vector<std::string> arguments, const std::string& why) {
        const andon_run ran = call(std::move(arguments), {}, {{"ANDON_MARKS", "1"}});
        EXPECT_EQ(ran.status, 2) << why;
        EXPECT_THAT(ran.err, HasSubstr(why));
        EXPECT_THAT(ran.err, Not(HasSubstr("@start")));
        EXPECT_EQ(ran.out, "");
    };
    refused({"wait"}, R"(needs the argument "ms" (integer))");
    refused({"wait", "ms=soon"}, R"("ms" must be integer)");
    refused({"wait", "ms=1.5"}, R"("ms" must be integer)");
    refused({"wait", R"({"ms": "5"})"}, R"("ms" must be integer)");
    refused({"wait", "ms=5", "tik_ms=1"}, R"(no argument "tik_ms"; did you mean "tick_ms"?)");
    refused({"wait", "ms=5", "ms=6"}, R"("ms" is given twice)");
    refused({"wait", "[1]"}, "neither key=value nor key:=JSON nor a JSON object");
    refused({"wait", "{"}, "no JSON");
    refused({"wait", "@/nowhere/at/all"}, "No such file");
    refused({"wiat", "ms=5"}, R"(no tool "wiat"; did you mean "wait"?)");
    refused({"wait", "ms=5", "--timeout", "5"},
            "write it with its unit (ms, s, m, h or d), as 30s or 1h30m, from 1ms to 366d, and not as 5");
    refused({"wait", "ms=5", "--header", "A: b"}, "are for a URL");
}

TEST(andon_call, says_that_there_is_no_server) {
    const andon_run no_program = run_andon({"call", "/nowhere/at/all", "echo"});
    EXPECT_EQ(no_program.status, 3);
    EXPECT_THAT(no_program.err, HasSubstr("No such file"));
    const andon_run no_name = run_andon({"call", "no-such-name-anywhere", "echo"});
    EXPECT_EQ(no_name.status, 2);
    EXPECT_THAT(no_name.err, HasSubstr("in the configuration"));
    EXPECT_EQ(run_andon({"call", "ftp://example.com/", "echo"}).status, 2);
    EXPECT_EQ(run_andon({"call", "http://127.0.0.1:1/mcp", "echo"}).status, 3);
    EXPECT_EQ(run_andon({"call", "true", "echo"}).status, 3) << "it ends at once";
    const andon_run as_json = run_andon({"call", "/nowhere/at/all", "echo", "--json"});
    EXPECT_EQ(json::parse(as_json.out).at("status").as_string(), "unreachable");
}

TEST(andon_call, shows_what_a_server_that_fails_at_once_had_to_say) {
    const andon_run ran = run_andon({"call", shell_server("echo no licence >&2; exit 7"), "echo"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("server: no licence"));
}

TEST(andon_call, tells_a_failure_of_the_tool_from_success) {
    const andon_run ran = call({"test_error_handling"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, HasSubstr("intentionally returns an error"));
    EXPECT_EQ(call_as_json({"test_error_handling"}).at("status").as_string(), "tool_failed");
}

TEST(andon_call, says_that_the_server_went_away) {
    const andon_run ran = run_andon({"call", scripted_server("exit 0"), "go"});
    EXPECT_EQ(ran.status, 3) << ran.err;
}

TEST(andon_call, describes_what_is_no_text) {
    const andon_run ran = call({"test_multiple_content_types"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Multiple content types test:\n[image image/png "));
    EXPECT_THAT(ran.out, HasSubstr("[resource test://mixed-content-resource application/json 27 bytes]"));
}

TEST(andon_call, shows_log_messages_and_the_standard_error_of_the_server_unless_quiet) {
    for (const std::string revision : {"2025-11-25", "2026-07-28"}) {
        const andon_run ran = call({"test_logging_tool", "--revision", revision, "--log-level", "warning"});
        EXPECT_THAT(ran.err, HasSubstr("[warning] test_logging_tool: warning")) << revision;
        EXPECT_THAT(ran.err, Not(HasSubstr("[notice]"))) << revision;
    }
    const andon_run quiet = call({"test_logging_tool", "-q"}, {}, {{"ANDON_MARKS", "1"}});
    EXPECT_EQ(quiet.err, "");
    EXPECT_EQ(quiet.status, 0);
}

TEST(andon_call, MSG_4_what_a_server_says_plays_with_no_terminal) {
    const andon_run ran = run_andon(
        {"call",
         scripted_server(
             R"(printf "%s\n" "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"a\\u001b[2Jb\\nc\"}}"; )"
             R"(printf "d\\033[31me\\n" >&2; )"
             R"(printf "%s\n" "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32000,\"message\":\"f\\u009bg\"}}")"),
         "go"});
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(R"([error] a\x1b[2Jb\nc)"));
    EXPECT_THAT(ran.err, HasSubstr(R"(server: d\x1b[31me)"));
    EXPECT_EQ(ran.err.find('\x1b'), std::string::npos);
    EXPECT_EQ(ran.err.find("\xC2\x9B"), std::string::npos);
}

TEST(andon_call, progress_comes_in_lines_and_not_in_a_storm) {
    const andon_run ran = call({"wait", "ms=300", "tick_ms=1"});
    EXPECT_THAT(ran.err, HasSubstr("wait: 0% (1 of 300)"));
    EXPECT_LE(std::count(ran.err.begin(), ran.err.end(), '\n'), 2) << ran.err;
    EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << "there is no terminal";
}

TEST(andon_call, TIME_1_TIME_4_times_out_with_a_status_of_its_own_and_the_server_is_told) {
    const auto environment = std::vector<std::pair<std::string, std::string>>{{"ANDON_MARKS", "1"}};
    const andon_run idle = call({"park", "key=p", "--timeout", "50ms"}, {}, environment);
    EXPECT_EQ(idle.status, 4);
    EXPECT_THAT(idle.err, HasSubstr("timed out"));
    const andon_run in_all =
        call({"wait", "ms=60000", "tick_ms=5", "key=w", "--timeout", "10s", "--max-timeout", "0.1s"}, {}, environment);
    EXPECT_EQ(in_all.status, 4) << in_all.err;
    EXPECT_EQ(call_as_json({"park", "--timeout", "50ms"}).at("status").as_string(), "timed_out");
}

TEST(andon_call, json_is_one_object_with_status_result_and_durations) {
    const json::object outcome = call_as_json({"echo", "text=hello"});
    EXPECT_EQ(outcome.at("status").as_string(), "completed");
    EXPECT_EQ(outcome.at("tool").as_string(), "echo");
    EXPECT_EQ(outcome.at("result").at("content").at(0).at("text").as_string(), "hello");
    EXPECT_GT(outcome.at("durations").at("connect_us").as_int64(), 0);
    EXPECT_GT(outcome.at("durations").at("call_us").as_int64(), 0);
    EXPECT_EQ(outcome.at("server").at("name").as_string(), "everything");
    const json::object refused = call_as_json({"echo"});
    EXPECT_EQ(refused.at("status").as_string(), "usage");
    EXPECT_THAT(std::string(refused.at("error").at("message").as_string()), HasSubstr("needs the argument"));
}

TEST(andon_call, declines_what_it_is_asked_where_nobody_can_answer) {
    const andon_run ran = call({"test_elicitation", "message=Who are you?"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("action: decline"));
    EXPECT_THAT(ran.err, HasSubstr("the server asks: Who are you?"));
}

TEST(andon_call, passes_the_environment_and_the_directory_on) {
    const own_folder here;
    const std::string report =
        R"(printf "%s\n" "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$WHO in $PWD\"}]}}")";
    const andon_run ran =
        run_andon({"call", scripted_server(report), "go", "--env", "WHO=me", "--cwd", here.path().string()});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("me in " + here.path().string()));
}

// Ctrl-C, without a terminal.

class andon_call_stopped : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST(andon_call_era, a_server_that_does_not_speak_it_is_said_to_do_so) {
    const auto why = [](const std::string& era, const std::string& revision) {
        const andon_run ran = run_andon({"call", everything_server + " --era " + era, "echo", "--revision", revision});
        EXPECT_EQ(ran.status, 3);
        return ran.err;
    };
    EXPECT_THAT(why("legacy", "2026-07-28"), HasSubstr("the server speaks no revision that we speak"));
    EXPECT_THAT(why("modern", "2025-06-18"), HasSubstr("the server refused initialize"));
}

TEST_P(andon_call_stopped, SND_3_SND_7_cancels_shows_it_and_what_became_of_it) {
    const auto& [revision, number] = GetParam();
    andon_process process({"call", everything_server, "park", "key=p", "--revision", revision}, {},
                          {{"ANDON_MARKS", "1"}});
    process.until_error("@start p");
    process.signal(number);
    EXPECT_EQ(process.end(), 130);
    EXPECT_THAT(process.err(), HasSubstr("@cancel p")) << "the server was not told";
    EXPECT_THAT(process.err(), HasSubstr("cancelling…"));
    EXPECT_THAT(process.err(), HasSubstr("cancelled after"));
    EXPECT_THAT(process.err(), HasSubstr("the server was told, and ended"));
    EXPECT_EQ(process.out(), "");
}

INSTANTIATE_TEST_SUITE_P(every, andon_call_stopped,
                         testing::Combine(testing::Values("2024-11-05", "2025-11-25", "2026-07-28"),
                                          testing::Values(SIGINT, SIGTERM, SIGHUP)));

TEST(andon_call, SND_7_a_server_that_does_not_end_is_killed_and_that_is_said) {
    const std::string stubborn = scripted_server(R"(trap "" TERM; echo at work >&2; while :; do sleep 0.05; done)");
    andon_process process({"call", stubborn, "go", "--json"});
    process.until_error("server: at work");
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 130);
    const json::value outcome = json::parse(process.out());
    EXPECT_EQ(outcome.at("status").as_string(), "cancelled");
    EXPECT_THAT(std::string(outcome.at("cancel").as_string()), HasSubstr("was killed"));
}

TEST(andon_call, the_second_signal_leaves_at_once_and_takes_the_server_along) {
    // It would need four seconds to be killed politely.
    const std::string stubborn = scripted_server(R"(trap "" TERM; echo at work >&2; while :; do sleep 0.05; done)");
    andon_process process({"call", stubborn, "go"});
    process.until_error("server: at work");
    process.signal(SIGINT);
    process.until_error("cancelling…");
    const auto pressed = std::chrono::steady_clock::now();
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 130);  // and nothing of the tree is left
    EXPECT_LT(std::chrono::steady_clock::now() - pressed, std::chrono::seconds(sanitized ? 10 : 3));
    EXPECT_EQ(process.errors_with("cancelled after"), 0) << process.err();
}

TEST(andon_call, a_signal_before_the_call_leaves) {
    andon_process process({"call", shell_server("echo silent >&2; sleep 600"), "go"});
    process.until_error("server: silent");
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 130);
    EXPECT_THAT(process.err(), HasSubstr("nothing was in flight"));
}

// tools

TEST(andon_tools, lists_them_and_shows_one) {
    const andon_run list = run_andon({"tools", everything_server});
    EXPECT_EQ(list.status, 0) << list.err;
    EXPECT_THAT(list.out, testing::StartsWith("NAME "));
    EXPECT_THAT(list.out, testing::ContainsRegex(
                              "\nwait  +Waits, with progress, .*  ms:integer tick_ms\\?:integer key\\?:string\n"));
    const andon_run one = run_andon({"tools", everything_server, "wait"});
    EXPECT_THAT(one.out, HasSubstr("ms  integer, needed"));
    EXPECT_THAT(one.out, HasSubstr("\"additionalProperties\": false"));
}

TEST(andon_tools, as_json) {
    const json::value all = json::parse(run_andon({"tools", everything_server, "--json"}).out);
    EXPECT_GT(all.as_array().size(), 20U);
    const json::value one = json::parse(run_andon({"tools", everything_server, "wait", "--json"}).out);
    EXPECT_EQ(one.at("name").as_string(), "wait");
    const andon_run unknown = run_andon({"tools", everything_server, "wiat"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr(R"(did you mean "wait"?)"));
}

}  // namespace
}  // namespace andon
