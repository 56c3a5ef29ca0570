#include "server/question_to_client.hpp"

namespace andon::detail {

question_to_client::question_to_client(conversation& talk, const incoming_request& part_of, std::string method,
                                       json::object params, const time_limits& limits)
    : talk_(talk.shared_from_this()),
      part_of_(&part_of),
      method_(std::move(method)),
      params_(std::move(params)),
      limits_(limits) {}

void question_to_client::start(bool as_task) {
    as_task_ = as_task;
    if (as_task) params_["task"] = json::object();
    ask(method_, std::move(params_), &question_to_client::answered);
}

/// What is left of the call's own time holds for it too: it hangs below it (TIME-5).
void question_to_client::ask(std::string method, json::object params, void (question_to_client::*next)(call_outcome)) {
    std::unique_lock lock(asking_);
    if (part_of_ == nullptr) {
        lock.unlock();
        return settle({.status = call_status::cancelled});
    }
    const auto asked = talk_->request(
        {.method = std::move(method), .params = std::move(params), .progress_restarts_idle = false}, limits_, part_of_);
    lock.unlock();
    const auto go_on = [self = shared_from_this(), asked, next] { ((*self).*next)(std::move(asked->outcome())); };
    if (!asked->then(go_on)) go_on();
}

void question_to_client::leave_call() {
    const std::lock_guard lock(asking_);
    part_of_ = nullptr;
}

void question_to_client::answered(call_outcome outcome) {
    const json::value* const task = as_task_ && outcome.completed() && outcome.result.is_object()
                                        ? outcome.result.get_object().if_contains("task")
                                        : nullptr;
    const json::value* const id =
        task != nullptr && task->is_object() ? task->get_object().if_contains("taskId") : nullptr;
    if (id == nullptr || !id->is_string()) return settle(std::move(outcome));
    task_ = std::string(id->get_string());
    ask("tasks/result", {{"taskId", task_}}, &question_to_client::fetched);
}

void question_to_client::fetched(call_outcome outcome) {
    const bool given_up = outcome.status == call_status::cancelled || outcome.status == call_status::timed_out;
    if (given_up && !talk_->closed()) {
        const auto told = talk_->request(
            {.method = "tasks/cancel", .params = {{"taskId", task_}}, .progress_restarts_idle = false}, limits_);
        static_cast<void>(told->then([told] {}));  // whatever it says
    }
    settle(std::move(outcome));
}

void question_to_client::settle(call_outcome outcome) {
    std::function<void()> go_on;
    {
        const std::lock_guard lock(mutex_);
        outcome_ = std::move(outcome);
        settled_.store(true, std::memory_order_release);
        go_on = std::move(then_);
    }
    settled_.notify_all();
    if (go_on) go_on();
}

bool question_to_client::then(std::function<void()> go_on) {
    const std::lock_guard lock(mutex_);
    if (settled()) return false;
    then_ = std::move(go_on);
    return true;
}

}  // namespace andon::detail
