// `andon check` as a command: what it prints, and what it ends with.
#include <array>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "andon/process/process_tree.hpp"
#include "apps/program.hpp"
#include "built_programs.hpp"
#include "check/target.hpp"
#include "own_folder.hpp"

namespace andon::check {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ran {
    int status = -1;
    std::string out{};
    std::string err{};
};

ran andon_check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {built_program("andon"), "check"});
    process_tree process = process_tree::start({.argv = std::move(arguments)},
                                               {.in = stdio::null, .out = stdio::pipe, .err = stdio::pipe});
    ran what;
    std::array<bool, 2> open{true, true};
    while (open[0] || open[1]) {
        std::array<pollfd, 2> ready{pollfd{open[0] ? process.out() : -1, POLLIN, 0},
                                    pollfd{open[1] ? process.err() : -1, POLLIN, 0}};
        if (::poll(ready.data(), ready.size(), 120'000) <= 0) throw std::runtime_error("andon check does not end");
        for (std::size_t i = 0; i < 2; ++i) {
            if (ready[i].revents == 0) continue;
            std::array<char, 65536> bytes{};
            const ssize_t got = ::read(ready[i].fd, bytes.data(), bytes.size());
            if (got > 0) (i == 0 ? what.out : what.err).append(bytes.data(), static_cast<std::size_t>(got));
            if (got == 0) open[i] = false;
        }
    }
    process.wait();
    what.status = process.exited().value().code;
    return what;
}

TEST(check_command, a_rule_that_is_kept_is_0) {
    const ran what = andon_check({"--rules", "RCV-3", "--era", "legacy", "--", ANDON_BROKEN_SERVER});
    EXPECT_EQ(what.status, 0) << what.err;
    EXPECT_THAT(what.out, HasSubstr("RCV-3"));
    EXPECT_THAT(what.out, HasSubstr("PASS"));
    EXPECT_THAT(what.out, Not(HasSubstr("\x1b"))) << "colours where there is no terminal";
}

TEST(check_command, a_rule_that_is_broken_is_1_and_every_report_says_so) {
    const std::string junit =
        std::filesystem::temp_directory_path() / ("andon-check-" + std::to_string(::getpid()) + ".xml");
    const ran what = andon_check({"--json", "--junit", junit, "--rules", "RCV-3", "--era", "legacy", "--",
                                  ANDON_BROKEN_SERVER, "--defect", "RCV_3_answers_with_an_error"});
    EXPECT_EQ(what.status, 1) << what.err;
    const json::object report = json::parse(what.out).as_object();
    EXPECT_EQ(report.at("schema").as_int64(), 1);
    EXPECT_EQ(report.at("verdict").as_string(), "fail");
    EXPECT_EQ(report.at("rules").at(0).at("id").as_string(), "RCV-3");
    EXPECT_EQ(report.at("rules").at(0).at("result").as_string(), "fail");
    EXPECT_EQ(report.at("counts").at("fail").as_int64(), 1);
    std::ifstream file(junit);
    const std::string xml{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(xml, HasSubstr(R"(failures="1")"));
    EXPECT_THAT(xml, HasSubstr("<failure"));
    std::filesystem::remove(junit);
}

TEST(check_command, a_report_is_written_only_when_there_is_one) {
    const own_folder folder;
    const std::string junit = folder.write("check.xml", "of before");
    const std::string fresh = folder / "new.xml";
    for (const std::string& each : {junit, fresh}) {
        const ran what = andon_check({"--json", "--junit", each, "--", "/no/such/program"});
        EXPECT_EQ(what.status, 3);
        EXPECT_EQ(json::parse(what.out).at("verdict").as_string(), "unreachable");
        EXPECT_THAT(std::string(json::parse(what.out).at("error").as_string()), HasSubstr("/no/such/program"));
    }
    std::ifstream file(junit);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "of before");
    EXPECT_FALSE(std::filesystem::exists(fresh));
    EXPECT_EQ(json::parse(andon_check({"--json", "--rules", "RCV-99", "--", "cat"}).out).at("verdict").as_string(),
              "usage");
}

TEST(check_command, a_tool_that_was_named_is_the_only_one_called) {
    const ran what = andon_check({"--json", "--rules", "RCV-3", "--era", "legacy", "--tool", "wait", "--args",
                                  R"({"ms":1500})", std::string(ANDON_BROKEN_SERVER) + " --defect 'no such defect'"});
    EXPECT_EQ(what.status, 0) << what.err;
    const json::object report = json::parse(what.out).as_object();
    EXPECT_EQ(report.at("eras").at(0).at("tools").at("ends").as_string(), "wait");
    EXPECT_TRUE(report.at("eras").at(0).at("tools").at("asks").is_null());
}

TEST(check_command, what_is_wrong_with_the_command_line_is_2) {
    EXPECT_EQ(andon_check({}).status, 2);
    EXPECT_EQ(andon_check({"--rules", "RCV-99", "--", ANDON_BROKEN_SERVER}).status, 2);
    EXPECT_EQ(andon_check({"--args", "{}", "--", ANDON_BROKEN_SERVER}).status, 2);
    EXPECT_EQ(andon_check({"--tool", "wait", "--args", "no json", "--", ANDON_BROKEN_SERVER}).status, 2);
    EXPECT_EQ(andon_check({"--era", "stone", "--", ANDON_BROKEN_SERVER}).status, 2);
    EXPECT_EQ(andon_check({"http://bad url/"}).status, 2);
    EXPECT_EQ(andon_check({"'a quote"}).status, 2);
}

TEST(check_command, a_tool_or_a_process_that_is_not_there_is_2) {
    const ran tool = andon_check({"--tool", "nope", "--era", "legacy", "--", ANDON_BROKEN_SERVER});
    EXPECT_EQ(tool.status, 2);
    EXPECT_THAT(tool.err, HasSubstr("the server has no tool 'nope'; it has "));
    EXPECT_THAT(tool.err, HasSubstr("wait"));
    const ran process = andon_check({"--pid", "2147483647", "http://127.0.0.1:1/mcp"});
    EXPECT_EQ(process.status, 2);
    EXPECT_THAT(process.err, HasSubstr("there is no process 2147483647"));
}

TEST(check_command, nothing_seen_is_no_pass) {
    const ran what = andon_check({"--json", "--rules", "RCV-3", "--era", "legacy", "--tool", "echo", "--args", "{}",
                                  "--", built_program("everything_server")});
    EXPECT_EQ(what.status, 1) << what.err;
    EXPECT_EQ(json::parse(what.out).at("verdict").as_string(), "nothing seen");
    const ran client = andon_check({"--client"});
    EXPECT_EQ(client.status, 1);
    EXPECT_THAT(client.err, HasSubstr("NOTHING SEEN"));
}

TEST(check_command, options_that_would_be_ignored_are_2) {
    EXPECT_EQ(andon_check({"--client", "--junit", "/tmp/none.xml", "--", "true"}).status, 2);
    EXPECT_EQ(andon_check({"--client", "--rules", "SND-1", "--", "true"}).status, 2);
    EXPECT_EQ(andon_check({"--http", "0", "--", ANDON_BROKEN_SERVER}).status, 2);
}

TEST(check_command, a_server_that_is_not_there_is_3_and_says_why) {
    const ran gone = andon_check({"--", "/no/such/program"});
    EXPECT_EQ(gone.status, 3);
    EXPECT_THAT(gone.err, HasSubstr("/no/such/program"));
    EXPECT_THAT(andon_check({"--", "sh", "-c", "exit 7"}).err,
                HasSubstr("andon check: the server is gone: it exited with 7"));
    EXPECT_EQ(andon_check({"http://127.0.0.1:1/mcp"}).status, 3);
    const ran mute = andon_check({"--timeout", "1", "--", "cat"});
    EXPECT_EQ(mute.status, 3) << mute.out;
    const ran other_era = andon_check({"--", "false"});
    EXPECT_EQ(other_era.status, 3);
}

TEST(check_command, lists_its_probes_without_a_server) {
    const ran what = andon_check({"--list"});
    EXPECT_EQ(what.status, 0);
    EXPECT_THAT(what.out, HasSubstr("RCV-12"));
    EXPECT_THAT(what.out, HasSubstr("SUB-3"));
}

TEST(check_command, a_server_can_be_a_name_from_the_configuration) {
    const own_folder folder;
    const std::string config = folder.write("a.toml",
                                            "[servers.plain]\ncommand = [\"sh\", \"-c\", \"exec $THE_SERVER\"]\n"
                                            "env = {THE_SERVER = \"" ANDON_BROKEN_SERVER
                                            "\"}\n"
                                            "[servers.far]\nurl = \"http://127.0.0.1:1/mcp\"\n"
                                            "bearer_env = \"NONE_OF_TEST\"\n");
    const ran named = andon_check({"plain", "--config", config, "--rules", "dir-4", "--era", "legacy", "--tool", "wait",
                                   "--args", R"({"ms":500})"});
    EXPECT_EQ(named.status, 0) << named.err;
    EXPECT_THAT(named.out, HasSubstr("DIR-4   we          pass"));
    const ran env = andon_check({"--env", "THE_SERVER=" ANDON_BROKEN_SERVER, "--rules", "DIR-4", "--era", "legacy",
                                 "--tool", "wait", "--args", R"({"ms":500})", "--", "sh", "-c", "exec $THE_SERVER"});
    EXPECT_EQ(env.status, 0) << env.err;
    const ran typo = andon_check({"plian", "--config", config});
    EXPECT_EQ(typo.status, 2);
    EXPECT_THAT(typo.err, HasSubstr("there is no server named \"plian\""));
    EXPECT_THAT(typo.err, HasSubstr("; did you mean \"plain\"?\n"));
    const ran token = andon_check({"far", "--config", config});
    EXPECT_EQ(token.status, 2);
    EXPECT_THAT(token.err, HasSubstr("NONE_OF_TEST is not set"));
}

TEST(check_command, a_token_comes_from_the_environment) {
    const own_folder folder;
    const own_variable token("ANDON_TOKEN_OF_TEST", "hush");
    const std::string config = folder.write("a.toml",
                                            "[gateway]\nport = 0\n[gateway.tokens.ann]\n"
                                            "env = \"ANDON_TOKEN_OF_TEST\"\n"
                                            "[servers.a]\ncommand = \"" ANDON_BROKEN_SERVER "\"\n");
    program gateway({built_program("andon"), "gateway", "--config", config, "--no-journal", "--no-control"});
    const std::string said = gateway.line();
    const std::string url = said.substr(said.find("http"));
    const ran refused =
        andon_check({url, "--rules", "DIR-4", "--era", "legacy", "--tool", "wait", "--args", R"({"ms":500})"});
    EXPECT_EQ(refused.status, 3) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("--bearer-env says where its token is"));
    const ran let_in = andon_check({url, "--bearer-env", "ANDON_TOKEN_OF_TEST", "--rules", "DIR-4", "--era", "legacy",
                                    "--tool", "wait", "--args", R"({"ms":500})"});
    EXPECT_EQ(let_in.status, 0) << let_in.err;
    EXPECT_THAT(andon_check({url, "--bearer-env", "NONE_OF_TEST"}).err, HasSubstr("\"NONE_OF_TEST\" is not set"));
    EXPECT_EQ(andon_check({"--bearer-env", "ANDON_TOKEN_OF_TEST", "--", ANDON_BROKEN_SERVER}).status, 2);
}

TEST(check_command, says_what_was_probably_meant) {
    const auto err = [](std::vector<std::string> arguments) { return andon_check(std::move(arguments)).err; };
    EXPECT_THAT(err({"--rules", "rvc-3", "--", "cat"}), HasSubstr("no probe for 'rvc-3'; did you mean \"RCV-3\"?"));
    EXPECT_THAT(err({"--tool", "wiat", "--era", "legacy", "--", ANDON_BROKEN_SERVER}),
                HasSubstr("; did you mean \"wait\"?"));
    EXPECT_THAT(err({"--tmieout", "3", "--", "cat"}), HasSubstr("no option --tmieout; did you mean --timeout?"));
    EXPECT_THAT(err({"./server", "--flag"}), HasSubstr("put -- before a command that has options of its own"));
    EXPECT_THAT(
        err({"--timeout", "5x", "--", "cat"}),
        HasSubstr("(ms, s, m, h or d), as 5s or 500ms; without one it is seconds, from 1s to 1h, and not as 5x"));
    EXPECT_THAT(err({"--ca-file", "/no/such/file", "https://127.0.0.1:1/mcp"}), HasSubstr("/no/such/file"));
}

TEST(check_command, a_time_is_said_as_everywhere_or_in_seconds) {
    for (const char* const each : {"1s", "1", "1.5s", "1500ms"}) {
        const ran mute = andon_check({"--timeout", each, "--", "cat"});
        EXPECT_EQ(mute.status, 3) << each << mute.err;
    }
    EXPECT_EQ(andon_check({"--timeout", "900ms", "--", "cat"}).status, 2);
}

struct client_case {
    std::string transport;
    std::string revision;
};

class whole_clients : public testing::TestWithParam<client_case> {};

TEST_P(whole_clients, pass_entirely) {
    const ran what = andon_check(
        {"--client", "--json", "--timeout", "60", "--", ANDON_WHOLE_CLIENT, GetParam().transport, GetParam().revision});
    EXPECT_EQ(what.status, 0) << what.out << what.err;
    const json::object report = json::parse(what.out.substr(0, what.out.find('\n'))).as_object();
    EXPECT_EQ(report.at("transport").as_string(), GetParam().transport);
    const bool only_closes = GetParam().transport == "http" && GetParam().revision == "2026-07-28";
    for (const json::value& each : report.at("rules").as_array()) {
        const std::string id(each.at("id").as_string());
        // A client that closes streams sends no notification to look at.
        const bool unseen = (only_closes && (id == "MSG-1" || id == "DIR-3" || id == "DIR-4")) ||
                            (GetParam().transport == "http" && id == "SND-1") ||
                            (id == "DIR-5" && GetParam().revision == "2025-06-18");
        EXPECT_EQ(each.at("result").as_string(), unseen ? "not observable" : "pass")
            << id << ' ' << each.at("evidence").as_string();
    }
}

INSTANTIATE_TEST_SUITE_P(check, whole_clients,
                         testing::Values(client_case{"stdio", "2025-06-18"}, client_case{"stdio", "2025-11-25"},
                                         client_case{"stdio", "2026-07-28"}, client_case{"http", "2025-11-25"},
                                         client_case{"http", "2026-07-28"}),
                         [](const auto& each) {
                             std::string name = each.param.transport + '_' + each.param.revision;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace andon::check
