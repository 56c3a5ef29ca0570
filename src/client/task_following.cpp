#include "client/task_following.hpp"

#include <algorithm>
#include <chrono>

#include "transport/clock.hpp"

namespace andon::detail {
namespace {

constexpr int most_failures = 5;  // in a row
constexpr std::chrono::milliseconds shortest_interval{10};
constexpr std::chrono::milliseconds longest_interval = std::chrono::minutes(5);

std::string string_at(const json::object& in, std::string_view key) {
    const json::value* const found = in.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

call_outcome failure_in(const json::object& task) {
    call_outcome outcome = unusable(string_at(task, "statusMessage"));
    const json::value* const error = task.if_contains("error");
    if (error == nullptr || !error->is_object()) return outcome;
    const json::object& said = error->get_object();
    if (const json::value* const code = said.if_contains("code"); code != nullptr && code->is_int64()) {
        outcome.code = static_cast<int>(std::clamp<std::int64_t>(code->get_int64(), INT32_MIN, INT32_MAX));
    }
    outcome.message = string_at(said, "message");
    if (const json::value* const data = said.if_contains("data")) outcome.data = *data;
    return outcome;
}

bool is_error(const json::value& result) {
    const json::value* const flag = result.is_object() ? result.get_object().if_contains("isError") : nullptr;
    return flag != nullptr && *flag == true;
}

call_outcome cancelled_there(const task_report& report) {
    return {.status = call_status::failed,
            .code = error_code::request_cancelled,
            .message = report.message.empty() ? "the task was cancelled" : report.message};
}

}  // namespace

task_following::task_following(std::shared_ptr<client_session> in, follow_options options, circumstances where,
                               std::function<void(call_outcome)> over)
    : session_(std::move(in)),
      options_(std::move(options)),
      where_(where),
      over_(std::move(over)),
      timer_(session_->loop()) {}

bool task_following::extension() const noexcept { return policy_of(session_->server().speaks()).tasks_extension; }

std::optional<json::object> task_following::created_by(const json::object& result) {
    if (const json::value* const task = result.if_contains("task"); task != nullptr && task->is_object()) {
        if (!string_at(task->get_object(), "taskId").empty()) return task->get_object();
    }
    if (string_at(result, "resultType") == "task" && !string_at(result, "taskId").empty()) return result;
    return std::nullopt;
}

task_report task_following::report_from(const json::object& task) {
    return {.id = string_at(task, "taskId"),
            .status = task_status_from(string_at(task, "status")).value_or(task_status::working),
            .message = string_at(task, "statusMessage")};
}

void task_following::tell(const json::object& task) {
    const task_report before = report_;
    const std::string id = report_.id;
    report_ = report_from(task);
    if (!id.empty()) report_.id = id;
    const json::value* interval = task.if_contains(extension() ? "pollIntervalMs" : "pollInterval");
    boost::system::error_code wrong;
    const auto wanted = interval != nullptr ? interval->to_number<std::int64_t>(wrong) : 0;
    if (interval != nullptr && !wrong) {
        interval_ = std::clamp(std::chrono::milliseconds(std::clamp<std::int64_t>(wanted, 0, 3'600'000)),
                               shortest_interval, longest_interval);
    }
    const bool same = before.id == report_.id && before.status == report_.status && before.message == report_.message;
    if (same || !options_.on_status) return;
    carefully(session_->talk(), "on_status", [&] { options_.on_status(report_); });
}

void task_following::begin(const json::object& task) {
    if (stopped_) return;
    auto work = session_->talk().begin_own_work("following a task", {.maximum = options_.max_timeout});
    if (!work) return end(given_up(cancel_cause::disconnect, to_string(work.refusal)));
    work_ = std::move(work.request);
    token_ = work_.token();
    callback_.emplace(token_, cancelled{this});
    if (where_.request && options_.on_progress) session_->talk().on_progress_of(*where_.request, options_.on_progress);
    if (!task.contains("status")) {
        report_.id = string_at(task, "taskId");
        return look();
    }
    tell(task);
    look_soon();
}

/// Its time is over, the session has ended, or an operator stopped it: the task is stopped too, where that can be.
void task_following::on_cancel() noexcept {
    over_(given_up(token_.cause(), token_.why().text()));
    if (where_.ends_with_us && token_.cause() == cancel_cause::shutdown) {
        return session_->talk().last_words("tasks/cancel", {{"taskId", report_.id}});
    }
    if (const auto self = weak_from_this().lock()) {
        session_->talk().post([self] {
            self->stop();
            if (self->token_.cause() != cancel_cause::disconnect) self->session_->cancel_task(self->report_.id);
        });
    }
}

void task_following::leave() {
    if (where_.request) session_->talk().on_progress_of(*where_.request, {});
    timer_.clear();
    callback_.reset();
    work_.finish(now());
}

void task_following::end(call_outcome outcome) {
    if (stopped_) return;
    stopped_ = true;
    leave();
    over_(std::move(outcome));
}

void task_following::stop() {
    stopped_ = true;
    leave();
    if (current_) current_->cancel(cancel_cause::peer, "the task is not waited for any more");
    if (thinking_.state() != nullptr) {
        thinking_.state()->cancel(cancel_cause::peer, "the task is not waited for any more", now());
    }
}

void task_following::ask(std::string_view method, json::object params, std::optional<duration> timeout,
                         void (task_following::*then)(call_outcome)) {
    params["taskId"] = report_.id;
    auto asked =
        session_->talk().request({.method = std::string(method), .params = std::move(params)}, {.idle = timeout});
    current_ = asked;
    const auto go_on = [self = shared_from_this(), asked, then] {
        if (self->stopped_) return;
        self->current_.reset();
        ((*self).*then)(std::move(asked->outcome()));
    };
    if (!asked->then(go_on)) session_->loop().post(go_on);
}

void task_following::look_soon() {
    timer_.set(now() + interval_, [self = shared_from_this()] { self->look(); });
}

void task_following::look() {
    ask("tasks/get", {}, options_.timeout.value_or(session_->options().timeout), &task_following::looked);
}

bool task_following::try_again(const call_outcome& outcome) {
    if (outcome.completed()) {
        failures_ = 0;
        return false;
    }
    const bool lasting = outcome.status == call_status::failed && outcome.code != error_code::internal_error;
    if (lasting || session_->talk().closed() || ++failures_ >= most_failures) return false;
    look_soon();
    return true;
}

void task_following::looked(call_outcome outcome) {
    if (try_again(outcome)) return;
    if (!outcome.completed()) return end(std::move(outcome));
    if (!outcome.result.is_object() || !task_status_from(string_at(outcome.result.get_object(), "status"))) {
        return end(unusable("the server's answer about the task is none"));
    }
    json::object& task = outcome.result.get_object();
    tell(task);
    switch (report_.status) {
        case task_status::working: return look_soon();
        case task_status::cancelled: return end(cancelled_there(report_));
        case task_status::input_required: return extension() ? answer(task) : fetch();
        case task_status::failed:
            if (!extension()) return fetch();
            return end(failure_in(task));
        case task_status::completed: break;
    }
    if (!extension()) return fetch();
    json::value* const result = task.if_contains("result");
    if (result == nullptr) return end(unusable("the server's task is completed and has no result"));
    end({.status = call_status::completed, .result = std::move(*result)});
}

// 2025-11-25: the result is asked for; what the task wants to know comes meanwhile, as requests.

void task_following::fetch() { ask("tasks/result", {}, std::nullopt, &task_following::fetched); }

void task_following::fetched(call_outcome outcome) {
    if (outcome.status != call_status::failed && try_again(outcome)) return;
    if (is_terminal(report_.status)) return end(std::move(outcome));
    // It had asked something, and nobody has looked at it since.
    if (outcome.completed()) {
        tell({{"status", to_string(is_error(outcome.result) ? task_status::failed : task_status::completed)}});
    } else if (outcome.status == call_status::failed) {
        failed_with_ = std::move(outcome);  // an error of the task's, or of whoever has no result of a cancelled one
        return ask("tasks/get", {}, options_.timeout.value_or(session_->options().timeout),
                   &task_following::looked_back);
    }
    end(std::move(outcome));
}

void task_following::looked_back(call_outcome outcome) {
    if (outcome.completed() && outcome.result.is_object()) tell(outcome.result.get_object());
    end(report_.status == task_status::cancelled ? cancelled_there(report_) : std::move(failed_with_));
}

// The extension: what it wants to know stands in the task.

void task_following::answer(const json::object& task) {
    json::object questions;
    if (const json::value* const asked = task.if_contains("inputRequests"); asked != nullptr && asked->is_object()) {
        for (const auto& [name, question] : asked->get_object()) {
            if (question.is_object() && !answered_.contains(std::string(name))) questions[name] = question;
        }
    }
    if (questions.empty()) return look_soon();
    for (const auto& [name, question] : questions) answered_.emplace(name);
    const auto self = shared_from_this();
    auto round = question_round::make(
        session_, {.label = "answering for a task",
                   .questions = std::move(questions),
                   .maximum = options_.max_timeout.value_or(session_->options().max_timeout),
                   .answered =
                       [self](json::object answers) {
                           self->session_->loop().post([self, answers = std::move(answers)]() mutable {
                               if (!self->stopped_) self->update(std::move(answers));
                           });
                       },
                   .failed =
                       [self](call_outcome outcome) {
                           self->session_->loop().post([self, outcome = std::move(outcome)]() mutable {
                               if (self->stopped_) return;
                               self->session_->cancel_task(self->report_.id);  // nobody will ever answer it
                               self->end(std::move(outcome));
                           });
                       }});
    if (!round) return;
    thinking_ = round->token();
    question_round::submit(std::move(round));
}

void task_following::update(json::object answers) {
    ask("tasks/update", {{"inputResponses", std::move(answers)}},
        options_.timeout.value_or(session_->options().timeout), &task_following::updated);
}

void task_following::updated(call_outcome outcome) {
    if (try_again(outcome)) {
        answered_.clear();  // they may not have arrived
        return;
    }
    if (!outcome.completed()) return end(std::move(outcome));
    look();
}

}  // namespace andon::detail
