#include <CLI/CLI.hpp>

#include "exit_status.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "texts/command_model.hpp"
#include "texts/man_page.hpp"

namespace andon::app {

void add_man(CLI::App& app, chosen& run) {
    CLI::App* const sub = app.add_subcommand("man", "Print the man page, in roff");
    sub->footer(help_footer("  andon man | man -l -\n  andon man >/usr/local/share/man/man1/andon.1\n",
                            "  0    it was printed\n"));
    sub->callback([&run, &app] {
        run = [&app] {
            print(man_page(model_of(app)));
            return exit_status::ok;
        };
    });
}

}  // namespace andon::app
