#include <CLI/CLI.hpp>
#include <memory>

#include "call/session_options.hpp"
#include "call/task_work.hpp"
#include "duration_option.hpp"
#include "help_text.hpp"
#include "subcommands.hpp"

namespace andon::app {
namespace {

constexpr std::string_view list_examples = "  andon tasks list https://example.com/mcp --bearer-env TOKEN\n";
constexpr std::string_view follow_examples = "  andon tasks follow https://example.com/mcp 66f2c1...\n";
constexpr std::string_view cancel_examples = "  andon tasks cancel https://example.com/mcp 66f2c1...\n";

void add_one(CLI::App& tasks, chosen& run, const char* name, const char* about, std::string_view examples,
             int (*work)(const task_request&)) {
    auto asked = std::make_shared<task_request>();
    CLI::App* const sub = tasks.add_subcommand(name, about);
    add_session_options(*sub, asked->session);
    if (work != &list_tasks) sub->add_option("ID", asked->id, "The id of the task")->required();
    if (work == &follow_task) {
        add_duration(*sub, "--max-timeout", asked->leave_after,
                     "Follow it for this long at most, and leave it to itself then (no limit)");
        add_log_option(*sub, asked->session);
    }
    sub->footer(help_footer(examples, call_statuses));
    sub->callback([asked, &run, work] { run = [asked, work] { return work(*asked); }; });
}

}  // namespace

void add_tasks(CLI::App& app, chosen& run) {
    CLI::App* const tasks =
        app.add_subcommand("tasks", "Work with the tasks of a server: calls that outlive their requests");
    tasks->require_subcommand(1);
    tasks->footer(
        help_footer("  andon call https://example.com/mcp report --detach\n"
                    "  andon tasks follow https://example.com/mcp 66f2c1...\n",
                    call_statuses));
    add_one(*tasks, run, "list", "List them, where the server says so", list_examples, &list_tasks);
    add_one(*tasks, run, "follow", "Follow one to its end, and show its result; Ctrl-C leaves it alone",
            follow_examples, &follow_task);
    add_one(*tasks, run, "cancel", "Stop one, and say what became of it", cancel_examples, &cancel_task);
}

}  // namespace andon::app
