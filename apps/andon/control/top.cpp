#include <CLI/CLI.hpp>
#include <memory>

#include "control/top_command.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {

void add_top(CLI::App& app, chosen& run) {
    CLI::App* const top = app.add_subcommand("top", "What is in flight, as it changes; stops it at a key");
    const auto seconds = std::make_shared<double>(1);
    constexpr double shortest = 0.1;
    constexpr double longest = 3'600;
    top->add_option("-i,--interval", *seconds, "Seconds between two looks")
        ->check(CLI::Range(shortest, longest))
        ->capture_default_str();
    top->footer(
        help_footer("  andon top\n"
                    "  andon top --interval 0.5\n",
                    "  0    after q\n"
                    "  2    there is no terminal to draw on (andon ps needs none)\n"
                    "  130  after Ctrl-C\n",
                    "Keys:\n"
                    "  q, Ctrl-C       leave\n"
                    "  up, down, j, k  select\n"
                    "  s               stop the selected call (y confirms)\n"
                    "  p               pause, and go on\n"
                    "  Ctrl-Z          suspend\n"));
    top->callback([seconds, &run] {
        run = [seconds] { return run_top({.interval = std::chrono::duration<double>(*seconds)}); };
    });
}

}  // namespace andon::app
