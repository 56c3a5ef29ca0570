#include "call/task_work.hpp"

#include <algorithm>
#include <chrono>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "call/safe_text.hpp"
#include "call/time_to_leave.hpp"
#include "exit_status.hpp"
#include "gateway/plain_json.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

using std::chrono::steady_clock;

std::string id_text(const json::object& task) { return visible_text(text_in(task, "taskId"), 128); }

std::string task_table(const json::array& tasks, const palette& paint) {
    std::size_t widest = 2;
    for (const json::value& each : tasks) {
        if (each.is_object()) widest = std::max(widest, width_of(id_text(each.get_object())));
    }
    std::string text =
        paint(colour::bold, fit("ID", widest) + "  " + fit("STATUS", 14) + "  " + fit("CREATED", 24) + "  MESSAGE") +
        '\n';
    for (const json::value& each : tasks) {
        if (!each.is_object()) continue;
        const json::object& task = each.get_object();
        std::string line = fit(id_text(task), widest) + "  " + fit(visible_text(text_in(task, "status"), 32), 14) +
                           "  " + fit(visible_text(text_in(task, "createdAt"), 48), 24) + "  " +
                           visible_text(text_in(task, "statusMessage"), 400);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

}  // namespace

int list_tasks(const task_request& asked) {
    task_request legacy(asked);
    // Only this revision has a list; a server that speaks a newer one may speak it too.
    if (legacy.session.server.revision.empty()) legacy.session.server.revision = to_string(revision::v2025_11_25);
    call_session session(legacy.session);
    return session.run([&](client& server) {
        session.display().doing("listing tasks");
        json::array tasks;
        try {
            tasks = server.list_tasks();
        } catch (const rpc_error& error) {
            if (error.code() != error_code::method_not_found) throw;
            throw rpc_error(error.code(), "this server lists no tasks, or not to somebody it does not know: " +
                                              std::string(error.what()));
        }
        session.answered();
        const palette paint(on_terminal() && colours_wanted());
        if (asked.session.json) {
            print(gateway::plain_json(tasks) + '\n');
        } else if (tasks.empty()) {
            session.display().say("andon: the server has no tasks of yours", true);
        } else {
            print(task_table(tasks, paint));
        }
        return exit_status::ok;
    });
}

int follow_task(const task_request& asked) {
    call_session session(asked.session);
    session.report().subject["task"] = asked.id;
    return session.run([&](client& server) {
        call_display& display = session.display();
        display.doing("task " + asked.id);
        const auto began = steady_clock::now();
        const auto leave = [&](std::string_view kind, const std::string& why, int status) {
            const std::string left = why + "; the task goes on, and `andon tasks cancel` stops it";
            ::_exit(session.report().show_fault(kind, left, status, display));
        };
        session.signals().on_stop([&] { leave("left", "left", exit_status::cancelled); });
        display.say("following task " + visible_text(asked.id, 200));
        const pending_task pending = server.follow_task(asked.id, session.following());
        const call_outcome outcome = [&] {
            const time_to_leave timer(asked.leave_after,
                                      [&] { leave("timed_out", "the time is over", exit_status::timed_out); });
            return pending.get();
        }();
        session.signals().on_stop([] {});
        session.report().calling = steady_clock::now() - began;
        return session.report().show(outcome, display);
    });
}

int cancel_task(const task_request& asked) {
    call_session session(asked.session);
    session.report().subject["task"] = asked.id;
    return session.run([&](client& server) {
        session.display().doing("cancelling task");
        const auto began = steady_clock::now();
        const call_outcome answer = server.cancel_task(asked.id).get();
        session.report().calling = steady_clock::now() - began;
        session.answered();
        if (!answer.completed()) return session.report().show(answer, session.display());
        const task_end end = session.end_of_task(asked.id);
        if (asked.session.json) {
            json::object all(session.report().subject);
            all["status"] = end.cancelled ? "cancelled" : "asked";
            all["task_status"] = end.state;
            print(gateway::plain_json(all) + '\n');
        } else {
            print("the task is " + end.state + '\n');
        }
        return end.cancelled ? exit_status::ok : exit_status::failed;
    });
}

}  // namespace andon::app
