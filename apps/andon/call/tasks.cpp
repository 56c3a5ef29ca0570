#include "call/client_command.hpp"
#include "call/task_work.hpp"
#include "duration_option.hpp"

namespace andon::app {
namespace {

constexpr std::string_view list_examples = "  andon tasks list https://example.com/mcp --bearer-env TOKEN\n";
constexpr std::string_view follow_examples = "  andon tasks follow https://example.com/mcp 66f2c1...\n";
constexpr std::string_view cancel_examples = "  andon tasks cancel https://example.com/mcp 66f2c1...\n";

void add_id(const client_command<task_request>& to) {
    to.app->add_option("ID", to.asked->id, "The id of the task")->required();
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
    const auto list = add_client_command<task_request>(*tasks, run, "list", "List them, where the server says so",
                                                       list_examples, &list_tasks);
    add_patience_option(*list.app, list.asked->session);

    const auto follow = add_client_command<task_request>(
        *tasks, run, "follow", "Follow one to its end, and show its result; Ctrl-C leaves it alone", follow_examples,
        &follow_task);
    add_id(follow);
    add_duration(*follow.app, "--max-timeout", follow.asked->leave_after,
                 "Follow it for this long at most, and leave it to itself then (no limit)");
    add_log_option(*follow.app, follow.asked->session);

    const auto cancel = add_client_command<task_request>(*tasks, run, "cancel", "Stop one, and say what became of it",
                                                         cancel_examples, &cancel_task);
    add_id(cancel);
    add_patience_option(*cancel.app, cancel.asked->session);
}

}  // namespace andon::app
