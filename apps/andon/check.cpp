// The command line of `andon check`. What it does is in run_check.cpp.
#include "check.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "call/server_options.hpp"
#include "duration_option.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr const char* about = "Test how a server cancels, rule by rule; with --client, how a client does";

constexpr const char* examples =
    "  andon check -- npx -y @modelcontextprotocol/server-everything\n"
    "  andon check files                  one that the configuration names\n"
    "  andon check \"python3 server.py\" --tool sleep --args '{\"seconds\":2}'\n"
    "  andon check https://example.com/mcp --bearer-env TOKEN\n"
    "  andon check --url http://127.0.0.1:{port}/mcp -- ./server --http {port}\n"
    "  andon check --junit check.xml --era modern -- ./server          in CI\n"
    "  andon check --client -- ./client   which starts $ANDON_CHECK_SERVER\n"
    "  andon check --client --http 8080   drive it by hand, then Ctrl-C\n";

constexpr const char* notes =
    "With --url the command is started and reached there; {port} in both\n"
    "stands for a port that is free. Each probe has a server process of its\n"
    "own, but for a server at a URL. Tools that look slow are called to find\n"
    "one; with --tool only that one is.\n";

constexpr const char* statuses =
    "  0    no MUST and no SHOULD is broken, as far as it can be seen\n"
    "  1    one is, or nothing at all could be seen\n"
    "  2    the command line is wrong, or the server has no tool of the name\n"
    "  3    the server cannot be started or reached, or the port cannot be had\n"
    "  130  Ctrl-C ended it\n";

}  // namespace

void add_check(CLI::App& app, chosen& run) {
    auto asked = std::make_shared<check_request>();
    CLI::App* const check = app.add_subcommand("check", about);
    check->footer(help_footer(examples, statuses, notes));
    check->add_option("SERVER", asked->server,
                      "The server under test: a command, behind --; a URL; or a name from the configuration");
    add_access_options(*check, asked->access);
    check->add_option("--url", asked->url, "Where the command serves over HTTP")->type_name("URL");
    check->add_option("--pid", asked->pid, "The process of the server at the URL, to see whether its work stops")
        ->check(CLI::PositiveNumber.description(""))
        ->type_name("PID");
    check->add_option("--tool", asked->tool, "The slow tool; no other is called")->type_name("TOOL");
    check->add_option("--args", asked->arguments, "Its arguments, as JSON, so that it takes long")->type_name("JSON");
    add_duration_or_seconds(*check, "--timeout", asked->timeout,
                            "For one probe (30s); with --client and a command, for all of it", std::chrono::seconds(1),
                            std::chrono::hours(1));
    check->add_option("--rules", asked->rules, "Only these, as RCV-3,MSG-1")
        ->type_name("RULE")
        ->delimiter(',')
        ->allow_extra_args(false);
    check->add_option("--era", asked->era, "legacy, modern or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"legacy", "modern", "both"}));
    check->add_option("--jobs", asked->jobs, "Probes at once, where each has its own server")
        ->capture_default_str()
        ->check(CLI::Range(1, 64).description(""))
        ->type_name("N");
    check->add_flag("--json", asked->json, "One JSON object on standard output");
    check->add_flag("--markdown", asked->markdown, "A table in Markdown");
    check->add_option("--junit", asked->junit, "Writes JUnit XML to this file too")->type_name("FILE");
    check->add_flag("-v,--verbose", asked->verbose, "Says what it does, and cuts no evidence");
    check->add_flag("--list", asked->list, "Lists all probes");
    check->add_flag("--client", asked->client, "Tests a client: andon is the server");
    check->add_option("--http", asked->http_port, "With --client: serves on this port of 127.0.0.1; 0 is any")
        ->check(CLI::Range(0, 65535).description(""))
        ->type_name("PORT");
    check->add_option("--report", asked->report, "With --client: writes the report to this file")->type_name("FILE");
    check->callback([asked, &run] { run = [asked] { return run_check(*asked); }; });
}

}  // namespace andon::app
