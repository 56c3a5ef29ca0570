#include "gateway/gateway.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "andon/core/visible_text.hpp"
#include "exit_status.hpp"
#include "gateway/config/reaching.hpp"
#include "help_text.hpp"
#include "relay/relay_flags.hpp"
#include "subcommands.hpp"
#include "transport/event_loop.hpp"

namespace andon::app {
namespace {

constexpr const char* examples =
    "  andon gateway                                the configuration's\n"
    "  andon gateway --port 80 -- npx some-server   at http://127.0.0.1/mcp\n"
    "  andon gateway --url https://example.org/mcp  one that runs elsewhere\n";
constexpr const char* statuses =
    "  0    it was asked to leave\n"
    "  1    it cannot listen\n"
    "  2    the command line or the configuration is wrong\n";

struct gateway_flags : relay_flags {
    std::string address;
    std::optional<std::uint16_t> port;
};

int serve(const gateway_flags& flags) {
    detail::event_loop::hold_termination();
    gateway::configuration config = configured(flags);
    if (!flags.address.empty()) config.gateway.address = flags.address;
    if (flags.port) config.gateway.port = *flags.port;
    if (const auto only = named_server(flags, config)) config.servers = {*only};
    if (config.servers.empty()) {
        std::fprintf(stderr,
                     "andon gateway: there is no server: name some in the configuration (andon config init), "
                     "or give one here: andon gateway -- COMMAND\n");
        return exit_status::usage;
    }
    if (!flags.argv.empty() && !gateway::can_be_started({.argv = flags.argv})) {
        std::fprintf(stderr, "andon gateway: there is no program %s\n", visible_text(flags.argv.front(), 400).c_str());
        return exit_status::usage;
    }
    for (const gateway::server_config& each : config.servers) {
        if (const auto* const url = std::get_if<gateway::url_target>(&each.target)) gateway::expect_certificates(*url);
    }
    gateway::run_gateway(config, [&](std::uint16_t port) {
        const std::string base = gateway::base_url(config.gateway, port);
        for (const auto& each : config.servers) {
            std::printf("%s: %s%s\n", each.name.c_str(), base.c_str(), each.path.c_str());
        }
        std::fflush(stdout);
    });
    return exit_status::ok;
}

}  // namespace

void add_gateway(CLI::App& app, chosen& run) {
    auto* const command = app.add_subcommand("gateway", "Serve hosts over HTTP, with any number of servers behind it");
    const auto flags = std::make_shared<gateway_flags>();
    add_relay_options(*command, *flags);
    command->add_option("--address", flags->address, "To listen on (127.0.0.1)")->type_name("ADDRESS");
    command->add_option("--port", flags->port, "To listen on (7780); 0 is any that is free")
        ->check(CLI::Range(0, 65'535).description(""))
        ->type_name("PORT");
    command->add_option("COMMAND", flags->argv, "One server's command, behind --, in place of those of the file");
    command->footer(help_footer(examples, statuses));
    command->callback([flags, &run] { run = [flags] { return serve(*flags); }; });
}

}  // namespace andon::app
