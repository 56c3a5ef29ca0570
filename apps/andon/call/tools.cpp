#include <CLI/CLI.hpp>
#include <memory>

#include "call/session_options.hpp"
#include "call/tool_list.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr std::string_view examples =
    "  andon tools \"npx -y @modelcontextprotocol/server-everything\"\n"
    "  andon tools https://example.com/mcp search\n"
    "  andon tools ./server --json\n";

}  // namespace

void add_tools(CLI::App& app, chosen& run) {
    auto asked = std::make_shared<tools_request>();
    CLI::App* const sub = app.add_subcommand("tools", "List the tools of a server, or show one with its schema");
    add_session_options(*sub, asked->session);
    sub->add_option("TOOL", asked->tool, "Show only this one, with all that is known of it");
    sub->footer(help_footer(examples, call_statuses));
    sub->callback([asked, &run] { run = [asked] { return show_tools(*asked); }; });
}

}  // namespace andon::app
