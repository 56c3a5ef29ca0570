// A subcommand that is a client for people: call, tools, those of tasks.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "call/session_options.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {

template <class Request>
struct client_command {
    CLI::App* app;
    std::shared_ptr<Request> asked;
};

/// With SERVER, and everything that they have in common. `work` gives the exit status.
template <class Request>
client_command<Request> add_client_command(CLI::App& to, chosen& run, const std::string& name, const std::string& about,
                                           std::string_view examples, int (*work)(const Request&)) {
    auto asked = std::make_shared<Request>();
    CLI::App* const sub = to.add_subcommand(name, about);
    add_session_options(*sub, asked->session);
    sub->footer(help_footer(examples, call_statuses));
    sub->callback([asked, &run, work] { run = [asked, work] { return work(*asked); }; });
    return {sub, asked};
}

}  // namespace andon::app
