// andon config: the command line. What is done is in config_actions.cpp.
#include <CLI/CLI.hpp>
#include <memory>

#include "command_line.hpp"
#include "help_text.hpp"
#include "records/config_actions.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr const char* where =
    "The file is looked for in this order: --config FILE (or the FILE that is\n"
    "named), $ANDON_CONFIG, $XDG_CONFIG_HOME/andon/andon.toml,\n"
    "~/.config/andon/andon.toml, /etc/andon/andon.toml. None is fine.\n";

constexpr const char* statuses =
    "  0    done, and the file is good\n"
    "  1    it could not be done; check: a command or a folder is not there\n"
    "  2    the command line or the file is wrong, or a certificate that it names\n";

std::string footer(const char* examples) { return help_footer(examples, statuses, where); }

}  // namespace

void add_config(CLI::App& app, chosen& run) {
    CLI::App* const config = app.add_subcommand("config", "Write, check and show andon's configuration, one TOML file");
    config->require_subcommand(1);
    config->footer(footer("  andon config init\n  andon config check\n  andon config show --json\n"));

    struct options {
        std::string file;
        bool force = false;
        bool json = false;
    };
    const auto given = std::make_shared<options>();

    CLI::App* const init =
        config->add_subcommand("init", "Write a commented example in which every key stands with its default");
    init->add_option("FILE", given->file, "Where to; - is standard output. Else $ANDON_CONFIG, or your own andon.toml");
    init->add_flag("--force", given->force, "Also over a file that is there");
    init->footer(footer("  andon config init\n  andon config init ./andon.toml\n  andon config init - | less\n"));
    init->callback([given, &run] { run = [given] { return init_config(given->file, given->force); }; });

    CLI::App* const check = config->add_subcommand("check", "Say everything that is wrong with the file, by line");
    check->add_option("FILE,--config", given->file, "Which file")->type_name("FILE")->check(expect_name);
    check->add_flag("--json", given->json, "For programs: one object");
    check->footer(footer("  andon config check\n  andon config check ./andon.toml\n"));
    check->callback([given, &run] { run = [given] { return check_config(given->file, given->json); }; });

    CLI::App* const show = config->add_subcommand("show", "Show what is in effect, defaults included");
    show->add_option("--config", given->file, "Which file")->type_name("FILE")->check(expect_name);
    show->add_flag("--json", given->json, "As JSON instead of TOML");
    show->footer(footer("  andon config show\n  andon config show --json | jq .servers\n"));
    show->callback([given, &run] { run = [given] { return show_config(given->file, given->json); }; });

    CLI::App* const path = config->add_subcommand("path", "Say which file is used");
    path->add_option("--config", given->file, "Which file")->type_name("FILE")->check(expect_name);
    path->footer(footer("  $EDITOR \"$(andon config path)\"\n"));
    path->callback([given, &run] { run = [given] { return show_config_path(given->file); }; });
}

}  // namespace andon::app
