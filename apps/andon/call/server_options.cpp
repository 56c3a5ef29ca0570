#include "call/server_options.hpp"

#include <CLI/CLI.hpp>

#include "command_line.hpp"

namespace andon::app {
namespace {

constexpr const char* group = "Server";

}  // namespace

void add_server_options(CLI::App& to, server_access& access) {
    to.add_option("SERVER", access.server,
                  "A command in one argument (\"npx some-server --option\"), a URL, or a name from the configuration")
        ->required();
    add_access_options(to, access);
    to.add_option("--revision", access.revision, "Speak only this revision of the protocol; otherwise it is found out")
        ->check(CLI::IsMember({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}))
        ->group(group);
}

void add_access_options(CLI::App& to, server_access& access) {
    to.add_option("--config", access.config, "The file that has the name; see andon config path")
        ->type_name("FILE")
        ->check(expect_name)
        ->group(group);
    to.add_option("--env", access.env, "Set this in the environment of the command; more than once")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->group(group);
    to.add_option("--cwd", access.cwd, "Run the command in this directory")->type_name("DIR")->group(group);
    to.add_option("--header", access.headers, "Send this header with every request to the URL; more than once")
        ->type_name("'NAME: VALUE'")
        ->allow_extra_args(false)
        ->group(group);
    to.add_option("--bearer-env", access.bearer_env,
                  "Send the bearer token that this environment variable has; a token on the command line would be seen "
                  "by everybody on the machine")
        ->type_name("VARIABLE")
        ->group(group);
    to.add_option("--ca-file", access.ca_file, "Trust the certificates in this file (PEM) instead of the system's")
        ->check(CLI::ExistingFile.description(""))
        ->type_name("FILE")
        ->group(group);
}

}  // namespace andon::app
