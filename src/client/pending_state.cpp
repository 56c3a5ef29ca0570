#include "client/pending_state.hpp"

#include <chrono>
#include <stdexcept>

#include "transport/clock.hpp"

namespace andon::detail {
namespace {

constexpr int most_rounds = 32;  // a server that never stops asking

/// `how_long` may be "for ever".
time_point after(duration how_long) noexcept {
    const time_point begun = now();
    return how_long > time_point::max() - begun ? time_point::max() : begun + how_long;
}

}  // namespace

pending_state::pending_state(std::shared_ptr<client_session> in, std::string method, json::object params,
                             call_options options)
    : session_(std::move(in)),
      method_(std::move(method)),
      params_(std::move(params)),
      options_(std::move(options)),
      give_up_at_(after(options_.max_timeout.value_or(session_->options().max_timeout))),
      cancellable_(method_ != "server/discover") {}

void pending_state::start() { send(params_); }

void pending_state::send(json::object params) {
    const auto left = give_up_at_ - now();
    std::shared_ptr<outgoing_call> call;
    std::optional<call_outcome> too_late;
    {
        const std::lock_guard lock(mutex_);  // advance() waits until we know the call
        call =
            session_->talk().request({.method = method_,
                                      .params = std::move(params),
                                      .log_level = options_.log_level,
                                      .cancellable = cancellable_,
                                      .progress_restarts_idle = options_.progress_restarts_timeout,
                                      .on_progress = options_.on_progress,
                                      .then = [self = shared_from_this()] { self->advance(); }},
                                     {.idle = options_.timeout.value_or(session_->options().timeout), .maximum = left});
        current_ = call;
        too_late = cancel_wanted_;
    }
    if (too_late) call->cancel(cancel_cause::peer, too_late->message);
    if (call->never_began()) advance();  // here, because there may be no loop any more
}

bool pending_state::settle(call_outcome outcome) {
    std::function<void()> go_on;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return false;
        outcome_ = std::move(outcome);
        current_.reset();
        following_.reset();
        settled_.store(true, std::memory_order_release);
        go_on = std::move(then_);
    }
    settled_.notify_all();
    created();
    if (go_on) session_->talk().post(std::move(go_on));
    return true;
}

bool pending_state::then(std::function<void()> go_on) {
    const std::lock_guard lock(mutex_);
    if (settled()) return false;
    then_ = std::move(go_on);
    return true;
}

void pending_state::wait() const { settled_.wait(false, std::memory_order_acquire); }

bool pending_state::cancel(cancel_cause cause, std::string_view why) {
    if (!cancellable_) throw std::logic_error(method_ + " cannot be cancelled");
    std::shared_ptr<outgoing_call> current;
    std::shared_ptr<task_following> following;
    cancel_token thinking;
    std::string task;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return false;
        task = report_.id;
        cancel_wanted_ = given_up(cause, why);
        current = current_;
        following = following_;
        thinking = thinking_;
    }
    if (following) {
        if (!settle(given_up(cause, why))) return false;
        session_->cancel_task(task);
        session_->talk().post([following] { following->stop(); });
        return true;
    }
    if (current && current->cancel(cause, why)) {
        settle(given_up(cause, why));  // unless the loop, which hears of it too, was faster
        return true;
    }
    if (!current && settle(given_up(cause, why))) {
        if (thinking.state() != nullptr) thinking.state()->cancel(cause, why, now());
        // One that is to be followed, and was not looked at yet.
        if (!task.empty()) session_->cancel_task(task);
        return true;
    }
    // The answer was first; what it says is being looked at, on the loop.
    if (!here()) wait();
    return settled() && outcome_.status != call_status::completed && outcome_.status != call_status::failed;
}

void pending_state::advance() {
    std::shared_ptr<outgoing_call> current;
    std::optional<call_outcome> wanted;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return;
        current = std::move(current_);
        wanted = cancel_wanted_;
    }
    if (!current) return;
    call_outcome outcome = std::move(current->outcome());
    const revision_policy& rules = policy_of(session_->server().speaks());
    if (outcome.completed() && method_ == "tools/call" && outcome.result.is_object()) {
        if (auto task = task_following::created_by(outcome.result.get_object()); task && knows_tasks(rules)) {
            follow(*task, current->id());
            return;
        }
    }
    if (outcome.status != call_status::completed || !rules.input_required_results || !outcome.result.is_object()) {
        settle(std::move(outcome));
        return;
    }
    json::object& result = outcome.result.get_object();
    const json::value* const type = result.if_contains("resultType");
    if (type == nullptr || *type == "complete") {
        settle(std::move(outcome));
    } else if (*type == "input_required") {
        if (wanted) {
            settle(std::move(*wanted));
        } else {
            answer_questions(std::move(result));
        }
    } else {
        settle(unusable("the server's result is of a type that is not known"));
    }
}

void pending_state::answer_questions(json::object result) {
    if (++rounds_ > most_rounds) {
        settle(unusable("the server never stops asking for input"));
        return;
    }
    const json::value* const asked = result.if_contains("inputRequests");
    if (asked != nullptr && !asked->is_object()) {
        settle(unusable("the server asks for input in a way that is not known"));
        return;
    }
    const json::value* const state = result.if_contains("requestState");
    auto round = question_round::make(
        session_,
        {.label = "answering for " + method_,
         .questions = asked != nullptr ? asked->get_object() : json::object(),
         .maximum = give_up_at_ - now(),
         .answered = [self = shared_from_this(), state = state != nullptr ? std::optional(*state) : std::nullopt](
                         json::object answers) { self->next_round(std::move(answers), state); },
         .failed = [self = shared_from_this()](call_outcome outcome) { self->settle(std::move(outcome)); }});
    if (!round) return;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return;
        thinking_ = round->token();
    }
    question_round::submit(std::move(round));
}

void pending_state::next_round(json::object answers, const std::optional<json::value>& request_state) {
    if (settled()) return;
    if (now() >= give_up_at_) {
        settle({.status = call_status::timed_out, .message = "while answering the server's questions"});
        return;
    }
    json::object params = params_;
    if (!answers.empty()) params["inputResponses"] = std::move(answers);
    if (request_state) params["requestState"] = *request_state;
    send(std::move(params));
}

// As a task.

bool pending_state::knows_tasks(const revision_policy& rules) const noexcept {
    return (rules.tasks_extension && session_->options().tasks) ||
           (rules.task_requests && (asked_for_task_ || as_task_));
}

void pending_state::ask_for_task(std::optional<std::chrono::milliseconds> ttl) {
    asked_for_task_ = true;
    json::object& task = (params_["task"] = json::object()).get_object();
    if (ttl) task["ttl"] = ttl->count();
}

void pending_state::run_as_task(follow_options options) {
    as_task_ = true;
    following_options_ = std::move(options);
}

void pending_state::start_following(std::string id) {
    report({.id = id});
    if (!session_->talk().begin_own_work("following a task", {})) {  // there is no loop any more
        settle(given_up(cancel_cause::disconnect, "the client was closed"));
        return;
    }
    session_->talk().post([self = shared_from_this(), id = std::move(id)] {
        self->follow({{"taskId", id}}, std::nullopt);
    });
}

/// On the loop, like everything that is told of the task.
void pending_state::follow(const json::object& task, std::optional<std::int64_t> request) {
    follow_options options = following_options_;
    if (!as_task_) {  // a call that the server has made a task of: it has its time, and no more
        options.timeout = options_.timeout;
        options.max_timeout = give_up_at_ - now();
    }
    // Once it is over, or its handle gone, nothing of the user's is called any more.
    options.on_status = [self = weak_from_this(), told = options.on_status](const task_report& report) {
        const auto there = self.lock();
        if (!there || there->settled()) return;
        there->report(report);
        if (told) told(report);
    };
    if (options.on_progress) {
        options.on_progress = [self = weak_from_this(), told = options.on_progress](const progress_update& update) {
            const auto there = self.lock();
            if (there && !there->settled()) told(update);
        };
    }
    const task_report known = task_following::report_from(task);
    std::shared_ptr<task_following> following;
    std::string orphan;
    bool unwanted = false;
    {
        const std::lock_guard lock(mutex_);
        unwanted = cancel_wanted_.has_value();
        if (!settled() && !unwanted) {
            following = std::make_shared<task_following>(
                session_, std::move(options),
                task_following::circumstances{.ends_with_us = !as_task_, .request = request},
                [self = shared_from_this()](call_outcome outcome) { self->settle(std::move(outcome)); });
            following_ = following;
        } else if (unwanted && report_.id.empty()) {
            orphan = known.id;  // a cancel that came too late for the call came in time for the task
        }
        report_ = known;
    }
    created();
    if (following) return following->begin(task);
    if (!orphan.empty()) session_->cancel_task(orphan);
    // Unless the cancel did: of one whose id it knew, whoever settles it tells the server.
    if (settle(given_up(cancel_cause::peer, {})) && unwanted && orphan.empty()) session_->cancel_task(known.id);
}

void pending_state::created() {
    created_.store(true, std::memory_order_release);
    created_.notify_all();
}

void pending_state::report(const task_report& report) {
    {
        const std::lock_guard lock(mutex_);
        report_ = report;
    }
    created();
}

task_report pending_state::report() const {
    const std::lock_guard lock(mutex_);
    return report_;
}

void pending_state::wait_until_created() const { created_.wait(false, std::memory_order_acquire); }

void pending_state::let_go() {
    std::shared_ptr<task_following> following;
    {
        const std::lock_guard lock(mutex_);
        following = following_;
    }
    if (!settle(given_up(cancel_cause::peer, "nobody waits for it any more"))) return;
    if (following) session_->talk().post([following] { following->stop(); });
}

}  // namespace andon::detail
