#include "call/call_tool.hpp"
#include "call/client_command.hpp"

namespace andon::app {
namespace {

constexpr std::string_view examples =
    "  andon call \"npx -y some-server --option\" echo message=hello\n"
    "  andon call https://example.com/mcp find query=andon --bearer-env TOKEN\n"
    "  andon call ./server resize '{\"width\": 640}' --timeout 30s\n"
    "  andon call ./server resize width=640 sizes:='[1, 2]' --json\n"
    "  andon call ./server import @arguments.json\n"
    "  andon call https://example.com/mcp report --detach\n";

}  // namespace

void add_call(CLI::App& app, chosen& run) {
    const auto [sub, asked] = add_client_command<call_request>(
        app, run, "call", "Call a tool of a server; Ctrl-C cancels the call", examples, &call_tool);
    sub->add_option("TOOL", asked->tool, "The name of the tool")->required();
    sub->add_option(
        "ARGUMENTS", asked->words,
        "A JSON object, @FILE or - (standard input) for one; or key=value pairs, typed by the tool's schema; "
        "key:=JSON takes JSON as it is");
    add_time_options(*sub, asked->session);
    sub->add_flag("--task", asked->task, "Run it as a task, and follow it");
    sub->add_flag("--detach", asked->detach, "Run it as a task, print its id, and leave it to itself");
}

}  // namespace andon::app
