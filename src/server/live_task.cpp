#include "server/live_task.hpp"

#include <algorithm>

namespace andon::detail {

live_task::live_task(event_loop& loop, task_record created, task_dialect dialect, active_request request,
                     std::string counts_for)
    : loop_(&loop),
      id_(created.id),
      owner_(created.owner),
      counts_for_(std::move(counts_for)),
      dialect_(dialect),
      request_(std::move(request)),
      token_(request_.token()),
      record_(std::move(created)) {}

task_record live_task::record() const {
    const std::lock_guard lock(mutex_);
    return record_;
}

bool live_task::decided() const {
    const std::lock_guard lock(mutex_);
    return decided_;
}

std::string live_task::members(task_dialect dialect, std::chrono::milliseconds poll_interval) const {
    const std::lock_guard lock(mutex_);
    if (dialect == task_dialect::requested) return task_members(record_, dialect, poll_interval);
    json::object asked;
    for (const auto& [name, question] : questions_) {
        asked[name] = json::object{{"method", question.method}, {"params", question.params}};
    }
    return detailed_members(record_, asked, poll_interval);
}

void live_task::changed() {
    ++changes_;
    record_.updated = std::max(task_now(), record_.updated);
    changed_.notify_all();
    // Only the loop holds them, so that none goes on after it let go.
    for (auto& each : std::exchange(waiting_, {})) {
        loop_->post([waiting = std::move(each)] {
            if (const waiter there = waiting.lock()) (*there)();
        });
    }
}

bool live_task::set_message(std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (decided_ || record_.status_message == message) return false;
    record_.status_message = message;
    changed();
    return true;
}

bool live_task::decide(task_end end, const std::function<void(task_record)>& write) {
    const std::lock_guard lock(mutex_);
    if (decided_) return false;
    decided_ = true;
    questions_.clear();
    record_.status = end.status;
    record_.status_message = std::move(end.message);
    changed();
    task_record ended = record_;
    ended.raw_result = std::move(end.raw_result);
    ended.raw_error = std::move(end.raw_error);
    write(std::move(ended));
    return true;
}

void live_task::not_written(std::string why) {
    const std::lock_guard lock(mutex_);
    why_not_written_ = std::move(why);
}

std::string live_task::why_not_written() const {
    const std::lock_guard lock(mutex_);
    return why_not_written_;
}

// What it asks.

void live_task::update_status() {
    if (!decided_) record_.status = questions_.empty() ? task_status::working : task_status::input_required;
}

std::vector<std::string> live_task::ask(std::vector<input_request> questions) {
    std::vector<std::string> names;
    const std::lock_guard lock(mutex_);
    for (input_request& question : questions) {
        std::string name = question.key.empty() ? "question" : question.key;
        // A name stands for one question as long as the task lives.
        while (const int before = used_[name]++) name += '-' + std::to_string(before + 1);
        if (!decided_) {
            questions_.emplace(name, task_question{std::move(question.method), std::move(question.params)});
        }
        names.push_back(std::move(name));
    }
    update_status();
    changed();
    return names;
}

bool live_task::all_answered(const std::vector<std::string>& names) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(names, [&](const std::string& name) { return answers_.contains(name); });
}

void live_task::wait_for_answers(const call& of, const std::vector<std::string>& names) {
    std::unique_lock lock(mutex_);
    of.wait(changed_, lock, [&] {
        return std::ranges::all_of(names, [&](const std::string& name) { return answers_.contains(name); });
    });
}

std::vector<json::object> live_task::take_answers(const std::vector<std::string>& names) {
    std::vector<json::object> taken;
    const std::lock_guard lock(mutex_);
    for (const std::string& name : names) {
        const auto found = answers_.extract(name);
        if (const auto* error = std::get_if<rpc_error>(&found.mapped())) throw rpc_error(*error);
        taken.push_back(std::move(std::get<json::object>(found.mapped())));
    }
    return taken;
}

void live_task::withdraw(const std::vector<std::string>& names) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : names) {
        questions_.erase(name);
        answers_.erase(name);
    }
    update_status();
    changed();
}

bool live_task::settle(std::string_view name, answered with) {
    const std::lock_guard lock(mutex_);
    const auto found = questions_.find(name);
    if (found == questions_.end()) return false;
    answers_.insert_or_assign(found->first, std::move(with));
    questions_.erase(found);
    update_status();
    changed();
    return true;
}

bool live_task::answer(std::string_view name, json::object answer) { return settle(name, std::move(answer)); }

bool live_task::refuse(std::string_view name, const rpc_error& error) { return settle(name, error); }

std::vector<std::pair<std::string, task_question>> live_task::questions() const {
    const std::lock_guard lock(mutex_);
    return {questions_.begin(), questions_.end()};
}

bool live_task::asks(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return questions_.contains(name);
}

std::uint64_t live_task::changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
}

live_task::waiter live_task::when_changed(std::uint64_t seen, std::function<void()> go_on) {
    auto waiting = std::make_shared<std::function<void()>>(std::move(go_on));
    {
        const std::lock_guard lock(mutex_);
        if (changes_ == seen) {
            if (waiting_.size() >= clean_at_) {  // of those who gave up
                std::erase_if(waiting_, [](const auto& each) { return each.expired(); });
                clean_at_ = 16 + 2 * waiting_.size();
            }
            waiting_.push_back(waiting);
            return waiting;
        }
    }
    (*waiting)();
    return waiting;
}

}  // namespace andon::detail
