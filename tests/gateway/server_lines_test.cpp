// What servers behind a gateway write to standard error.
#include <gmock/gmock.h>

#include "apps/andon_process.hpp"
#include "built_programs.hpp"
#include "gateway/in_front.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

struct server_lines_case {
    const char* name;
    const char* format;
    std::string (*said)(const std::string& server, const std::string& text);
};

void PrintTo(const server_lines_case& which, std::ostream* to) { *to << which.name; }

class server_lines : public testing::TestWithParam<server_lines_case> {};

TEST_P(server_lines, in_the_log_of_a_gateway_carry_the_name_of_their_server) {
    const own_folder folder;
    std::string servers;
    for (const char* const name : {"one", "two"}) {
        servers += "[servers." + std::string(name) +
                   "]\ncommand = [\"/bin/sh\", \"-c\", "
                   "\"echo words of $0 >&2; printf '%01500d' 0 >&2; exec sleep 60\", \"" +
                   name + "\"]\nstart_timeout = \"100ms\"\n";
    }
    program gateway({built_program("andon"), "gateway", "--config", folder.write("andon.toml", servers), "--port", "0",
                     "--log-level", "error", "--log-format", GetParam().format},
                    at_home_in(folder));
    const std::string& out = gateway.until("two: http");
    for (const std::string name : {"one", "two"}) {
        const std::size_t at = out.find("http://127.0.0.1:");
        http_client host(static_cast<std::uint16_t>(std::stoul(out.substr(at + 17))));
        host.write(
            http_message("POST", {{"Content-Type", "application/json"}, {"Accept", std::string(takes_both)}},
                         R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                         R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})",
                         '/' + name + "/mcp"));
        const std::string line = GetParam().said(name, "words of " + name);
        EXPECT_THAT(gateway.until_error(line), HasSubstr(line));
        // Of a long line every piece, though it has no end yet.
        static_cast<void>(gateway.until_error(GetParam().said(name, std::string(1'000, '0'))));
        // And the rest with the end of the server.
        static_cast<void>(gateway.until_error(GetParam().said(name, std::string(500, '0'))));
    }
}

INSTANTIATE_TEST_SUITE_P(gateway, server_lines,
                         testing::Values(server_lines_case{"human", "human",
                                                           [](const std::string& server, const std::string& text) {
                                                               return ' ' + server + ": " + text + '\n';
                                                           }},
                                         server_lines_case{"json", "json",
                                                           [](const std::string& server, const std::string& text) {
                                                               return R"("level":"info","event":"stderr","message":")" +
                                                                      text + R"(","server":")" + server + "\"}\n";
                                                           }}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(gateway_log, that_nobody_reads_for_a_while_loses_no_line_of_a_server) {
    in_front front(hosted::legacy_gateway, {});
    front.open();
    front.call("1", "flood", R"({"kib":2048})");
    front.andon().wait_until([&] { return front.andon().times_logged(std::string(900, '!')) == 2'048; }, "every line");
    EXPECT_EQ(text_of(front.answer("1")), "done");
}

}  // namespace
}  // namespace andon
