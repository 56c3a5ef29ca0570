#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <sstream>
#include <unistd.h>

#include "command_line.hpp"
#include "exit_status.hpp"
#include "gateway/config/config.hpp"
#include "help_format.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"

namespace {

using andon::app::exit_status;

constexpr const char* about = "Stop that stops: MCP cancellation made real, in front of any server";

constexpr const char* examples =
    "  andon wrap -- npx -y some-server     in a host's configuration\n"
    "  andon ps                             what is in flight\n"
    "  andon stop --tool index --wait       stop it, and see that it stopped\n"
    "  andon log                            what became of calls\n"
    "  andon call ./server echo text=hello  call a tool; Ctrl-C cancels it\n"
    "  andon check -- ./server              whether a server keeps the rules\n";

constexpr const char* notes = "`andon SUBCOMMAND --help` says more, and `andon man | man -l -` everything.\n";

/// In the order in which somebody needs them.
void add_subcommands(CLI::App& app, andon::app::chosen& run) {
    andon::app::add_wrap(app, run);
    andon::app::add_gateway(app, run);
    andon::app::add_ps(app, run);
    andon::app::add_stop(app, run);
    andon::app::add_log(app, run);
    andon::app::add_top(app, run);
#ifndef ANDON_ONLY_RELAYS
    andon::app::add_call(app, run);
    andon::app::add_tools(app, run);
    andon::app::add_tasks(app, run);
    andon::app::add_check(app, run);
#endif
    andon::app::add_config(app, run);
#ifndef ANDON_ONLY_RELAYS
    andon::app::add_completion(app, run);
    andon::app::add_man(app, run);
#endif
}

int fault(const std::string& words, int status) {
    std::fprintf(stderr, "andon: %s\n", words.c_str());
    return status;
}

/// Prints the help where that was asked for.
int say_what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
        std::ostringstream out;
        static_cast<void>(app.exit(error, out, std::cerr));
        andon::app::print(out.str());
        return exit_status::ok;
    }
    std::string words = andon::app::without_marks(error.what());
    // Of two faults the one that made the other: an option that is misspelt was not given.
    const bool all_parsed = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                            dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (const std::string wrong = all_parsed ? andon::app::unknown_option(app) : ""; !wrong.empty()) words = wrong;
    const std::string command = andon::app::parsed_command(app);
    if (!words.ends_with('?') && words.find("--") == std::string::npos) words += "; see " + command + " --help";
    std::cerr << command << ": " << words << '\n';
    return exit_status::usage;
}

/// What is opened next would take their place: a result could go into a pipe of our own. /dev/null does, in a way in
/// which writing to it fails as before.
void refuse_writing_to_closed_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
    }
}

int run_command(int argc, char** argv) {
    CLI::App app(about, "andon");
    app.set_version_flag("--version", "andon " ANDON_VERSION);
    app.require_subcommand(1);
    app.formatter(std::make_shared<andon::app::help_format>());
    app.footer(andon::app::help_footer(examples, andon::app::call_statuses, notes));
    andon::app::chosen run;
    add_subcommands(app, run);
    app.set_help_all_flag("--help-all", "The help of every subcommand");  // behind them, who would inherit it
    andon::app::take_marks_off(app);
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) {
        std::cerr << app.help();
        return exit_status::usage;
    }
    if (const std::string wrong = andon::app::unknown_subcommand(app, words); !wrong.empty()) {
        return fault(wrong, exit_status::usage);
    }
    if (const std::string wrong = andon::app::missing_dashes(app, words); !wrong.empty()) {
        return fault(wrong, exit_status::usage);
    }
    try {
        words = andon::app::mark_brackets(std::move(words));
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        return say_what_is_wrong(app, error);
    }
    try {
        return run();
    } catch (const andon::gateway::config_error& error) {
        for (const std::string& each : error.problems()) fault(each, exit_status::usage);
        return exit_status::usage;
    } catch (const std::invalid_argument& error) {
        return fault(error.what(), exit_status::usage);
    } catch (const std::exception& error) {
        return fault(error.what(), exit_status::failed);
    }
}

}  // namespace

int main(int argc, char** argv) {
    refuse_writing_to_closed_streams();
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): a reader that left is an error of write()
    const int status = run_command(argc, argv);
    if (andon::app::all_was_printed()) return status;
    return fault("standard output cannot be written to", exit_status::failed);
}
