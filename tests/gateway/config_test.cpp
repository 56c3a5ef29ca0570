#include "gateway/config/config.hpp"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "gateway/config/config_keys.hpp"
#include "own_folder.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> problems(std::string_view toml) {
    try {
        static_cast<void>(parse_config(toml, "a.toml"));
        return {};
    } catch (const config_error& error) {
        return error.problems();
    }
}

configuration parsed(std::string_view toml) {
    try {
        return parse_config(toml, "/etc/andon/a.toml");
    } catch (const config_error& error) {
        ADD_FAILURE() << error.what();
        return {};
    }
}

/// Without the # before keys and tables. Remarks have a space behind theirs.
std::string uncommented(std::string_view example) {
    std::string text;
    while (!example.empty()) {
        std::string_view line = example.substr(0, example.find('\n') + 1);
        example.remove_prefix(line.size());
        if (line.size() > 2 && line[0] == '#' && line[1] != ' ' && line[1] != '\n') line.remove_prefix(1);
        text += line;
    }
    return text;
}

TEST(config, an_empty_file_is_the_defaults) {
    const configuration config = parsed("");
    EXPECT_EQ(config.gateway.address, "127.0.0.1");
    EXPECT_EQ(config.gateway.max_body, 16U << 20U);
    EXPECT_EQ(config.gateway.stalled_after, std::chrono::seconds(30));
    EXPECT_EQ(config.gateway.abandon_after, std::chrono::minutes(5));
    EXPECT_TRUE(config.journal.enabled);
    EXPECT_THAT(config.servers, IsEmpty());
    EXPECT_EQ(config.server("any"), nullptr);
}

TEST(config, a_server_with_everything) {
    const configuration config = parsed(R"(
        [servers.files]
        command = ["server", "--root", "/srv"]
        env = { MODE = "fast" }
        cwd = "sub"
        path = "/f"
        processes = "pool"
        pool_size = 7
        warm = 2
        translate = false
        timeout = "30s"
        max_timeout = "5m"
        progress_restarts_timeout = false
        on_ignored = "restart"
        grace = "250ms"
        start_timeout = "3s"
        restart_first = "1s"
        restart_most = "10s"
        [servers.files.tools.search]
        timeout = "2m"
        on_ignored = "isolate"
        [servers.files.tools."with space"]
        timeout = "none"
    )");
    const server_config* const files = config.server("files");
    ASSERT_NE(files, nullptr);
    const auto& target = std::get<command_target>(files->target);
    EXPECT_THAT(target.argv, ElementsAre("server", "--root", "/srv"));
    EXPECT_EQ(target.environment.at("MODE"), "fast");
    EXPECT_EQ(target.directory, "/etc/andon/sub") << "a relative path begins beside the file";
    EXPECT_EQ(files->path, "/f");
    EXPECT_EQ(files->processes, process_use::pool);
    EXPECT_EQ(files->pool_size, 7U);
    EXPECT_EQ(files->warm, 2U);
    EXPECT_FALSE(files->translate);
    EXPECT_EQ(files->start_timeout, 3s);
    EXPECT_EQ(files->restart_first, 1s);
    EXPECT_EQ(files->restart_most, 10s);
    EXPECT_EQ(files->policy.usual.timeout, 30s);
    EXPECT_EQ(files->policy.usual.grace, 250ms);
    EXPECT_FALSE(files->policy.usual.progress_restarts_timeout);
    const call_policy& search = files->policy.of("search");
    EXPECT_EQ(search.timeout, 2min);
    EXPECT_EQ(search.max_timeout, 5min) << "the server's";
    EXPECT_EQ(search.on_ignored, ignored_policy::isolate);
    EXPECT_FALSE(search.progress_restarts_timeout) << "the server's";
    EXPECT_EQ(files->policy.of("with space").timeout, std::nullopt);
    EXPECT_EQ(files->policy.of("other").on_ignored, ignored_policy::restart);
}

TEST(config, a_server_behind_a_url) {
    const configuration config = parsed(R"(
        [servers.b]
        url = "https://mcp.example/mcp"
        headers = { X-Team = "search" }
        headers_env = { X-Api-Key = "SEARCH_KEY" }
        bearer_env = "SEARCH_TOKEN"
        ca_file = "/etc/ca.pem"
        [servers.a]
        command = "npx -y 'some server'"
    )");
    ASSERT_EQ(config.servers.size(), 2U);
    EXPECT_EQ(config.servers[0].name, "a");
    EXPECT_EQ(config.servers[0].path, "/a/mcp");
    EXPECT_THAT(std::get<command_target>(config.servers[0].target).argv, ElementsAre("npx", "-y", "some server"));
    const auto& target = std::get<url_target>(config.servers[1].target);
    EXPECT_EQ(target.url, "https://mcp.example/mcp");
    EXPECT_EQ(target.headers.at("X-Team"), "search");
    EXPECT_EQ(target.headers_env.at("X-Api-Key"), "SEARCH_KEY");
    EXPECT_EQ(target.bearer_env, "SEARCH_TOKEN");
}

TEST(config, an_unknown_key_names_the_nearest) {
    EXPECT_THAT(problems("[gatway]\nport = 1\n"),
                ElementsAre("a.toml:1:2: unknown key \"gatway\"; did you mean \"gateway\"?"));
    EXPECT_THAT(problems("[gateway]\nprot = 1\n"),
                ElementsAre("a.toml:2:1: unknown key \"prot\" in [gateway]; did you mean \"port\"?"));
    EXPECT_THAT(problems("[servers.a]\ncommand = \"x\"\n  time-out = \"1s\"\n"),
                ElementsAre("a.toml:3:3: unknown key \"time-out\" in [servers.a]; did you mean \"timeout\"?"));
    EXPECT_THAT(problems("[servers.a]\ncommand = \"x\"\n[servers.a.tools.t]\nOnIgnored = \"drop\"\n"),
                ElementsAre(HasSubstr("in [servers.a.tools.t]; did you mean \"on_ignored\"?")));
    EXPECT_THAT(problems("[journal]\nrows = 1\n"), ElementsAre(HasSubstr("did you mean \"max_rows\"?")));
    EXPECT_THAT(problems("[control]\nzzzzzzzz = 1\n"), ElementsAre(HasSubstr("known are enabled")));
}

TEST(config, every_problem_is_told_at_once_in_the_order_of_the_file) {
    EXPECT_THAT(problems("[servers.a]\n[gateway]\ncertificate = \"c\"\n[log]\nlevl = 1\n"),
                ElementsAre(HasSubstr("a.toml:1:10: [servers.a] needs"), HasSubstr("a.toml:3:1: TLS needs both"),
                            HasSubstr("a.toml:5:1: unknown key")));
    EXPECT_THAT(problems("[gateway]\nport = \"x\"\nmax_body = \"4\"\n[log]\nlevel = \"loud\"\nfrmat = \"json\"\n"),
                ElementsAre("a.toml:2:8: port must be a whole number from 0 to 65535, not \"x\"",
                            "a.toml:3:12: max_body must be a size from 1KiB to 1GiB, as \"16MiB\", not \"4\"",
                            "a.toml:5:9: level must be \"debug\", \"info\", \"warning\", \"error\" or \"off\", not "
                            "\"loud\"",
                            "a.toml:6:1: unknown key \"frmat\" in [log]; did you mean \"format\"?"));
}

TEST(config, thousands_of_problems_are_not_all_told) {
    std::string toml = "[gateway]\n";
    for (int i = 0; i < 5'000; ++i) toml += "key" + std::to_string(i) + " = 1\n";
    EXPECT_EQ(problems(toml).size(), 51U);
}

TEST(config, a_wrong_value_says_what_is_expected) {
    const std::string server = "[servers.a]\ncommand = \"x\"\n";
    const std::string remote = "[servers.a]\nurl = \"http://h/\"\n";
    for (const auto& [toml, expected] : std::initializer_list<std::pair<std::string, std::string>>{
             {"gateway = 1", "gateway must be a table, not 1"},
             {"servers = []", "servers must be tables"},
             {"[gateway]\nport = 65536", "a whole number from 0 to 65535, not 65536"},
             {"[gateway]\nport = 80.0", "not a fraction"},
             {"[gateway]\nport = 1979-05-27", "not a date or a time"},
             {"[gateway]\nhosts = \"a\"", "a list of texts"},
             {"[gateway]\nhosts = [1]", "a list of texts"},
             {"[gateway]\nhosts = [\"a\", \"b:80\"]", "2:1: a host is named without its port, unlike \"b:80\""},
             {"[gateway]\naddress = \"0.0.0.0\"", "2:1: an address that is not loopback needs \"hosts\""},
             {"[gateway]\ncertificate = \"c.pem\"", "TLS needs both"},
             {"[gateway.tokens.a]", "needs \"env\" or \"file\", and not both"},
             {"[gateway.tokens.a]\nenv = \"A\"\nfile = \"b\"", "needs \"env\" or \"file\", and not both"},
             {"[gateway.tokens.a]\nenv = \"sk-12345\"", "never the secret itself"},
             {"[journal]\nenabled = \"yes\"", "true or false, not \"yes\""},
             {"[metrics]\npath = \"metrics\"", "a path of the gateway's URL"},
             {"[servers.\"a b\"]\ncommand = \"x\"", "the name of a server"},
             {"[servers.\"..\"]\ncommand = \"x\"", "the name of a server"},
             {"[servers.a]", "needs \"command\" or \"url\""},
             {"[servers.a]\ncommand = \"x\"\nurl = \"http://h/\"", "and not both"},
             {"[servers.a]\ncommand = []", "a command: a list"},
             {"[servers.a]\ncommand = \"\"", "a command: a list"},
             {"[servers.a]\ncommand = \"x 'y\"", "whose quotes are closed"},
             {"[servers.a]\nurl = \"ftp://h/\"", "a URL, as"},
             {"[servers.a]\nurl = \"https://me:secret@h/\"", "without a user or a password"},
             {remote + "headers = { Authorization = \"Bearer x\" }", "bearer_env"},
             {remote + "headers = { cookie = \"x\" }", "headers_env"},
             {remote + "headers = { \"a b\" = \"x\" }", "the name of a header"},
             {remote + "headers = { a = \"x\\ny\" }", "in one line"},
             {remote + "pool_size = 2", "is for servers with a `command`"},
             {server + "bearer_env = \"X\"", "is for servers with a `url`"},
             {remote + "on_ignored = \"restart\"", "on_ignored must be \"drop\""},
             {server + "timeout = 30", "a duration with its unit"},
             {server + "timeout = \"0s\"", "from 1ms to 366d"},
             {server + "timeout = \"2s\"\nmax_timeout = \"1s\"", "4:1: max_timeout must not be less than timeout"},
             {server + "max_timeout = \"1s\"\n[servers.a.tools.t]\ntimeout = \"2s\"", "must not be less than timeout"},
             {server + "restart_most = \"1ms\"", "restart_most must not be less"},
             {server + "on_ignored = \"kill\"", "\"drop\", \"restart\" or \"isolate\", not \"kill\""},
             {server + "tools = 3", "must be tables"},
             {server + "path = \"/m\"\n[servers.b]\ncommand = \"y\"\npath = \"/m\"",
              "6:1: the path \"/m\" is taken by a"},
             {server + "path = \"/metrics\"", "is taken by the metrics"},
             {"[gateway\nport = 1", "a.toml:1:"},
             {"[%a]\n", "a.toml:1:"},
             {"gr\u00f6\u00dfe = 1", "a.toml:1:"},
             {"a = \u03b1", "a.toml:1:"},
             {"[gateway]\nport = 1\nport = 2", "a.toml:3:"},
         }) {
        const auto found = problems(toml);
        ASSERT_EQ(found.size(), 1U) << toml << '\n' << testing::PrintToString(found);
        EXPECT_THAT(found[0], HasSubstr(expected)) << toml;
        EXPECT_THAT(found[0], StartsWith("a.toml:"));
    }
}

TEST(config, MSG_4_what_stands_in_the_file_never_reaches_a_terminal_raw) {
    for (const char* toml :
         {"\"a\\u001b[31m\" = 1", "[gateway]\n\"x\\u001b]0;\" = 1", "[log]\nlevel = \"\\u001b[2J\\n\"",
          "[servers.\"\\u001b\"]\ncommand = \"x\"", "[gateway]\nport = \x1b[31m"}) {
        const auto found = problems(toml);
        ASSERT_FALSE(found.empty()) << toml;
        for (const std::string& each : found) {
            EXPECT_EQ(each.find_first_of("\x1b\n"), std::string::npos) << each;
        }
    }
}

TEST(config, deep_nesting_is_refused_and_does_not_eat_the_stack) {
    std::string dotted = "a";
    for (int i = 0; i < 100'000; ++i) dotted += ".a";
    EXPECT_THAT(problems(dotted + " = 1"), ElementsAre(HasSubstr("dots in one line")));
    EXPECT_FALSE(problems("a = " + std::string(100'000, '[')).empty());
    std::string mixed;
    for (int i = 0; i < 15; ++i) {
        mixed += "{a";
        for (int j = 0; j < 190; ++j) mixed += ".a";
        mixed += "=[\n";
    }
    EXPECT_FALSE(problems("a = " + mixed).empty());
}

TEST(config, the_example_is_the_defaults) { EXPECT_EQ(shown_config(parsed(example_config())), shown_config({})); }

TEST(config, the_example_with_every_line_uncommented_has_every_key_with_its_default) {
    const std::string text = uncommented(example_config());
    const configuration all = parsed(text);
    configuration plain = all;
    plain.servers.clear();
    plain.gateway.tokens.clear();
    EXPECT_EQ(shown_config(plain), shown_config({})) << "a default in the example differs";
    ASSERT_EQ(all.gateway.tokens.size(), 2U);

    const server_config* const files = all.server("files");
    const server_config* const remote = all.server("remote");
    ASSERT_TRUE(files != nullptr && remote != nullptr);
    server_config as_default{.name = "files", .target = files->target, .path = "/files/mcp"};
    as_default.policy.tools["search"] = {};
    EXPECT_EQ(shown_config({.servers = {*files}}), shown_config({.servers = {as_default}}));
    EXPECT_EQ(shown_config({.servers = {*remote}}),
              shown_config({.servers = {{.name = "remote", .target = remote->target, .path = "/remote/mcp"}}}));

    // And no key is missing from it.
    const auto stands = [&text](std::string_view key) {
        EXPECT_NE(text.find('\n' + std::string(key) + " = "), std::string::npos) << key;
    };
    for_each_plain_table([&](std::string_view /*name*/, std::string_view /*about*/, const auto& keys, auto /*member*/) {
        for (const auto& each : keys) stands(each.name);
    });
    for (const auto& each : server_keys()) stands(each.name);
    for (const auto& each : call_keys()) stands(each.name);
    for (const auto& each : token_keys()) stands(each.name);
}

/// docs/configuration.md has a row for each key, and its default in it.
TEST(config, the_documentation_has_every_key_with_its_default) {
    std::ostringstream read;
    read << std::ifstream(ANDON_DOCS "/configuration.md").rdbuf();
    const std::string page = read.str();
    const auto section = [&page](const std::string& heading) {
        const std::size_t begin = page.find(heading);
        EXPECT_NE(begin, std::string::npos) << heading;
        return page.substr(begin, page.find("\n#", begin + 1) - begin);
    };
    const auto stands = [](const std::string& in, std::string_view key, const json::value& value) {
        const std::string row = "\n| `" + std::string(key) + "` | `" + json::serialize(value) + "` | ";
        EXPECT_THAT(in, HasSubstr(row));
    };
    for_each_plain_table([&](std::string_view name, std::string_view /*about*/, const auto& keys, auto member) {
        const std::string in = section("## `[" + std::string(name) + "]`");
        for (const auto& each : keys) stands(in, each.name, each.show(configuration().*member));
    });
    const server_draft draft{.config = {.path = "/NAME/mcp"}};
    const std::string servers = section("## `[servers.NAME]`");
    const std::string calls = section("### For its calls");
    for (const auto& each : call_keys()) stands(calls, each.name, each.show({}));
    for (const auto& each : server_keys()) {
        const bool of_calls = std::any_of(call_keys().begin(), call_keys().end(),
                                          [&each](const auto& other) { return other.name == each.name; });
        if (each.name == "command" || each.name == "url") {
            EXPECT_THAT(servers, HasSubstr("\n| `" + std::string(each.name) + "` | | "));
        } else if (!of_calls) {
            stands(servers, each.name, each.show(draft));
        }
    }
    const std::string tokens = section("### `[gateway.tokens.NAME]`");
    for (const auto& each : token_keys()) stands(tokens, each.name, each.show({}));
}

TEST(config, what_is_shown_can_be_read_again) {
    const configuration config = parsed(R"(
        [gateway]
        address = "0.0.0.0"
        hosts = ["a.example", "b\"\\"]
        [gateway.tokens."al ice"]
        env = "A"
        [servers.x]
        command = ["a b", "c\u0007d", "é"]
        env = { "odd name" = "v" }
        timeout = "1h30m"
        [servers.x.tools."t.t"]
        grace = "0s"
        [servers.y]
        url = "http://h/"
        headers = { X-A = "1" }
    )");
    EXPECT_EQ(shown_config(parsed(shown_config_toml(config))), shown_config(config)) << shown_config_toml(config);
}

class config_files : public testing::Test {
protected:
    own_folder folder;
    own_variable home{"HOME", (folder / "home").c_str()};
    own_variable xdg{"XDG_CONFIG_HOME", nullptr};
    own_variable asked{"ANDON_CONFIG", nullptr};
    own_variable state{"ANDON_STATE_DIR", nullptr};
    own_variable xdg_state{"XDG_STATE_HOME", nullptr};
};

TEST_F(config_files, are_looked_for_in_order) {
    const std::string users = folder.write("home/.config/andon/andon.toml", "");
    EXPECT_EQ(find_config(), users);
    EXPECT_EQ(users_config(), users);
    const own_variable elsewhere("XDG_CONFIG_HOME", (folder / "xdg").c_str());
    EXPECT_EQ(find_config(), users) << "none there: the next is looked at";
    const std::string in_xdg = folder.write("xdg/andon/andon.toml", "");
    EXPECT_EQ(find_config(), in_xdg);
    EXPECT_EQ(users_config(), in_xdg);
    const own_variable named("ANDON_CONFIG", "/no/such");
    EXPECT_EQ(find_config(), "/no/such");
    EXPECT_EQ(find_config("mine.toml"), "mine.toml");
}

TEST_F(config_files, none_is_the_defaults_and_one_that_was_asked_for_must_be_there) {
    EXPECT_EQ(load_config().file, "");
    EXPECT_THROW(static_cast<void>(load_config(folder / "none.toml")), config_error);
    EXPECT_THROW(static_cast<void>(load_config(folder.path())), config_error);
    const std::string large = folder.write("large.toml", std::string((1U << 20U) + 1, '#'));
    EXPECT_THROW(static_cast<void>(load_config(large)), config_error);
    EXPECT_EQ(load_config(folder.write("good.toml", "[gateway]\nport = 99\n")).gateway.port, 99);
}

TEST_F(config_files, tokens_come_from_the_environment_and_from_files) {
    static_cast<void>(folder.write("bob.token", "bobs-secret\nmore\n"));
    const std::string file = folder.write("a.toml",
                                          "[gateway.tokens.alice]\nenv = \"TEST_ALICE\"\n"
                                          "[gateway.tokens.bob]\nfile = \"bob.token\"\n");
    const gateway_config config = load_config(file).gateway;
    {
        const own_variable alice("TEST_ALICE", "alices-secret");
        const auto principals = principals_by_token(config);
        EXPECT_EQ(principals.at("alices-secret"), "alice");
        EXPECT_EQ(principals.at("bobs-secret"), "bob");
    }
    try {
        static_cast<void>(principals_by_token(config));
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("TEST_ALICE"));
    }
    const own_variable same("TEST_ALICE", "bobs-secret");
    EXPECT_THROW(static_cast<void>(principals_by_token(config)), std::runtime_error);
}

TEST_F(config_files, the_state_stands_where_the_environment_says) {
    EXPECT_EQ(state_directory(), folder / "home/.local/state/andon");
    const own_variable state_home("XDG_STATE_HOME", "/s");
    EXPECT_EQ(state_directory(), "/s/andon");
    const own_variable own("ANDON_STATE_DIR", "/mine");
    EXPECT_EQ(state_directory(), "/mine");
}

}  // namespace
}  // namespace andon::gateway
