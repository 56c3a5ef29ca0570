// What can be asked about tasks.
#include <chrono>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "server/next_change.hpp"
#include "server/task_desk.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
namespace {

std::string id_in(const json::object& params) {
    const json::value* const found = params.if_contains("taskId");
    if (found == nullptr || !found->is_string()) {
        throw rpc_error(error_code::invalid_params, "params must have \"taskId\", a string");
    }
    return std::string(found->get_string());
}

task_dialect dialect_of(const call& by) noexcept {
    return policy_of(by.speaks()).tasks_extension ? task_dialect::extension : task_dialect::requested;
}

/// The result as the call itself would have been answered.
task_answer answer_from(std::string_view raw_result) {
    task_answer answer{.raw_members = std::string(raw_result.substr(1, raw_result.size() - 2))};
    constexpr std::string_view meta = R"("_meta":)";
    if (!answer.raw_members.starts_with(meta)) return answer;
    json::object whole = object_from_json(raw_result).value_or(json::object());
    answer.meta = std::move(whole["_meta"].as_object());
    whole.erase("_meta");
    const std::string rest = json_text(whole);
    answer.raw_members = rest.substr(1, rest.size() - 2);
    return answer;
}

}  // namespace

/// What the store has of a task; comes back on the loop.
class task_desk::stored {
public:
    stored(task_desk& at, std::string id, std::string owner) : at_(at), id_(std::move(id)), owner_(std::move(owner)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        at_.keeper_->find(
            id_, owner_,
            [this, waiting](std::optional<task_record> task, std::string_view error) {
                found_ = std::move(task);
                error_ = error;
                at_.around_->loop.post([waiting] { waiting.resume(); });
            },
            false);
        at_.wake_keeper_soon();
    }
    std::optional<task_record> await_resume() {
        if (!error_.empty()) throw rpc_error(error_code::internal_error, error_);
        return std::move(found_);
    }

private:
    task_desk& at_;
    std::string id_;
    std::string owner_;
    std::optional<task_record> found_;
    std::string error_;
};

std::string_view task_desk::owner_of(const call& by) { return by.state_->incoming().by().owner; }

std::shared_ptr<const handler_entry> task_desk::method(std::string_view name, const revision_policy& policy) {
    if (!begun()) return nullptr;
    const bool in_both = name == "tasks/get" || name == "tasks/cancel";
    const bool requested = in_both || name == "tasks/result" || name == "tasks/list";
    const bool extension = in_both || name == "tasks/update";
    if (!(policy.task_requests && requested) && !(policy.tasks_extension && extension)) return nullptr;
    return methods_.at(std::string(name));
}

void task_desk::check(const call& by) const {
    if (dialect_of(by) == task_dialect::extension && !knows_tasks(by.client_capabilities())) throw_tasks_missing();
}

void task_desk::count(const call& by) {
    if (asking_.take(by.state_->incoming().by().counts_for, now())) return;
    throw rpc_error(error_code::internal_error, "too much is asked about tasks: try again later");
}

void task_desk::throw_unknown(const call& by) {
    if (by.name() == "tasks/cancel") count(by);
    throw rpc_error(error_code::invalid_params, "there is no such task, or none any more");
}

std::shared_ptr<live_task> task_desk::find(std::string_view id, std::string_view owner) const {
    const auto found = live_.find(std::string(id));
    return found == live_.end() || found->second->owner() != owner ? nullptr : found->second;
}

/// What was found in the store once a task had ended.
task_record task_desk::checked(std::optional<task_record> found, std::string_view id, const call& by) {
    if (!found) throw_unknown(by);
    if (is_terminal(found->status)) return std::move(*found);
    const auto task = find(id, owner_of(by));
    throw rpc_error(error_code::internal_error, "the end of this task could not be written down yet: " +
                                                    (task ? task->why_not_written() : std::string("try again")));
}

async<task_answer> task_desk::get(json::object params, call& call) {
    check(call);
    count(call);
    const std::string id = id_in(params);
    const task_dialect dialect = dialect_of(call);
    if (const auto task = find(id, owner_of(call)); task && !task->decided()) {
        co_return task_answer{.raw_members = task->members(dialect, options_.poll_interval)};
    }
    const task_record record = checked(co_await stored(*this, id, std::string(owner_of(call))), id, call);
    co_return task_answer{.raw_members = dialect == task_dialect::requested
                                             ? task_members(record, dialect, options_.poll_interval)
                                             : detailed_members(record, {}, options_.poll_interval)};
}

async<task_answer> task_desk::list(json::object params, call& call) {
    count(call);
    task_place after;
    if (const json::value* const cursor = params.if_contains("cursor")) {
        const auto place = cursor->is_string() ? place_from(std::string_view(cursor->get_string())) : std::nullopt;
        if (!place) throw rpc_error(error_code::invalid_params, "the cursor is not one of ours");
        after = *place;
    }
    struct page {
        task_desk& at;
        std::string owner;
        task_place after;
        std::size_t most;
        std::vector<task_record> found{};
        std::string error{};

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiting) {
            at.keeper_->list(owner, after, most,
                             [this, waiting](std::vector<task_record> listed, std::string_view why) {
                                 found = std::move(listed);
                                 error = why;
                                 at.around_->loop.post([waiting] { waiting.resume(); });
                             });
        }
        void await_resume() const {
            if (!error.empty()) throw rpc_error(error_code::internal_error, error);
        }
    };
    constexpr std::size_t page_size = 100;
    page here{.at = *this, .owner = std::string(owner_of(call)), .after = std::move(after), .most = page_size + 1};
    co_await here;
    std::string tasks;
    const std::size_t shown = std::min(here.found.size(), page_size);
    for (std::size_t i = 0; i < shown; ++i) {
        task_record& record = here.found[i];
        if (const auto ends = record.expires(); ends && *ends <= task_now()) continue;
        const auto live = find(record.id, here.owner);
        std::string members;
        if (live && !live->decided()) {
            if (!live->born) continue;  // it may yet be cancelled with its call
            members = live->members(task_dialect::requested, options_.poll_interval);
        } else {
            if (!is_terminal(record.status)) {  // it has ended since the store was asked
                if (auto now = co_await stored(*this, record.id, here.owner)) record = std::move(*now);
                if (!is_terminal(record.status)) record.status_message = "its end could not be written down yet";
            }
            members = task_members(record, task_dialect::requested, options_.poll_interval);
        }
        tasks += (tasks.empty() ? "{" : ",{") + members + '}';
    }
    task_answer answer{.raw_members = R"("tasks":[)" + tasks + ']'};
    if (here.found.size() > shown) {
        const task_record& last = here.found[shown - 1];
        answer.raw_members += R"(,"nextCursor":)" + json_quoted(cursor_of({last.created, last.id}));
    }
    co_return answer;
}

async<task_answer> task_desk::update(json::object params, call& call) {
    check(call);
    count(call);
    const std::string id = id_in(params);
    json::value* const given = params.if_contains("inputResponses");
    if (given == nullptr || !given->is_object()) {
        throw rpc_error(error_code::invalid_params, "params must have \"inputResponses\", an object");
    }
    for (const auto& [name, answer] : given->get_object()) {
        if (!answer.is_object()) {
            throw rpc_error(error_code::invalid_params,
                            "the response to \"" + visible_text(name, 64) + "\" must be an object");
        }
    }
    const auto task = find(id, owner_of(call));
    if (!task || task->decided()) {
        if (!co_await stored(*this, id, std::string(owner_of(call)))) throw_unknown(call);
        co_return task_answer{};
    }
    bool any = false;
    for (auto& [name, answer] : given->get_object()) any |= task->answer(name, std::move(answer.get_object()));
    if (any) changed(task);
    co_return task_answer{};
}

/// The handler is told at once; the client, when it is written down.
async<task_answer> task_desk::cancel(json::object params, call& call) {
    check(call);
    const std::string id = id_in(params);
    cancel_result what;
    if (const auto task = find(id, owner_of(call))) {
        const request_key key{scope_->id(), direction::incoming, std::string_view(id)};
        what = around_->table.cancel(key, cancel_cause::peer, "tasks/cancel", now());
        if (what.accepted()) end(task, {.status = task_status::cancelled, .message = "cancelled by the client"});
        if (what.what == cancel_result::verdict::uncancellable) {
            if (dialect_of(call) == task_dialect::extension) co_return task_answer{};
            throw rpc_error(error_code::invalid_params, "this tool cannot be cancelled");
        }
        co_await until_decided(task, call);  // somebody else was first, and may not have said how it ended yet
    }
    const task_record record = checked(co_await stored(*this, id, std::string(owner_of(call))), id, call);
    if (dialect_of(call) == task_dialect::extension) co_return task_answer{};
    if (!what.accepted()) {
        throw rpc_error(error_code::invalid_params,
                        "the task cannot be cancelled: it is " + std::string(to_string(record.status)));
    }
    co_return task_answer{.raw_members = task_members(record, task_dialect::requested, options_.poll_interval)};
}

/// What a task asks one client that waits for its result (2025-11-25). Everyone who waits is asked, because one that is
/// gone cannot be told from one that thinks; the first answer counts, and the others are taken back.
class task_desk::handed_over {
public:
    handed_over(std::shared_ptr<live_task> task, call_state& to) : task_(std::move(task)), to_(to) {}
    handed_over(const handed_over&) = delete;
    handed_over& operator=(const handed_over&) = delete;

    /// Asks what is new, and takes back what is not asked any more. Whether there was any of that.
    bool look() {
        const std::size_t taken_back = std::erase_if(asked_, [this](const auto& each) {
            if (task_->asks(each.first)) return false;
            each.second->cancel(cancel_cause::parent, "it was answered, or is not asked any more");
            return true;
        });
        for (auto& [name, question] : task_->questions()) {
            if (!asked_.contains(name)) ask(name, std::move(question));
        }
        return taken_back > 0;
    }

private:
    void ask(const std::string& name, task_question question) {
        question.params["_meta"] = meta_of_task(task_->id());
        const auto asked = to_.talk().request({.method = std::move(question.method),
                                               .params = std::move(question.params),
                                               .progress_restarts_idle = false},
                                              {}, &to_.incoming());
        asked_.emplace(name, asked);
        const auto take = [task = task_, name, asked] {
            call_outcome& outcome = asked->outcome();
            if (outcome.status == call_status::completed && outcome.result.is_object()) {
                task->answer(name, std::move(outcome.result.get_object()));
            } else if (outcome.status == call_status::completed) {
                task->refuse(name, rpc_error(error_code::internal_error, "the client's answer is no object"));
            } else if (outcome.status == call_status::failed) {
                task->refuse(name, rpc_error(outcome.code, "the client: " + outcome.message, outcome.data));
            }  // else whoever asks for the result next is asked
        };
        if (!asked->then(take)) take();
    }

    std::shared_ptr<live_task> task_;
    call_state& to_;
    std::map<std::string, std::shared_ptr<outgoing_call>> asked_;
};

/// Until what was posted until now is done, and what that posted.
struct two_turns {
    event_loop& loop;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const {
        loop.post([this, waiting] { loop.post([waiting] { waiting.resume(); }); });
    }
    void await_resume() const noexcept {}
};

async<void> task_desk::until_decided(std::shared_ptr<live_task> task, call& call) {
    handed_over questions(task, *call.state_);
    while (!task->decided()) {
        const std::uint64_t seen = task->changes();
        if (call.name() == "tasks/result") questions.look();
        next_change change(*task, seen, *call.state_);
        co_await change;
        call.throw_if_cancelled();
    }
    // The answer ends the stream: what was asked on it is taken back before (RCV-12).
    if (questions.look()) {
        two_turns pause{around_->loop};
        co_await pause;
    }
}

async<task_answer> task_desk::result(json::object params, call& call) {
    count(call);
    const std::string id = id_in(params);
    if (const auto task = find(id, owner_of(call))) co_await until_decided(task, call);
    const task_record record = checked(co_await stored(*this, id, std::string(owner_of(call))), id, call);
    if (record.raw_result.empty()) {
        if (record.status == task_status::cancelled) {
            throw rpc_error(error_code::request_cancelled, "the task was cancelled");
        }
        const json::object error = object_from_json(raw_error_of(record)).value_or(json::object());
        const json::value* const data = error.if_contains("data");
        throw rpc_error(error.at("code").to_number<int>(), std::string(error.at("message").as_string()),
                        data == nullptr ? nullptr : *data);
    }
    task_answer answer = answer_from(record.raw_result);
    answer.meta[related_task] = json::object{{"taskId", id}};
    co_return answer;
}

// For subscriptions.

async<std::vector<std::string>> task_desk::known(std::vector<std::string> ids, call& call) {
    check(call);
    count(call);
    std::vector<std::string> found;
    std::unordered_set<std::string> seen;
    for (std::string& id : ids) {
        if (!seen.insert(id).second) continue;
        const bool live = find(id, owner_of(call)) != nullptr;
        if (live || co_await stored(*this, id, std::string(owner_of(call)))) found.push_back(std::move(id));
        if (call.cancelled()) break;
    }
    co_return found;
}

/// Those who listen hear of the end of what lives now, when it is written down. So of what lives they are told how it
/// is, and of the rest what the store has: no end is told twice.
async<void> task_desk::tell_all(std::vector<std::string> ids, call& call) {
    std::vector<std::string> over;
    for (std::string& id : ids) {
        const auto task = find(id, owner_of(call));
        if (!task) {
            over.push_back(std::move(id));
        } else if (!task->decided()) {
            subscriptions::tell_task(call, task->members(task_dialect::extension, options_.poll_interval));
        }
    }
    for (const std::string& id : over) {
        const auto record = co_await stored(*this, id, std::string(owner_of(call)));
        if (call.cancelled()) co_return;
        if (record) subscriptions::tell_task(call, detailed_members(*record, {}, options_.poll_interval));
    }
}

}  // namespace andon::detail
