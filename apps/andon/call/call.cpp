#include <CLI/CLI.hpp>
#include <memory>

#include "call/call_tool.hpp"
#include "call/session_options.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr std::string_view examples =
    "  andon call \"npx -y @modelcontextprotocol/server-everything\" echo message=hello\n"
    "  andon call https://example.com/mcp search query=andon limit=3 --bearer-env TOKEN\n"
    "  andon call ./server resize '{\"width\": 640, \"sizes\": [1, 2]}' --timeout 30s\n"
    "  andon call ./server resize width=640 sizes:='[1, 2]' --json\n"
    "  andon call ./server import @arguments.json\n"
    "  andon call https://example.com/mcp report --detach\n";

}  // namespace

void add_call(CLI::App& app, chosen& run) {
    auto asked = std::make_shared<call_request>();
    CLI::App* const sub = app.add_subcommand("call", "Call a tool of a server; Ctrl-C cancels the call");
    add_session_options(*sub, asked->session);
    sub->add_option("TOOL", asked->tool, "The name of the tool")->required();
    sub->add_option(
        "ARGUMENTS", asked->words,
        "A JSON object, @FILE or - (standard input) for one; or key=value pairs, typed by the tool's schema; "
        "key:=JSON takes JSON as it is");
    add_time_options(*sub, asked->session);
    sub->add_flag("--task", asked->task, "Run it as a task, and follow it");
    sub->add_flag("--detach", asked->detach, "Run it as a task, print its id, and leave it to itself");
    sub->footer(help_footer(examples, call_statuses));
    sub->callback([asked, &run] { run = [asked] { return call_tool(*asked); }; });
}

}  // namespace andon::app
