#include "gateway/wrap.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <system_error>

#include "exit_status.hpp"
#include "gateway/config/reaching.hpp"
#include "help_text.hpp"
#include "relay/relay_flags.hpp"
#include "subcommands.hpp"
#include "transport/event_loop.hpp"

namespace andon::app {
namespace {

constexpr const char* examples =
    "  andon wrap -- npx -y @modelcontextprotocol/server-everything\n"
    "  andon wrap --timeout 5m --on-ignored restart -- ./my-server --flag\n"
    "  andon wrap --server files          one that the configuration names\n"
    "  andon wrap --url https://example.org/mcp --bearer-env TOKEN\n";
constexpr const char* notes = R"(In a host's configuration, put it before the command that stands there:
  {"mcpServers": {"files": {"command": "andon",
   "args": ["wrap", "--name", "files", "--", "npx", "-y", "a-server"]}}}
)";
constexpr const char* statuses =
    "  0    the host or a signal ended it\n"
    "  1    the host did not read what it was sent\n"
    "  2    the command line or the configuration is wrong\n"
    "  3    the server cannot be started\n";

int wrap(const relay_flags& flags) {
    detail::event_loop::hold_termination();
    const gateway::configuration config = configured(flags);
    const auto server = named_server(flags, config);
    if (!server) {
        std::fprintf(stderr, "andon wrap: a server is needed: andon wrap -- COMMAND, --server NAME or --url URL\n");
        return exit_status::usage;
    }
    // What the user can mend is told before a host says anything.
    if (const auto* const url = std::get_if<gateway::url_target>(&server->target)) {
        gateway::expect_certificates(*url);
        static_cast<void>(gateway::http_options_of(*url));
    }
    try {
        return gateway::run_wrap(config, *server) ? exit_status::ok : exit_status::failed;
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "andon wrap: the server cannot be started: %s\n", error.what());
        return exit_status::unreachable;
    }
}

}  // namespace

void add_wrap(CLI::App& app, chosen& run) {
    auto* const command = app.add_subcommand("wrap", "Stand in front of one server, on standard input and output");
    const auto flags = std::make_shared<relay_flags>();
    add_relay_options(*command, *flags);
    command->add_option("COMMAND", flags->argv, "The server's command, behind --");
    command->footer(help_footer(examples, statuses, notes));
    command->callback([flags, &run] { run = [flags] { return wrap(*flags); }; });
}

}  // namespace andon::app
