// A server with a tool for every situation: for tests, for benchmarks, and to try a client on.
#include <andon/server/server.hpp>
#include <cstring>
#include <iostream>

#include "conformance_prompts.hpp"
#include "conformance_questions.hpp"
#include "conformance_resources.hpp"
#include "conformance_tools.hpp"
#include "work_tools.hpp"

namespace {

constexpr const char* usage = R"(usage: everything_server

Serves MCP on standard input and output, in every revision of the protocol.

Environment:
  ANDON_MARKS=1      tools write `@start KEY NS`, `@cancel KEY NS` and `@end KEY NS` to standard error,
                     and child `@pids KEY SHELL CHILD CHILD_IN_ITS_OWN_SESSION NS`
  ANDON_LOG=LEVEL    debug, info (default), warning, error or off
)";

}  // namespace

int main(int argc, char** argv) try {
    for (int i = 1; i < argc; ++i) {
        const bool help = std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0;
        (help ? std::cout : std::cerr) << (help ? ""
                                                : std::string("everything_server: no such option: ") + argv[i] + "\n\n")
                                       << usage;
        return help ? 0 : 2;
    }
    andon::server server({.name = "everything", .version = "0.1.0"});
    everything::add_work_tools(server);
    everything::add_conformance_tools(server);
    everything::add_conformance_questions(server);
    everything::add_conformance_prompts(server);
    everything::add_conformance_resources(server);
    server.serve_stdio();
} catch (const std::exception& error) {
    std::cerr << "everything_server: " << error.what() << '\n';
    return 1;
}
