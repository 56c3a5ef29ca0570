#include <CLI/CLI.hpp>
#include <memory>

#include "control/ps_command.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {

void add_ps(CLI::App& app, chosen& run) {
    CLI::App* const ps = app.add_subcommand("ps", "What is in flight, through every andon of yours on this machine");
    const auto options = std::make_shared<ps_options>();
    ps->add_flag("--json", options->json, "A JSON array instead of a table");
    ps->add_flag("-a,--all", options->all, "Also what has stopped and is remembered still");
    ps->add_flag("-s,--servers", options->servers, "The servers behind them instead of the calls");
    ps->footer(
        help_footer("  andon ps                        what is in flight; the oldest first\n"
                    "  andon ps --servers              which servers run, how often restarted\n"
                    "  andon ps --json | jq '.[].id'   for scripts\n",
                    "  0    also when nothing is in flight\n"
                    "  2    the command line is wrong\n",
                    "STATE is \"running\", \"asked to stop\", \"ignoring\" (it goes on after its\n"
                    "time to stop) or \"stopped\".\n"));
    ps->callback([options, &run] { run = [options] { return run_ps(*options); }; });
}

}  // namespace andon::app
