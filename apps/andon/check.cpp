// The command line of `andon check`. What it does is in run_check.cpp.
#include "check.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr const char* about = "Tests how a server cancels, rule by rule; with --client, how a client does";

constexpr const char* footer = R"(
SERVER is a command after --, the same as one string, or an http(s) URL. With --url the command is started and
reached there; {port} in both stands for a port that is free. Each probe has a server process of its own, but for a
server at a URL. Tools that look slow are called to find one; with --tool only that one is.

Examples:
  andon check -- npx -y @modelcontextprotocol/server-everything
  andon check "python3 server.py" --tool sleep --args '{"seconds":60}'
  andon check http://127.0.0.1:8080/mcp --header "Authorization: Bearer TOKEN"
  andon check --url http://127.0.0.1:{port}/mcp -- ./server --http {port}
  andon check --junit check.xml --era modern -- ./server          in CI
  andon check --client -- ./client                                ANDON_CHECK_SERVER has the server's command
  andon check --client --http 8080                                drive the client by hand, then Ctrl-C

Exit status:
  0    no MUST and no SHOULD is broken, as far as it can be seen
  1    one is, or nothing at all could be seen
  2    the command line is wrong, or the server has no tool of the name
  3    the server cannot be started or reached, or the port cannot be had
  130  Ctrl-C ended it
)";

}  // namespace

void add_check(CLI::App& app, chosen& run) {
    auto asked = std::make_shared<check_request>();
    CLI::App* const check = app.add_subcommand("check", about);
    check->footer(footer);
    check->add_option("SERVER", asked->server, "The server under test: a command, or a URL");
    check->add_option("--url", asked->url, "Where the command serves over HTTP");
    check->add_option("--header", asked->headers, "For every HTTP request, as 'Name: value'; more than once")
        ->take_all()
        ->allow_extra_args(false);
    check->add_option("--ca", asked->ca_file, "A file of certificates to trust")->check(CLI::ExistingFile);
    check->add_option("--pid", asked->pid, "The process of the server at the URL, to see whether its work stops")
        ->check(CLI::PositiveNumber);
    check->add_option("--tool", asked->tool, "The slow tool; no other is called");
    check->add_option("--args", asked->arguments, "Its arguments, as JSON, so that it takes long");
    check->add_option("--timeout", asked->timeout, "Seconds for one probe; with --client and a command, for all of it")
        ->capture_default_str()
        ->check(CLI::Range(1., 3600.));
    check->add_option("--rules", asked->rules, "Only these, as RCV-3,MSG-1")
        ->type_name("RULE")
        ->delimiter(',')
        ->allow_extra_args(false);
    check->add_option("--era", asked->era, "legacy, modern or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"legacy", "modern", "both"}));
    check->add_option("--jobs", asked->jobs, "Probes at once, where each has its own server")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    check->add_flag("--json", asked->json, "One JSON object on standard output");
    check->add_flag("--markdown", asked->markdown, "A table in Markdown");
    check->add_option("--junit", asked->junit, "Writes JUnit XML to this file too")->type_name("FILE");
    check->add_flag("-v,--verbose", asked->verbose, "Says what it does, and cuts no evidence");
    check->add_flag("--list", asked->list, "Lists all probes");
    check->add_flag("--client", asked->client, "Tests a client: andon is the server");
    check->add_option("--http", asked->http_port, "With --client: serves on this port of 127.0.0.1; 0 is any")
        ->check(CLI::Range(0, 65535));
    check->add_option("--report", asked->report, "With --client: writes the report to this file")->type_name("FILE");
    check->callback([asked, &run] { run = [asked] { return run_check(*asked); }; });
}

}  // namespace andon::app
