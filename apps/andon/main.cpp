#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include "exit_status.hpp"
#include "gateway/config/config.hpp"
#include "subcommands.hpp"

namespace {

constexpr const char* about = "Stop that stops: cancellation for the Model Context Protocol, in front of any server.";

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): a reader that left is an error of write()
    CLI::App app(about, "andon");
    app.set_version_flag("--version", "andon " ANDON_VERSION);
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "The help of every subcommand");
    andon::app::chosen run;
    andon::app::add_config(app, run);
    andon::app::add_gateway(app, run);
    andon::app::add_log(app, run);
    andon::app::add_ps(app, run);
    andon::app::add_stop(app, run);
    andon::app::add_top(app, run);
    andon::app::add_wrap(app, run);
#ifndef ANDON_ONLY_RELAYS
    andon::app::add_call(app, run);
    andon::app::add_check(app, run);
    andon::app::add_completion(app, run);
    andon::app::add_man(app, run);
    andon::app::add_tasks(app, run);
    andon::app::add_tools(app, run);
#endif
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error, std::cout, std::cerr);
        return code == 0 ? andon::app::exit_status::ok : andon::app::exit_status::usage;
    }
    try {
        return run();
    } catch (const andon::gateway::config_error& error) {
        for (const std::string& each : error.problems()) std::fprintf(stderr, "andon: %s\n", each.c_str());
        return andon::app::exit_status::usage;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "andon: %s\n", error.what());
        return andon::app::exit_status::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "andon: %s\n", error.what());
        return andon::app::exit_status::failed;
    }
}
