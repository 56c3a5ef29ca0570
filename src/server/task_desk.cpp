#include "server/task_desk.hpp"

#include <chrono>
#include <string>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
/// On its way to the store.
struct task_desk::ended {
    std::shared_ptr<live_task> task;
    task_record record;
};

task_desk::task_desk(std::shared_ptr<conversation::surroundings> around, const task_options& options,
                     subscriptions& listeners)
    : around_(std::move(around)),
      options_(options),
      listeners_(listeners),
      scope_(around_->table.open_session()),
      asking_(options.requests_per_second),
      again_(around_->loop) {
    const auto add = [this](const char* name, auto answers) {
        auto entry = std::make_shared<handler_entry>();
        entry->kind = offered::task_request;
        entry->name = name;
        entry->run = handler_from<task_answer>(
            [this, answers](json::object params, call& call) { return (this->*answers)(std::move(params), call); });
        methods_.emplace(name, std::move(entry));
    };
    add("tasks/get", &task_desk::get);
    add("tasks/result", &task_desk::result);
    add("tasks/list", &task_desk::list);
    add("tasks/update", &task_desk::update);
    add("tasks/cancel", &task_desk::cancel);
    if (options_.store) begin();
}

task_desk::~task_desk() = default;

void task_desk::begin() {
    const std::lock_guard lock(beginning_);
    if (keeper_) return;
    keeper_ = std::make_unique<task_keeper>(options_.store ? options_.store
                                                           : std::shared_ptr<task_store>(memory_task_store()));
    if (const std::size_t failed = keeper_->failed_at_start(); failed > 0) {
        around_->log(log_level::warning,
                     "tasks that an earlier process was working on, and that have failed: " + std::to_string(failed));
    }
    begun_.store(true, std::memory_order_release);
}

void task_desk::flush() {
    if (begun()) keeper_->flush();
}

void task_desk::leave(std::string_view why) {
    left_ = true;
    scope_->close(cancel_cause::shutdown, why, now());
}

// A task's beginning.

std::shared_ptr<live_task> task_desk::prepare(wish what) {
    task_record record{.id = new_task_id(),
                       .owner = std::move(what.owner),
                       .label = std::move(what.label),
                       .created = task_now(),
                       .ttl = std::min(what.ttl.value_or(options_.ttl), options_.longest_ttl)};
    record.updated = record.created;
    // Its time begins when there is a task.
    auto begun = around_->table.begin(*scope_, direction::incoming, std::string_view(record.id), now(),
                                      {.label = record.label, .peer_may_cancel = !what.uncancellable});
    if (!begun) throw rpc_error(error_code::internal_error, std::string(to_string(begun.refusal)));
    return std::make_shared<live_task>(around_->loop, std::move(record), what.dialect, std::move(begun.request),
                                       std::move(what.counts_for));
}

std::string task_desk::refusal_of(const live_task& task) const {
    if (left_) return "the server is leaving";
    if (all_working_ >= options_.live) return "this server works on as many tasks as it may: try again later";
    const auto found = working_.find(task.counts_for());
    if (found != working_.end() && found->second >= options_.live_per_owner) {
        return "too many of your tasks are being worked on: wait for some to end, or cancel them";
    }
    if (keeper_->kept() + being_created_ >= options_.kept) {
        return "this server keeps as many tasks as it may: try again later";
    }
    return {};
}

void task_desk::create(const std::shared_ptr<live_task>& task, std::function<void(std::string refusal)> then) {
    around_->loop.post([this, task, then = std::move(then)]() mutable {
        if (std::string refusal = refusal_of(*task); !refusal.empty()) return then(std::move(refusal));
        ++all_working_;
        ++working_[task->counts_for()];
        ++being_created_;
        live_.emplace(task->id(), task);
        live_by_owner_[task->owner()].insert(task.get());
        keeper_->create(task->record(), [this, task, then = std::move(then)](std::string_view error) mutable {
            around_->loop.post([this, task, error = std::string(error), then = std::move(then)]() mutable {
                --being_created_;
                if (!error.empty()) {
                    around_->log(log_level::error, "a task could not be written down: " + visible_text(error, 256));
                    forget_live(*task);
                    work_over(task);
                }
                then(std::move(error));
            });
        });
    });
}

void task_desk::forget_live(const live_task& task) {
    const auto all = live_by_owner_.find(task.owner());
    if (all != live_by_owner_.end()) {
        all->second.erase(const_cast<live_task*>(&task));
        if (all->second.empty()) live_by_owner_.erase(all);
    }
    live_.erase(task.id());
}

void task_desk::owner_gone(const std::string& owner, std::string_view why) {
    const auto all = live_by_owner_.find(owner);
    if (all == live_by_owner_.end()) return;
    std::vector<cancel_token> tokens;
    for (const live_task* const each : all->second) tokens.push_back(each->token());
    for (const cancel_token& each : tokens) each.state()->cancel(cancel_cause::disconnect, why, now());
}

void task_desk::work_over(const std::shared_ptr<live_task>& task) {
    around_->loop.post([this, task] {
        --all_working_;
        const auto found = working_.find(task->counts_for());
        if (--found->second == 0) working_.erase(found);
    });
}

// Its end.

void task_desk::end(const std::shared_ptr<live_task>& task, task_end how) {
    // Whoever sees it decided and asks the store comes behind the write.
    task->decide(std::move(how), [&](task_record record) {
        write(std::make_shared<ended>(ended{task, std::move(record)}));
    });
}

void task_desk::write(const std::shared_ptr<ended>& what) {
    const bool here = around_->loop.here();
    keeper_->write(
        what->record,
        [this, what](std::string_view error) {
            around_->loop.post([this, what, error = std::string(error)] { written(what, error); });
        },
        !here);
    if (here) wake_keeper_soon();
}

/// A handler that was cancelled just now goes on first: waking another thread takes longer than that.
void task_desk::wake_keeper_soon() {
    if (std::exchange(waking_, true)) return;
    // Twice: what is woken by the same event may be posted behind us.
    around_->loop.post([this] {
        around_->loop.post([this] {
            waking_ = false;
            keeper_->wake();
        });
    });
}

void task_desk::written(const std::shared_ptr<ended>& what, std::string_view error) {
    if (error.empty()) {
        // From here on the store has it.
        forget_live(*what->task);
        return tell(*what->task, [&](task_dialect dialect) {
            return dialect == task_dialect::requested ? task_members(what->record, dialect, options_.poll_interval)
                                                      : detailed_members(what->record, {}, options_.poll_interval);
        });
    }
    around_->log(log_level::error,
                 "the end of a task could not be written down, and will be tried again: " + visible_text(error, 256));
    what->task->not_written(std::string(error));
    unwritten_.push_back(what);
    if (unwritten_.size() == 1) again_.set(now() + std::chrono::seconds(1), [this] { write_again(); });
}

void task_desk::write_again() {
    for (const auto& each : std::exchange(unwritten_, {})) write(each);
}

// Those who are told.

/// Whoever listens to it, in the extension's words, whichever dialect made it; and the session that did in its own.
void task_desk::tell(const live_task& task, const std::function<std::string(task_dialect)>& members) {
    if (listeners_.hear_of_task(task.id())) listeners_.task_changed(task.id(), members(task_dialect::extension));
    if (task.dialect() == task_dialect::extension) return;
    const auto talk = task.told.lock();
    if (!talk || talk->closed()) return;
    talk->send(raw_notification_message("notifications/tasks/status", members(task_dialect::requested)));
}

void task_desk::changed(const std::shared_ptr<live_task>& task) {
    if (task->telling.exchange(true)) return;  // what is told then is how it is then
    around_->loop.post([this, task] {
        task->telling = false;
        if (task->decided()) return;
        tell(*task, [&](task_dialect dialect) { return task->members(dialect, options_.poll_interval); });
    });
}

}  // namespace andon::detail
