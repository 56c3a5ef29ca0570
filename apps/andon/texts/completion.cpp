#include <CLI/CLI.hpp>
#include <memory>

#include "exit_status.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"
#include "texts/command_model.hpp"
#include "texts/completion_words.hpp"

namespace andon::app {
namespace {

constexpr std::string_view examples =
    "  source <(andon completion bash)\n"
    "  andon completion bash >~/.local/share/bash-completion/completions/andon\n"
    "  andon completion zsh >~/.zfunc/_andon\n";

constexpr std::string_view statuses =
    "  0    it was printed\n"
    "  2    the command line is wrong\n";

/// What the scripts ask, at every press of the key.
void add_complete(CLI::App& app, chosen& run) {
    auto line = std::make_shared<std::string>();
    CLI::App* const hidden = app.add_subcommand("__complete", "What can stand next")->group("");
    hidden->add_option("LINE", *line);
    hidden->callback([line, &run, &app] {
        run = [line, &app] {
            print(completion_words(model_of(app), *line));
            return exit_status::ok;
        };
    });
}

}  // namespace

void add_completion(CLI::App& app, chosen& run) {
    auto shell = std::make_shared<std::string>();
    CLI::App* const sub = app.add_subcommand("completion", "Print the script that completes andon in a shell");
    sub->add_option("SHELL", *shell, "Which shell")->required()->check(CLI::IsMember({"bash", "zsh"}));
    sub->footer(help_footer(examples, statuses));
    sub->callback([shell, &run] {
        run = [shell] {
            print(completion_script(*shell));
            return exit_status::ok;
        };
    });
    add_complete(app, run);
}

}  // namespace andon::app
