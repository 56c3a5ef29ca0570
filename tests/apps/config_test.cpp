#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>

#include "andon/wire/error.hpp"
#include "apps/andon_process.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

class config_command : public testing::Test {
protected:
    own_folder folder;
    std::string users_file = folder / "home/.config/andon/andon.toml";

    struct result {
        int status = 0;
        std::string out;
        std::string err;
    };
    [[nodiscard]] result run(std::vector<std::string> arguments,
                             std::vector<std::pair<std::string, std::string>> environment = {}) const {
        arguments.insert(arguments.begin(), "config");
        andon_process process(std::move(arguments), {}, at_home_in(folder, environment));
        const int status = process.end();
        return {status, process.out(), process.err()};
    }
    [[nodiscard]] static std::string text_of(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
};

TEST_F(config_command, without_a_file_the_defaults_are_in_effect) {
    const result path = run({"path"});
    EXPECT_EQ(path.status, 1);
    EXPECT_THAT(path.err, HasSubstr("`andon config init` writes " + users_file));
    EXPECT_EQ(run({"check"}).status, 0);
    EXPECT_THAT(run({"show"}).out, HasSubstr("# the defaults: there is no file\n[gateway]\naddress = \"127.0.0.1\"\n"));
}

TEST_F(config_command, init_writes_an_example_that_check_finds_good) {
    const result init = run({"init"});
    EXPECT_EQ(init.status, 0) << init.err;
    EXPECT_EQ(init.out, "written: " + users_file + '\n');
    EXPECT_EQ(run({"path"}).out, users_file + '\n');
    EXPECT_EQ(run({"check"}).out, users_file + ": good, but no key is set in it: the defaults are in effect\n");
    EXPECT_EQ(run({"init", "-"}).out, text_of(users_file));
    EXPECT_EQ(run({"show", "--json"}).out, run({"show", "--json"}, {{"HOME", folder / "other"}}).out);
}

TEST_F(config_command, init_does_not_overwrite_unless_it_is_forced) {
    const std::string mine = folder.write("mine.toml", "[gateway]\nport = 1\n");
    const result refused = run({"init", mine});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("is there already; --force writes over it"));
    EXPECT_EQ(text_of(mine), "[gateway]\nport = 1\n");
    EXPECT_EQ(run({"init", mine, "--force"}).status, 0);
    EXPECT_THAT(text_of(mine), HasSubstr("#port = 7780\n"));
    EXPECT_THAT(run({"init", "/proc/none/andon.toml"}).err, HasSubstr("cannot be written"));
    EXPECT_EQ(run({"init"}, {{"ANDON_CONFIG", folder / "asked.toml"}}).out,
              "written: " + (folder / "asked.toml") + '\n');
}

TEST_F(config_command, check_tells_every_problem_by_line_and_ends_with_two) {
    const std::string bad = folder.write("bad.toml", "[gateway]\nprt = 1\n[servers.a]\ntimeout = 3\n");
    const result check = run({"check", bad});
    EXPECT_EQ(check.status, 2);
    EXPECT_EQ(check.out, "");
    EXPECT_EQ(check.err,
              bad + ":2:1: unknown key \"prt\" in [gateway]; did you mean \"port\"?\n" + bad +
                  ":3:10: [servers.a] needs \"command\" or \"url\"\n" + bad +
                  ":4:11: timeout must be a duration with its unit, as \"30s\", \"250ms\" or \"1h30m\", from "
                  "1ms to 366d, or \"none\", not 3\n");
    const result json = run({"check", "--config", bad, "--json"});
    EXPECT_EQ(json.status, 2);
    const json::object parsed = json::parse(json.out).as_object();
    EXPECT_EQ(parsed.at("ok"), false);
    EXPECT_EQ(parsed.at("problems").as_array().size(), 3U);
    EXPECT_EQ(run({"show", "--config", bad}).status, 2);
    EXPECT_EQ(run({"check", folder / "none.toml"}).status, 2);
}

TEST_F(config_command, check_refuses_what_is_no_text_that_can_be_read) {
    const auto wrong = [&](const std::string& file, const std::string& why) {
        const result check = run({"check", file});
        EXPECT_EQ(check.status, 2) << file;
        EXPECT_EQ(check.out, "") << "it is not good";
        EXPECT_THAT(check.err, testing::StartsWith(file + why));
        EXPECT_EQ(run({"show", "--config", file}).status, 2);
    };
    wrong("/proc/self/mem", ": cannot be read: Input/output error\n");
    wrong(folder.path(), ": is a folder\n");
    wrong(folder / "none.toml", ": cannot be read: No such file or directory\n");
    wrong("/dev/zero", ": is larger than 1024 KiB\n");
    wrong(folder.write("nul.toml", std::string("[log]\n#\0\n", 9)), ":2:2: ");
    wrong(folder.write("latin.toml", "[log]\n# \xe9t\xe9\n"), ":2:2: Encountered invalid utf-8 sequence");
    const std::string empty = folder.write("empty.toml", "");
    EXPECT_EQ(run({"check", empty}).out, empty + ": good, but no key is set in it: the defaults are in effect\n");
    const std::string token = folder.write(
        "a.toml", "[gateway.tokens.a]\nfile = \"/proc/self/mem\"\n[servers.a]\nurl = \"http://localhost:1/\"\n");
    andon_process gateway({"gateway", "--config", token, "--port", "0"}, {}, at_home_in(folder));
    EXPECT_EQ(gateway.end(), 2);
    EXPECT_THAT(gateway.err(), HasSubstr("the token file /proc/self/mem cannot be read: Input/output error"));
}

TEST_F(config_command, takes_a_pipe_with_a_writer_and_does_not_wait_for_one_without) {
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
    const result nobody = run({"check", pipe});
    EXPECT_EQ(nobody.status, 2);
    EXPECT_EQ(nobody.err, pipe + ": is a pipe, and nobody writes to it\n");
    // What a shell puts in the place of a file: it can be read once.
    program substituted({"/bin/bash", "-c",
                         "exec \"$0\" config check <(sleep 0.1; printf '[servers.a]\ncommand = \"no-such-of-test\"\n')",
                         built_program("andon")},
                        at_home_in(folder));
    EXPECT_EQ(substituted.end(), 1);
    EXPECT_THAT(substituted.err(), HasSubstr(":2:1: command: there is no program no-such-of-test"));
    for (const std::string& table : {"[gateway]\ncertificate = \"" + pipe + "\"\nprivate_key = \"" + pipe + "\"\n",
                                     "[servers.a]\nurl = \"https://localhost:1/\"\nca_file = \"" + pipe + "\"\n"}) {
        EXPECT_THAT(run({"check", folder.write("tls.toml", table)}).err,
                    HasSubstr("in '" + pipe + "': it is a pipe\n"));
    }
}

TEST_F(config_command, check_warns_of_what_would_fail_later) {
    const std::string file =
        folder.write("a.toml", "[gateway.tokens.alice]\nenv = \"ALICE_OF_TEST\"\n[servers.a]\nurl = \"http://h/\"\n");
    const result check = run({"check", file});
    EXPECT_EQ(check.status, 0);
    EXPECT_EQ(check.err, "warning: " + file +
                             ":2:1: env: the environment variable ALICE_OF_TEST, for the token of alice, is not set\n");
    EXPECT_EQ(check.out, file + ": good, 1 server\n");
}

TEST_F(config_command, check_finds_tokens_that_cannot_be_used) {
    const auto wrong = [&](const std::string& token, const std::string& why) {
        const std::string file = folder.write("a.toml", "[gateway.tokens.a]\nfile = \"" + folder.write("t", token) +
                                                            "\"\n[servers.a]\nurl = \"http://h/\"\n");
        const result check = run({"check", file});
        EXPECT_EQ(check.status, 1) << why;
        EXPECT_THAT(check.err, HasSubstr(":2:1: file: "));
        EXPECT_THAT(check.err, HasSubstr(why));
        EXPECT_THAT(run_andon({"gateway", "--config", file, "--port", "0"}, {}, at_home_in(folder)).err,
                    HasSubstr(why));
    };
    wrong("", "is empty");
    wrong("\nsecret", "is empty");
    wrong("two words", "cannot be sent");
    wrong(std::string(20'000, 'x'), "is larger than 16 KiB");
}

TEST_F(config_command, an_empty_name_is_no_file) {
    for (const char* const how : {"check", "show", "path"}) EXPECT_EQ(run({how, "--config", ""}).status, 2) << how;
    EXPECT_EQ(run({"check", ""}).status, 2);
    EXPECT_THAT(run_andon({"wrap", "--config", "", "--", "cat"}, {}, at_home_in(folder)).err, HasSubstr("is empty"));
    EXPECT_EQ(run_andon({"tools", "cat", "--config", ""}, {}, at_home_in(folder)).status, 2);
}

TEST_F(config_command, check_finds_certificates_that_cannot_be_used) {
    const auto wrong = [&](const std::string& text, const std::string& where, const std::string& why) {
        const std::string file = folder.write("a.toml", text);
        const result check = run({"check", file});
        EXPECT_EQ(check.status, 2) << text;
        EXPECT_EQ(check.out, "") << "it is not good";
        EXPECT_THAT(check.err, testing::StartsWith(file + where));
        EXPECT_THAT(check.err, HasSubstr(why));
        EXPECT_EQ(json::parse(run({"check", file, "--json"}).out).at("ok"), false);
    };
    const certificate own;
    const certificate other;
    static_cast<void>(folder.write("bad.pem", "no certificate"));
    const auto with = [](const std::string& certificate, const std::string& key) {
        return "[gateway]\ncertificate = \"" + certificate + "\"\nprivate_key = \"" + key + "\"\n";
    };
    wrong(with("none.pem", "none.key"), ":2:1: certificate: ", "No such file");
    wrong(with("bad.pem", own.key_file()), ":2:1: certificate: ", "bad.pem");
    wrong(with(own.file(), "bad.pem"), ":3:1: private_key: ", "bad.pem");
    wrong(with(own.file(), other.key_file()), ":3:1: private_key: ", "mismatch");
    wrong("[servers.a]\nurl = \"https://h/\"\nca_file = \"bad.pem\"\n", ":3:1: ca_file: ", "bad.pem");
    EXPECT_EQ(run({"check", folder.write("a.toml", with(own.file(), own.key_file()))}).status, 0);
}

TEST_F(config_command, check_finds_commands_that_are_not_there) {
    const std::string script = folder.write("bin/a-server-of-test", "#!/bin/sh\n");
    const auto check = [&](const std::string& server) {
        return run({"check", folder.write("a.toml", "[servers.a]\n" + server)});
    };
    const result missing = check("timeout = \"1s\"\ncommand = \"no-such-server-of-test --flag\"\n");
    EXPECT_EQ(missing.status, 1);
    EXPECT_EQ(missing.out, "");
    EXPECT_EQ(missing.err, "warning: " + (folder / "a.toml") +
                               ":3:1: command: there is no program no-such-server-of-test in the PATH\n");
    EXPECT_EQ(check("command = \"" + script + "\"\n").status, 1) << "it cannot be executed";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    EXPECT_EQ(check("command = \"" + script + "\"\n").status, 0);
    EXPECT_EQ(check("command = \"bin/a-server-of-test\"\n").status, 1) << "not from here";
    EXPECT_EQ(check("command = \"bin/a-server-of-test\"\ncwd = \".\"\n").status, 0);
    EXPECT_EQ(check("command = \"a-server-of-test\"\nenv = {PATH = \"" + (folder / "bin") + "\"}\n").status, 0);
    EXPECT_THAT(check("command = \"cat\"\ncwd = \"none\"\n").err, HasSubstr(":3:1: cwd: there is no folder "));
}

TEST_F(config_command, show_is_what_is_in_effect_and_never_a_secret) {
    const std::string file = folder.write("a.toml",
                                          "[gateway.tokens.alice]\nenv = \"ALICE_OF_TEST\"\n[servers.a]\n"
                                          "command = \"x y\"\ntimeout = \"90s\"\n");
    const result show = run({"show", "--config", file}, {{"ALICE_OF_TEST", "hush"}});
    EXPECT_THAT(show.out, HasSubstr("\n[gateway.tokens.alice]\nenv = \"ALICE_OF_TEST\"\n"));
    EXPECT_THAT(show.out, HasSubstr("\n[servers.a]\ncommand = [\"x\", \"y\"]\n"));
    EXPECT_THAT(show.out, HasSubstr("\npath = \"/a/mcp\"\n"));
    EXPECT_THAT(show.out, HasSubstr("\ntimeout = \"1m30s\"\n"));
    EXPECT_THAT(show.out, testing::Not(HasSubstr("hush")));
    const json::value parsed = json::parse(run({"show", "--json"}, {{"ANDON_CONFIG", file}}).out);
    EXPECT_EQ(parsed.at("servers").at("a").at("timeout"), "1m30s");
}

TEST_F(config_command, show_says_where_the_journal_is) {
    const std::string expected = folder / "state/journal.db";
    EXPECT_THAT(run({"show"}).out, HasSubstr("path = \"" + expected + "\"\n"));
    EXPECT_EQ(json::parse(run({"show", "--json"}).out).at("journal").at("path"), json::string(expected));
    const std::string file = folder.write("a.toml", "[journal]\npath = \"other.db\"\n");
    EXPECT_THAT(run({"show", "--config", file}).out, HasSubstr("path = \"" + (folder / "other.db") + "\"\n"));
}

TEST_F(config_command, a_password_in_a_url_is_not_shown) {
    const std::string file = folder.write("a.toml", "[servers.a]\nurl = \"http://ann:hush@h/mcp\"\n");
    const result check = run({"check", file});
    EXPECT_EQ(check.status, 2);
    EXPECT_THAT(check.err, HasSubstr("http://***@h/mcp"));
    EXPECT_THAT(check.err, testing::Not(HasSubstr("hush")));
    EXPECT_THAT(run({"check", file, "--json"}).out, testing::Not(HasSubstr("hush")));
}

TEST_F(config_command, init_without_a_home_asks_for_a_file) {
    const result init = run({"init"}, {{"HOME", ""}});
    EXPECT_EQ(init.status, 2);
    EXPECT_THAT(init.err, HasSubstr("andon config init FILE"));
    EXPECT_EQ(run({"init", folder / "mine.toml"}, {{"HOME", ""}}).status, 0);
}

TEST_F(config_command, a_file_that_is_missing_says_who_named_it) {
    const environment_list named{{"ANDON_CONFIG", folder / "none.toml"}};
    const result show = run({"show"}, named);
    EXPECT_EQ(show.status, 2);
    EXPECT_THAT(show.err, testing::StartsWith("andon: " + (folder / "none.toml") + ", which $ANDON_CONFIG names, "));
    EXPECT_THAT(run({"show", "--config", folder / "none.toml"}).err, testing::Not(HasSubstr("ANDON_CONFIG")));
}

TEST_F(config_command, help_has_examples_and_exit_statuses) {
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"--help"}, {"init", "--help"}, {"check", "--help"}, {"show", "--help"}, {"path", "--help"}}) {
        const result help = run(each);
        EXPECT_EQ(help.status, 0);
        EXPECT_THAT(help.out, HasSubstr("Examples:\n"));
        EXPECT_THAT(help.out, HasSubstr("Exit status:"));
    }
    EXPECT_EQ(run({}).status, 2);
    EXPECT_EQ(run({"show", "--nonsense"}).status, 2);
}

}  // namespace
}  // namespace andon
