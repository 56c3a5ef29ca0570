#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "duration_option.hpp"
#include "relay/relay_flags.hpp"

namespace andon::app {

void add_relay_options(CLI::App& command, relay_flags& flags) {
    command.add_option("--config", flags.config, "The file to read; see andon config path")
        ->type_name("FILE")
        ->check(expect_name);
    command.add_option("--server", flags.server, "A server of the configuration, by its name")->type_name("NAME");
    auto* const url = command.add_option("--url", flags.url, "A server that runs elsewhere")->type_name("URL");
    command.add_option("--bearer-env", flags.bearer_env, "With --url: the environment variable that has its token")
        ->type_name("VARIABLE")
        ->needs(url);
    command.add_option("--ca-file", flags.ca_file, "With --url: trust the certificates in this file (PEM)")
        ->type_name("FILE")
        ->check(CLI::ExistingFile.description(""))
        ->needs(url);
    command.add_option("--name", flags.name, "What ps and log call the server")->type_name("TEXT");
    add_duration(command, "--timeout", flags.timeout, "For calls without an answer or progress, such as 30s or 5m");
    add_duration(command, "--max-timeout", flags.max_timeout, "For calls, whatever progress comes");
    command
        .add_option("--on-ignored", flags.on_ignored,
                    "With work that goes on after its cancel: drop its answer, restart the server, or isolate every "
                    "call in a process of its own")
        ->check(CLI::IsMember({"drop", "restart", "isolate"}));
    add_duration(command, "--grace", flags.grace, "After which going on counts as ignoring the cancel (2s)",
                 duration::zero());
    command.add_option("--log-format", flags.log_format, "Of the lines on standard error: auto, human or json")
        ->check(CLI::IsMember({"auto", "human", "json"}));
    command.add_option("--log-level", flags.log_level, "From which level on")
        ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
    command.add_flag("--no-journal", flags.no_journal, "Keep no journal for andon log");
    command.add_flag("--journal-every-call", flags.every_call, "Keep calls in it that nobody asked to stop, too");
    command.add_flag("--no-control", flags.no_control, "Not to be found by andon ps, stop and top");
}

}  // namespace andon::app
