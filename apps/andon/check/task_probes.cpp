#include "check/task_probes.hpp"

#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "andon/wire/error.hpp"

namespace andon::check {
namespace {

/// Asks until the task is in that state.
bool becomes(session& with, std::string_view id, std::string_view wanted, milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (state_of(with, id) != wanted) {
        if (std::chrono::steady_clock::now() > until) return false;
        with.listen(milliseconds(50));
    }
    return true;
}

std::string in_quotes(const std::string& text) { return "'" + visible_text(text, 60) + "'"; }

}  // namespace

json::object about_task(std::string_view id) { return {{"taskId", id}}; }

made_task make_task(session& with, const trial& t, std::string raw_id, milliseconds time) {
    if (!t.known.task) {
        throw unobservable(t.modern() ? "the server declares no tasks, or no tool that was tried makes one"
                                      : "the server has no tools that run as tasks");
    }
    with.call(raw_id, t.known.task->name, t.known.task->arguments(time), {.progress = false, .task = !t.modern()});
    const json::object* const said = with.answer(raw_id, t.patience);
    if (said == nullptr) throw server_hangs("a call that makes a task is not answered");
    std::string id = t.modern() ? text_at(*said, {"result", "taskId"}) : text_at(*said, {"result", "task", "taskId"});
    if (id.empty()) throw unobservable("'" + t.known.task->name + "' made no task this time: " + in_words(*said));
    return {std::move(raw_id), std::move(id)};
}

std::string state_of(session& with, std::string_view id) {
    return text_at(with.ask("tasks/get", about_task(id)), {"result", "status"});
}

void end_task(session& with, std::string_view id) { (void)with.ask("tasks/cancel", about_task(id)); }

finding task_is_cancelled(const trial& t) {
    const auto with = t.open(true);
    const made_task task = make_task(*with, t, "1");
    const json::object said = with->ask("tasks/cancel", about_task(task.id));
    if (result_of(said) == nullptr) return fail("tasks/cancel of a task at work was answered with " + in_words(said));
    if (text_at(said, {"result", "taskId"}) != task.id) return fail("the answer to tasks/cancel is not the task");
    const std::string state = text_at(said, {"result", "status"});
    if (state != "cancelled") return fail("the answer to tasks/cancel says " + in_quotes(state));
    const std::string then = state_of(*with, task.id);
    if (then != "cancelled") return fail("after tasks/cancel was answered the task is " + in_quotes(then));
    return pass("the answer is the task, and both it and tasks/get say 'cancelled'");
}

finding ended_task_is_refused(const trial& t) {
    const auto with = t.open(true);
    const made_task task = make_task(*with, t, "1");
    end_task(*with, task.id);
    const json::object again = with->ask("tasks/cancel", about_task(task.id));
    if (code_of(again) != error_code::invalid_params) {
        return fail("tasks/cancel of a cancelled task was answered with " + in_words(again) + ", not -32602");
    }
    const json::object unknown = with->ask("tasks/cancel", about_task("andon-check-no-such-task"));
    if (code_of(unknown) != error_code::invalid_params) {
        return fail("tasks/cancel of an unknown task was answered with " + in_words(unknown) + ", not -32602");
    }
    return pass("a task that has ended, and one that never was: both -32602");
}

finding task_stays_cancelled(const trial& t) {
    const auto with = t.open(true);
    constexpr milliseconds time{1200};
    const made_task task = make_task(*with, t, "1", time);
    end_task(*with, task.id);
    if (!becomes(*with, task.id, "cancelled", t.patience)) {
        return fail("after tasks/cancel the task is " + in_quotes(state_of(*with, task.id)));
    }
    with->listen(time + milliseconds(800));
    const std::string state = state_of(*with, task.id);
    if (state != "cancelled") return fail("a cancelled task became " + in_quotes(state));
    return pass(t.known.task->adjustable() ? "still 'cancelled' when its work would have ended"
                                           : "still 'cancelled' after 2 s");
}

finding task_is_acknowledged(const trial& t) {
    const auto with = t.open(true);
    const made_task task = make_task(*with, t, "1");
    const json::object said = with->ask("tasks/cancel", about_task(task.id));
    const json::object* const result = result_of(said);
    if (result == nullptr) return fail("tasks/cancel of a task at work was answered with " + in_words(said));
    if (text_at(*result, {"resultType"}) != "complete") return fail("the answer has no resultType \"complete\"");
    for (const auto& [key, value] : *result) {
        if (key != "resultType" && key != "_meta")
            return fail("the answer is not empty: it has " + in_quotes(std::string(key)));
    }
    const json::object unknown = with->ask("tasks/cancel", about_task("andon-check-no-such-task"));
    if (code_of(unknown) == 0) return fail("tasks/cancel of an unknown task was answered with " + in_words(unknown));
    const auto without = t.open(false);
    const json::object undeclared = without->ask("tasks/cancel", about_task(task.id));
    if (code_of(undeclared) != error_code::missing_client_capability) {
        return fail("a client that did not declare the extension got " + in_words(undeclared) + ", not -32021");
    }
    return pass("acknowledged with an empty result; unknown: " + std::to_string(code_of(unknown)) +
                "; not declared: -32021");
}

finding task_ids_are_unguessable(const trial& t) {
    const auto with = t.open(true);
    std::vector<std::string> ids;
    for (const char* raw_id : {"1", "2", "3"}) ids.push_back(make_task(*with, t, raw_id).id);
    for (const std::string& each : ids) end_task(*with, each);
    constexpr std::size_t shortest = 16;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i].size() < shortest) return fail("the id " + in_quotes(ids[i]) + " is short enough to be guessed");
        for (std::size_t k = 0; k < i; ++k) {
            std::size_t different = 0;
            for (std::size_t at = 0; at < std::min(ids[i].size(), ids[k].size()); ++at)
                different += ids[i][at] != ids[k][at] ? 1U : 0U;
            if (different < shortest / 2)
                return fail("the ids " + in_quotes(ids[k]) + " and " + in_quotes(ids[i]) + " hardly differ");
        }
    }
    return pass("three ids of " + std::to_string(ids.front().size()) + " characters that have little in common");
}

finding task_work_stops(const trial& t) {
    const auto with = t.open(true);
    const auto idle = with->processes();
    if (!idle) return not_observable("the processes of a server at a URL cannot be seen: give --pid");
    const made_task task = make_task(*with, t, "1");
    with->listen(milliseconds(200));
    constexpr milliseconds window{500};
    const load busy = load_of(*with, window);
    const auto working = with->processes();
    const bool children = working->processes() > idle->processes();
    end_task(*with, task.id);
    const bool was_busy = busy.used > busy.of / 20;
    if (!children && !was_busy) return not_observable("'" + t.known.task->name + "' shows nothing while it works");
    with->wait([&] { return children && with->processes()->processes() <= idle->processes(); }, milliseconds(1000));
    load still = load_of(*with, window);
    const bool is_busy = was_busy && works_on(*with, busy, still);
    const auto after = with->processes();
    const std::string words = t.known.task->name + ": processes " + std::to_string(idle->processes()) + " idle, " +
                              std::to_string(working->processes()) + " at work, " + std::to_string(after->processes()) +
                              " after; processor " + busy.words() + " at work, " + still.words() + " after";
    return is_busy || after->processes() > idle->processes() ? fail(words) : pass(words);
}

}  // namespace andon::check
