#include <CLI/CLI.hpp>
#include <memory>

#include "control/top_command.hpp"
#include "duration_option.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {

void add_top(CLI::App& app, chosen& run) {
    CLI::App* const top = app.add_subcommand("top", "What is in flight, as it changes; stops it at a key");
    const auto interval = std::make_shared<duration>(std::chrono::seconds(1));
    add_duration_or_seconds(*top, "-i,--interval", *interval, "Between two looks (1s)", std::chrono::milliseconds(100),
                            std::chrono::hours(1));
    top->footer(
        help_footer("  andon top\n"
                    "  andon top --interval 500ms\n",
                    "  0    after q\n"
                    "  2    there is no terminal to draw on (andon ps needs none)\n"
                    "  130  after Ctrl-C\n",
                    "Keys:\n"
                    "  q, Ctrl-C       leave\n"
                    "  up, down, j, k  select\n"
                    "  s               stop the selected call (y confirms)\n"
                    "  p               pause, and go on\n"
                    "  Ctrl-Z          suspend\n"));
    top->callback([interval, &run] { run = [interval] { return run_top({.interval = *interval}); }; });
}

}  // namespace andon::app
