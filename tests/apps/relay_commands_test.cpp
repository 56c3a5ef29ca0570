// `andon wrap` and `andon gateway` as commands: what they make of their command line, and what they end with.
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <regex>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/andon_process.hpp"
#include "built_programs.hpp"
#include "server/http_client.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::Not;

class relay_commands : public testing::Test {
protected:
    [[nodiscard]] andon_run run(std::vector<std::string> arguments, const environment_list& more = {}) const {
        return run_andon(std::move(arguments), {}, at_home_in(folder, more));
    }
    /// A server that says on its standard error with what it was started, and leaves.
    [[nodiscard]] std::string telling_server() const {
        return folder.write("tells.sh", "for each; do printf '<%s>' \"$each\"; done >&2\necho '.' >&2\n");
    }
    /// Until it listens; gives the line that says where.
    [[nodiscard]] static std::string address_of(program& gateway) { return gateway.line(); }
    [[nodiscard]] static std::uint16_t port_in(const std::string& line) {
        std::smatch found;
        if (!std::regex_search(line, found, std::regex(":([0-9]+)/"))) throw std::runtime_error("no port: " + line);
        return static_cast<std::uint16_t>(std::stoi(found[1]));
    }
    [[nodiscard]] static bool has_ipv6() {
        const int made = ::socket(AF_INET6, SOCK_STREAM, 0);
        sockaddr_in6 local{};
        local.sin6_family = AF_INET6;
        local.sin6_addr = in6addr_loopback;
        const bool bound = made >= 0 && ::bind(made, reinterpret_cast<sockaddr*>(&local), sizeof local) == 0;
        if (made >= 0) ::close(made);
        return bound;
    }

    own_folder folder;
};

TEST_F(relay_commands, a_server_gets_its_arguments_to_the_byte) {
    andon_process wrap({"wrap", "--", "sh", telling_server(), "[a,b]", R"(["--x"])", "[]", "", "--", "\x01[c]"}, {},
                       at_home_in(folder));
    wrap.until_error(R"(<[a,b]><["--x"]><[]><><--><)");
    EXPECT_THAT(wrap.until_error("[c]>."), HasSubstr("<\x01[c]>.")) << "not even its own mark is taken off";
    wrap.signal(SIGTERM);
    static_cast<void>(wrap.end());
}

TEST_F(relay_commands, a_command_needs_the_dashes_before_it) {
    const andon_run bare = run({"wrap", "--name", "x", "npx", "-y", "some-server"});
    EXPECT_EQ(bare.status, 2);
    EXPECT_EQ(bare.err, "andon: put -- before the command: andon wrap --name x -- npx -y some-server\n");
    EXPECT_THAT(run({"gateway", "--port", "0", "cat"}).err, HasSubstr("andon gateway --port 0 -- cat; or --server"));
}

TEST_F(relay_commands, a_gateway_does_not_listen_for_a_program_that_is_not_there) {
    const andon_run gone = run({"gateway", "--port", "0", "--", "no-such-server-of-test"});
    EXPECT_EQ(gone.status, 2);
    EXPECT_EQ(gone.err, "andon gateway: there is no program no-such-server-of-test\n");
}

TEST_F(relay_commands, a_name_that_the_configuration_does_not_have_says_which_was_meant) {
    const std::string file = folder.write("a.toml", "[servers.files]\ncommand = \"cat\"\n");
    const andon_run typo = run({"wrap", "--config", file, "--server", "flies"});
    EXPECT_EQ(typo.status, 2);
    EXPECT_THAT(typo.err, HasSubstr("no server of the name \"flies\"; did you mean \"files\"?"));
    EXPECT_THAT(run({"wrap", "--server", "flies"}).err, HasSubstr("\"flies\"; it has none"));
}

TEST_F(relay_commands, a_server_behind_tls_and_a_token_can_be_reached_without_a_file) {
    const certificate own;
    const std::string file = folder.write("a.toml", "[gateway]\nport = 0\ncertificate = \"" + own.file() +
                                                        "\"\nprivate_key = \"" + own.key_file() +
                                                        "\"\n[gateway.tokens.ann]\nenv = \"ANN_OF_TEST\"\n[servers.a]\n"
                                                        "command = \"" +
                                                        built_program("everything_server") + "\"\n");
    const environment_list token{{"ANN_OF_TEST", "hush"}};
    andon_process gateway({"gateway", "--config", file}, {}, at_home_in(folder, token));
    const std::string said = address_of(gateway);
    const std::string url = said.substr(said.find("https://"));
    const andon_run refused = run({"tools", url});
    EXPECT_EQ(refused.status, 3);
    EXPECT_THAT(refused.err, HasSubstr("the certificate was refused"));
    EXPECT_THAT(refused.err, HasSubstr("; --ca-file names the certificates to trust"));
    EXPECT_THAT(run({"check", url}).err, HasSubstr("; --ca-file names the certificates to trust"));
    EXPECT_THAT(run({"tools", url, "--ca-file", own.file()}).err, HasSubstr("; --bearer-env says where its token is"));

    const std::string wrap = "\"" + built_program("andon") + "\" wrap --url " + url + " --ca-file " + own.file();
    const andon_run reached = run({"tools", wrap + " --bearer-env ANN_OF_TEST", "-q"}, token);
    EXPECT_EQ(reached.status, 0) << reached.err;
    EXPECT_THAT(reached.out, HasSubstr("echo"));
    EXPECT_EQ(run({"wrap", "--ca-file", own.file(), "--", "cat"}).status, 2);
    for (const std::string how : {"wrap --url", "gateway --port 0 --url", "tools", "call", "check"}) {
        std::vector<std::string> words;
        std::istringstream in(how);
        for (std::string word; in >> word;) words.push_back(word);
        words.push_back(url);
        if (how == "call") words.emplace_back("echo");
        words.insert(words.end(), {"--ca-file", own.key_file()});
        const andon_run ran = run(words);
        EXPECT_EQ(ran.status, 2) << how << ": " << ran.err;
        EXPECT_THAT(ran.err, HasSubstr("cannot use the certificates in")) << how;
    }
    const andon_run unset = run({"wrap", "--url", url, "--bearer-env", "NONE_OF_TEST"});
    EXPECT_EQ(unset.status, 2);
    EXPECT_THAT(unset.err, HasSubstr("NONE_OF_TEST is not set"));
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.end(), 0);
}

TEST_F(relay_commands, figures_need_a_token_where_requests_do) {
    const std::string file = folder.write("a.toml",
                                          "[gateway]\nport = 0\n[gateway.tokens.alice]\nenv = \"ALICE_OF_TEST\"\n"
                                          "[servers.a]\ncommand = \"cat\"\n");
    andon_process gateway({"gateway", "--config", file}, {}, at_home_in(folder, {{"ALICE_OF_TEST", "hush"}}));
    const std::uint16_t port = port_in(address_of(gateway));
    const auto asked = [&](const http_headers& headers) {
        http_client connection(port);
        connection.write(http_message("GET", headers, {}, "/metrics"));
        return connection.head();
    };
    const http_answer refused = asked({});
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
    EXPECT_EQ(asked({{"Authorization", "Bearer wrong"}}).status, 401);
    EXPECT_EQ(asked({{"Authorization", "Bearer hush"}}).status, 200);
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.end(), 0);
}

TEST_F(relay_commands, an_address_of_ipv6_stands_in_brackets) {
    if (!has_ipv6()) GTEST_SKIP() << "there is no IPv6 here";
    andon_process gateway({"gateway", "--address", "::1", "--port", "0", "--", "cat"}, {}, at_home_in(folder));
    EXPECT_THAT(address_of(gateway), HasSubstr("http://[::1]:"));
    EXPECT_THAT(gateway.until_error("listening on"), HasSubstr("listening on http://[::1]:"));
    gateway.signal(SIGTERM);
    static_cast<void>(gateway.end());
}

TEST_F(relay_commands, a_configuration_that_cannot_work_is_2) {
    const auto refused = [&](const std::string& gateway, const std::string& why) {
        const std::string file = folder.write("a.toml", gateway + "\n[servers.a]\ncommand = \"cat\"\n");
        const andon_run ran = run({"gateway", "--port", "0", "--config", file}, {{"SAME_OF_TEST", "same"}});
        EXPECT_EQ(ran.status, 2) << ran.err;
        EXPECT_THAT(ran.err, HasSubstr(why));
    };
    const std::string empty = folder.write("empty", "");
    refused("[gateway.tokens.a]\nenv = \"NONE_OF_TEST\"", "NONE_OF_TEST, for the token of a, is not set");
    refused("[gateway.tokens.a]\nfile = \"" + empty + '"', "is empty");
    refused("[gateway.tokens.a]\nenv = \"SAME_OF_TEST\"\n[gateway.tokens.b]\nenv = \"SAME_OF_TEST\"", "are the same");
    refused("[gateway]\ncertificate = \"" + empty + "\"\nprivate_key = \"" + empty + '"', "cannot use the certificate");
    EXPECT_THAT(run({"gateway", "--address", "notanip", "--", "cat"}).err, HasSubstr("notanip is no address"));
    const andon_run open = run({"gateway", "--address", "0.0.0.0", "--", "cat"});
    EXPECT_EQ(open.status, 2);
    EXPECT_THAT(open.err, HasSubstr("set \"hosts\" in [gateway]"));
}

TEST_F(relay_commands, the_level_of_the_log_is_the_flags_else_the_environments_else_the_files) {
    struct level_case {
        std::string file;
        std::string variable;
        std::vector<std::string> flag;
        bool logged;
    };
    for (const level_case& each :
         {level_case{"info", "", {}, true}, level_case{"off", "", {}, false}, level_case{"off", "info", {}, true},
          level_case{"info", "off", {}, false}, level_case{"off", "off", {"--log-level", "info"}, true},
          level_case{"info", "info", {"--log-level", "off"}, false}}) {
        const std::string file =
            folder.write("a.toml", "[log]\nlevel = \"" + each.file + "\"\n[servers.a]\ncommand = \"cat\"\n");
        std::vector<std::string> arguments{"gateway", "--config", file, "--port", "0"};
        arguments.insert(arguments.end(), each.flag.begin(), each.flag.end());
        andon_process gateway(arguments, {}, at_home_in(folder, {{"ANDON_LOG", each.variable}}));
        static_cast<void>(address_of(gateway));
        gateway.signal(SIGTERM);
        static_cast<void>(gateway.end());
        EXPECT_EQ(gateway.err().find("listening on") != std::string::npos, each.logged)
            << each.file << ", " << each.variable << ", " << testing::PrintToString(each.flag);
    }
}

TEST_F(relay_commands, a_password_in_a_url_is_not_shown) {
    const std::string url = "http://ann:hush@127.0.0.1:1/mcp";
    const andon_run wrap = run({"wrap", "--url", url});
    EXPECT_EQ(wrap.status, 2);
    EXPECT_THAT(wrap.err, HasSubstr("http://***@127.0.0.1:1/mcp"));
    EXPECT_THAT(wrap.err, Not(HasSubstr("hush")));
    andon_process gateway({"gateway", "--port", "0", "--url", url}, {}, at_home_in(folder));
    EXPECT_THAT(address_of(gateway), testing::StartsWith("http://***@127.0.0.1:1/mcp: http"));
    gateway.signal(SIGTERM);
    static_cast<void>(gateway.end());
    EXPECT_THAT(gateway.err(), Not(HasSubstr("hush")));
}

TEST_F(relay_commands, a_server_without_a_name_is_called_after_what_is_run) {
    const std::string node = folder.write("node", "#!/bin/sh\nexec cat\n");
    std::filesystem::permissions(node, std::filesystem::perms::owner_all);
    andon_process gateway({"gateway", "--port", "0", "--", node, "--flag", "x/tickets.mjs"}, {}, at_home_in(folder));
    EXPECT_THAT(address_of(gateway), testing::StartsWith("tickets: http"));
    gateway.signal(SIGTERM);
    static_cast<void>(gateway.end());
}

}  // namespace
}  // namespace andon
