#include "transport/outgoing_call.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "transport/conversation.hpp"

namespace andon::detail {
namespace {

call_outcome failure_from(std::string_view raw_error) {
    call_outcome outcome{.status = call_status::failed, .code = error_code::internal_error};
    const auto parsed = value_from_json(raw_error);
    if (!parsed || !parsed->is_object()) return outcome;
    const json::object& error = parsed->get_object();
    if (const auto* code = error.if_contains("code"); code != nullptr && code->is_int64()) {
        constexpr std::int64_t lowest = std::numeric_limits<int>::min();
        constexpr std::int64_t highest = std::numeric_limits<int>::max();
        outcome.code = static_cast<int>(std::clamp(code->get_int64(), lowest, highest));
    }
    if (const auto* message = error.if_contains("message"); message != nullptr && message->is_string()) {
        outcome.message = std::string(message->get_string());
    }
    if (const auto* data = error.if_contains("data")) outcome.data = *data;
    return outcome;
}

call_outcome success_from(std::string_view raw_result) {
    auto parsed = value_from_json(raw_result);
    if (parsed) return {.status = call_status::completed, .result = std::move(*parsed)};
    // A number, say, whose exponent no double has.
    return {.status = call_status::failed,
            .code = error_code::internal_error,
            .message = "the answer holds a value that cannot be read"};
}

call_status status_of(cancel_cause cause) noexcept {
    switch (cause) {
        case cancel_cause::timeout: return call_status::timed_out;
        case cancel_cause::disconnect: return call_status::disconnected;
        default: return call_status::cancelled;
    }
}

std::optional<double> number_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return found->to_number<double>();
}

}  // namespace

outgoing_call::outgoing_call(std::shared_ptr<conversation> in, settings what, std::int64_t id, active_request request,
                             std::shared_ptr<reply_path> via)
    : conversation_(std::move(in)),
      settings_(std::move(what)),
      id_(id),
      via_(std::move(via)),
      request_(std::move(request)) {
    then_ = std::move(settings_.then);
    if (settings_.raw) then_ = [this] { settings_.raw->on_given_up(outcome_); };
    if (request_) token_ = request_.token();
}

outgoing_call::~outgoing_call() = default;

void outgoing_call::watch() { callback_.emplace(token_, on_cancelled{this}); }

bool outgoing_call::cancel(cancel_cause cause, std::string_view why) {
    if (settled()) return false;
    const auto result = token_.state()->cancel(cause, why, std::chrono::steady_clock::now());
    if (!result.accepted() && !conversation_->here()) wait();  // whoever won is about to settle it
    return result.accepted();
}

void outgoing_call::wait() const { settled_.wait(false, std::memory_order_acquire); }

bool outgoing_call::then(std::function<void()> go_on) {
    const std::lock_guard lock(mutex_);
    if (settled()) return false;
    then_ = std::move(go_on);
    return true;
}

std::function<void()> outgoing_call::settle(call_outcome outcome) {
    std::function<void()> go_on;
    {
        const std::lock_guard lock(mutex_);
        outcome_ = std::move(outcome);
        settled_.store(true, std::memory_order_release);
        go_on = std::move(then_);
    }
    settled_.notify_all();
    return go_on;
}

void outgoing_call::on_cancel() noexcept {
    auto go_on = settle({.status = status_of(token_.cause()), .message = std::string(token_.why().text())});
    // The rest not here: whatever goes on may let go of us, and we are inside our own callback.
    if (const auto self = weak_from_this().lock()) {
        if (conversation_->here()) conversation_->take_back(*this);
        conversation_->post([self, go_on = std::move(go_on)] {
            self->conversation_->give_up(*self);
            if (go_on) go_on();
        });
    }
}

bool outgoing_call::answered(const envelope& message) {
    const bool waited_for = request_.begin_response();
    request_.finish(std::chrono::steady_clock::now());
    if (!waited_for) return false;  // SND-1: a late answer is dropped quietly
    if (settings_.raw) {
        static_cast<void>(settle({.status = call_status::completed}));
        settings_.raw->on_answer(message);
        return true;
    }
    const auto go_on = settle(message.kind == message_kind::error ? failure_from(message.raw_error)
                                                                  : success_from(message.raw_result));
    if (go_on) go_on();
    return true;
}

void outgoing_call::progressed(const envelope& message) {
    if (request_.state() != request_state::running) return;
    if (settings_.progress_restarts_idle) request_.progress(std::chrono::steady_clock::now());
    if (settings_.raw) return settings_.raw->on_progress(message);
    if (!settings_.on_progress) return;
    tell_progress(message, settings_.on_progress, conversation_->around_->log);
}

void outgoing_call::ended(const envelope& message) {
    const bool waited_for = request_.begin_response();
    request_.finish(std::chrono::steady_clock::now());
    if (!waited_for) return;
    if (settings_.raw) {
        static_cast<void>(settle({.status = call_status::completed}));
        return settings_.raw->on_ended(message);
    }
    json::object how{{"ended", "notifications/cancelled"}};
    if (const auto why = string_from_json(message.raw_reason)) how["reason"] = *why;
    const auto go_on = settle({.status = call_status::completed, .result = std::move(how)});
    if (go_on) go_on();
}

void tell_progress(const envelope& message, const std::function<void(const progress_update&)>& told,
                   const log_sink& log) {
    const auto parsed = value_from_json(message.raw_params);
    if (!parsed || !parsed->is_object()) return;
    const json::object& params = parsed->get_object();
    const auto progress = number_in(params, "progress");
    if (!progress) return;
    const json::value* const text = params.if_contains("message");
    try {
        told({.progress = *progress,
              .total = number_in(params, "total"),
              .message =
                  text != nullptr && text->is_string() ? std::string_view(text->get_string()) : std::string_view()});
    } catch (const std::exception& error) {  // it is the user's, and this is the thread of everything
        log(log_level::warning, std::string("on_progress threw: ") + error.what());
    } catch (...) {
        log(log_level::warning, "on_progress threw");
    }
}

}  // namespace andon::detail
