// andon log: the command line. What is done is in show_log.cpp.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "andon/core/visible_text.hpp"
#include "command_line.hpp"
#include "duration_option.hpp"
#include "gateway/journal/journal_reader.hpp"
#include "help_text.hpp"
#include "records/show_log.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr const char* examples =
    "  andon log                        the last 20 calls, of all andons\n"
    "  andon log --follow               and those that end from now on\n"
    "  andon log --ignored --since 1h   ignored cancels, of the last hour\n"
    "  andon log -n 1000 --json | jq 'select(.time_to_stop_ms > 500)'\n";
constexpr const char* notes =
    "A line: when it ended, <pid of andon>.<number>, server, what was called,\n"
    "what became of it, how long it took; then who asked it to stop and why,\n"
    "how long that took and how it was seen, what was dropped or killed.\n"
    "Calls that were simply answered are kept where the configuration says\n"
    "every_call, or the command line --journal-every-call.\n";
constexpr const char* statuses =
    "  0    shown, or followed until Ctrl-C\n"
    "  1    the journal cannot be read\n"
    "  2    the command line or the configuration is wrong\n";

std::string end_check(const std::string& text) {
    if (gateway::parse_call_end(text)) return "";
    return "expected is completed, failed, cancelled, \"timed out\", \"stopped by operator\", disconnected, crashed or "
           "refused";
}

}  // namespace

void add_log(CLI::App& app, chosen& run) {
    CLI::App* const log = app.add_subcommand("log", "Show the journal: what became of the calls that are over");
    struct options {
        log_request request;
        std::optional<duration> since;
        std::string end;
    };
    const auto given = std::make_shared<options>();
    log_request& request = given->request;
    log->add_flag("-f,--follow", request.follow, "Go on with those that end from now on, until Ctrl-C");
    log->add_option("-n", request.most, "How many of those that are there, the newest")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{0}, std::size_t{10'000'000}).description(""))
        ->capture_default_str();
    log->add_option("--server", request.filter.server, "Only of this server")->type_name("NAME");
    log->add_option("--tool", request.filter.tool, "Only of this tool (or prompt, or resource)")->type_name("TOOL");
    log->add_option("--end", given->end, "Only with this end, as \"timed out\"")->type_name("END")->check(end_check);
    add_duration(*log, "--since", given->since, "Only those that ended within this time, as 30m, 1h or 2d",
                 duration::zero());
    log->add_flag("--ignored", request.filter.ignored, "Only those whose cancel was ignored");
    log->add_flag("--json", request.json, "For programs: one object a line");
    log->add_option("--config", request.config, "Configuration that says where the journal is")
        ->type_name("FILE")
        ->check(expect_name);
    log->footer(help_footer(examples, statuses, notes));
    log->callback([given, &run] {
        if (given->since) {
            given->request.filter.since =
                std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::milliseconds>(*given->since);
        }
        given->request.filter.tool = visible_text(given->request.filter.tool, gateway::longest_tool_name);
        if (!given->end.empty()) given->request.filter.end = gateway::parse_call_end(given->end);
        run = [given] { return show_log(given->request); };
    });
}

}  // namespace andon::app
