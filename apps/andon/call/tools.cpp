#include "call/client_command.hpp"
#include "call/tool_list.hpp"

namespace andon::app {
namespace {

constexpr std::string_view examples =
    "  andon tools \"npx -y @modelcontextprotocol/server-everything\"\n"
    "  andon tools https://example.com/mcp search\n"
    "  andon tools ./server --json\n";

}  // namespace

void add_tools(CLI::App& app, chosen& run) {
    const auto [sub, asked] = add_client_command<tools_request>(
        app, run, "tools", "List the tools of a server, or show one with its schema", examples, &show_tools);
    sub->add_option("TOOL", asked->tool, "Show only this one, with all that is known of it");
    add_patience_option(*sub, asked->session);
}

}  // namespace andon::app
