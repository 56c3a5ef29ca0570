#include "client/question_round.hpp"

#include <chrono>
#include <stdexcept>

namespace andon::detail {

call_outcome unusable(std::string why) {
    return {.status = call_status::failed, .code = error_code::internal_error, .message = std::move(why)};
}

call_outcome given_up(cancel_cause cause, std::string_view why) {
    const auto status = cause == cancel_cause::timeout      ? call_status::timed_out
                        : cause == cancel_cause::disconnect ? call_status::disconnected
                                                            : call_status::cancelled;
    return {.status = status, .message = std::string(reason(why).text())};
}

std::unique_ptr<question_round> question_round::make(std::shared_ptr<client_session> in, settings given) {
    auto work = in->talk().begin_own_work(given.label, {.maximum = given.maximum});
    if (!work) {
        given.failed(given_up(cancel_cause::disconnect, to_string(work.refusal)));
        return nullptr;
    }
    return std::unique_ptr<question_round>(
        new question_round(std::move(in), std::move(given), std::move(work.request)));
}

question_round::question_round(std::shared_ptr<client_session> in, settings given, active_request work)
    : turn(kind::thread),
      session_(std::move(in)),
      settings_(std::move(given)),
      work_(std::move(work)),
      token_(work_.token()) {
    callback_.emplace(token_, cancelled{this});
}

question_round::~question_round() = default;

void question_round::submit(std::unique_ptr<question_round> round) {
    scheduler& turns = round->session_->turns();
    turns.submit(*round.release(), nullptr);
}

void question_round::begin() noexcept {
    try {
        json::object answers;
        for (const auto& [name, question] : settings_.questions) answers[name] = answer(question.as_object());
        token_.throw_if_cancelled();
        settings_.answered(std::move(answers));
    } catch (const std::exception& error) {
        fail(std::string(": ") + error.what());
    } catch (...) {
        fail("");
    }
    work_.finish(std::chrono::steady_clock::now());
    session_->turns().done(*this);
    delete this;
}

/// Handlers that were quick to notice are here before the canceller came to our callback.
void question_round::fail(const std::string& why) const {
    settings_.failed(token_.cancelled() ? given_up(token_.cause(), token_.why().text())
                                        : unusable("a question of the server's could not be answered" + why));
}

json::object question_round::answer(const json::object& question) const {
    const std::string method(question.at("method").as_string());
    const question_handler* const handler = session_->handler_of(method);
    if (handler == nullptr) throw std::runtime_error("there is no handler for " + method);
    const json::value* const params = question.if_contains("params");
    token_.throw_if_cancelled();
    return (*handler)(params != nullptr ? params->as_object() : json::object(), token_);
}

}  // namespace andon::detail
