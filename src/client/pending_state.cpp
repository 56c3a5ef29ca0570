#include "client/pending_state.hpp"

#include <chrono>
#include <stdexcept>

namespace andon::detail {
namespace {

constexpr int most_rounds = 32;  // a server that never stops asking

time_point now() noexcept { return std::chrono::steady_clock::now(); }

/// `how_long` may be "for ever".
time_point after(duration how_long) noexcept {
    const time_point begun = now();
    return how_long > time_point::max() - begun ? time_point::max() : begun + how_long;
}

call_outcome refused(std::string why) {
    return {.status = call_status::failed, .code = error_code::internal_error, .message = std::move(why)};
}

call_outcome given_up(cancel_cause cause, std::string_view why) {
    const auto status = cause == cancel_cause::timeout      ? call_status::timed_out
                        : cause == cancel_cause::disconnect ? call_status::disconnected
                                                            : call_status::cancelled;
    return {.status = status, .message = std::string(reason(why).text())};
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
    auto call =
        session_->talk().request({.method = method_,
                                  .params = std::move(params),
                                  .log_level = options_.log_level,
                                  .cancellable = cancellable_,
                                  .progress_restarts_idle = options_.progress_restarts_timeout,
                                  .on_progress = options_.on_progress},
                                 {.idle = options_.timeout.value_or(session_->options().timeout), .maximum = left});
    std::optional<call_outcome> too_late;
    {
        const std::lock_guard lock(mutex_);
        current_ = call;
        too_late = cancel_wanted_;
    }
    if (too_late) call->cancel(cancel_cause::peer, too_late->message);
    // Settled already: here, because there may be no loop any more.
    if (!call->then([self = shared_from_this()] { self->advance(); })) advance();
}

bool pending_state::settle(call_outcome outcome) {
    std::function<void()> go_on;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return false;
        outcome_ = std::move(outcome);
        current_.reset();
        settled_.store(true, std::memory_order_release);
        go_on = std::move(then_);
    }
    settled_.notify_all();
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
    cancel_token thinking;
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return false;
        cancel_wanted_ = given_up(cause, why);
        current = current_;
        thinking = thinking_;
    }
    if (current && current->cancel(cause, why)) {
        settle(given_up(cause, why));  // unless the loop, which hears of it too, was faster
        return true;
    }
    if (!current && settle(given_up(cause, why))) {
        if (thinking.state() != nullptr) thinking.state()->cancel(cause, why, now());
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
    const bool modern = policy_of(session_->server().speaks()).input_required_results;
    if (outcome.status != call_status::completed || !modern || !outcome.result.is_object()) {
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
        settle(refused("the server's result is of a type that is not known"));
    }
}

/// Runs our handlers, one after the other, on a worker.
class pending_state::answering final : public turn {
public:
    answering(std::shared_ptr<pending_state> of, json::object result, active_request work)
        : turn(kind::thread),
          of_(std::move(of)),
          result_(std::move(result)),
          work_(std::move(work)),
          token_(work_.token()),
          callback_(token_, cancelled{this}) {}

    [[nodiscard]] const cancel_token& token() const noexcept { return token_; }

private:
    struct cancelled {
        answering* self;
        void operator()() const noexcept {
            self->of_->settle(given_up(self->token_.cause(), self->token_.why().text()));
        }
    };

    void begin() noexcept override {
        try {
            json::object answers;
            if (const json::value* const asked = result_.if_contains("inputRequests")) {
                for (const auto& [key, question] : asked->as_object()) answers[key] = answer(question.as_object());
            }
            token_.throw_if_cancelled();
            of_->next_round(std::move(answers), result_.if_contains("requestState"));
        } catch (const std::exception& error) {
            fail(std::string(": ") + error.what());
        } catch (...) {
            fail("");
        }
        work_.finish(now());
        of_->session_->turns().done(*this);
        delete this;
    }

    /// Handlers that were quick to notice are here before the canceller came to our callback.
    void fail(const std::string& why) const {
        of_->settle(token_.cancelled() ? given_up(token_.cause(), token_.why().text())
                                       : refused("a question of the server's could not be answered" + why));
    }

    json::object answer(const json::object& question) const {
        const std::string method(question.at("method").as_string());
        const question_handler* const handler = of_->session_->handler_of(method);
        if (handler == nullptr) throw std::runtime_error("there is no handler for " + method);
        const json::value* const params = question.if_contains("params");
        token_.throw_if_cancelled();
        return (*handler)(params != nullptr ? params->as_object() : json::object(), token_);
    }

    std::shared_ptr<pending_state> of_;
    json::object result_;
    active_request work_;
    cancel_token token_;
    cancel_callback<cancelled> callback_;  // last: goes first, and waits for itself
};

void pending_state::answer_questions(json::object result) {
    if (++rounds_ > most_rounds) {
        settle(refused("the server never stops asking for input"));
        return;
    }
    auto work = session_->talk().begin_own_work("answering for " + method_, {.maximum = give_up_at_ - now()});
    if (!work) {
        settle(given_up(cancel_cause::disconnect, to_string(work.refusal)));
        return;
    }
    auto answers = std::make_unique<answering>(shared_from_this(), std::move(result), std::move(work.request));
    {
        const std::lock_guard lock(mutex_);
        if (settled()) return;
        thinking_ = answers->token();
    }
    session_->turns().submit(*answers.release(), nullptr);
}

void pending_state::next_round(json::object answers, const json::value* request_state) {
    if (settled()) return;
    if (now() >= give_up_at_) {
        settle({.status = call_status::timed_out, .message = "while answering the server's questions"});
        return;
    }
    json::object params = params_;
    if (!answers.empty()) params["inputResponses"] = std::move(answers);
    if (request_state != nullptr) params["requestState"] = *request_state;
    send(std::move(params));
}

}  // namespace andon::detail
