#include <CLI/CLI.hpp>
#include <memory>

#include "control/stop_command.hpp"
#include "duration_option.hpp"
#include "exit_status.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {

void add_stop(CLI::App& app, chosen& run) {
    CLI::App* const stop =
        app.add_subcommand("stop", "Stop what is in flight: by its ID, its tool, its session, or all");
    const auto asked = std::make_shared<stop_options>();
    stop_options& options = *asked;
    stop->add_option("ID", options.ids, "As `andon ps` shows it: 4711.3, or 3 where only one andon has a 3");
    stop->add_option("-t,--tool", options.tool, "Every call of this tool")->type_name("TOOL");
    stop->add_option("-s,--session", options.session, "Every call of this session, as `andon ps` shows it")
        ->type_name("SESSION");
    stop->add_flag("--all", options.all, "Everything");
    stop->add_option("-r,--reason", options.reason, "Why, in words for the host and the server");
    stop->add_flag("-w,--wait", options.wait,
                   "Return when the work has really stopped; says how long that took, and how it was seen");
    add_duration(*stop, "--timeout", options.timeout, "With --wait: how long, as 500ms, 10s or 2m; for ever without it")
        ->needs("--wait");
    stop->add_flag("-y,--yes", options.yes, "Do not ask before stopping everything");
    stop->add_flag("--json", options.json, "A line of JSON for each that was asked and each that stopped");
    stop->footer(
        help_footer("  andon stop 4711.3 --reason \"wrong folder\"\n"
                    "  andon stop --tool build --wait --timeout 10s\n"
                    "  andon stop --all --yes\n",
                    "  0    it was asked to stop; with --wait: it stopped\n"
                    "  1    nothing matched\n"
                    "  2    the command line is wrong\n"
                    "  3    an andon did not answer, or left\n"
                    "  4    --timeout passed\n"
                    "  130  not confirmed, or Ctrl-C\n",
                    "The server is sent the cancel, and the host an error that says an\n"
                    "operator stopped the call. What happens to work that goes on all the\n"
                    "same is the policy of its server. Ctrl-C ends the waiting, nothing else.\n"));
    stop->callback([asked, &run] {
        const int named =
            (asked->ids.empty() ? 0 : 1) + (asked->tool ? 1 : 0) + (asked->session ? 1 : 0) + (asked->all ? 1 : 0);
        if (named != 1) {
            throw CLI::RequiredError("say what to stop, in one way: an ID, --tool, --session or --all",
                                     CLI::ExitCodes::RequiredError);
        }
        run = [asked] { return run_stop(*asked); };
    });
}

}  // namespace andon::app
