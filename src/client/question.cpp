#include "client/question.hpp"

#include <chrono>

#include "andon/core/visible_text.hpp"

namespace andon::detail {

question::question(std::shared_ptr<client_session> in, incoming_request request, std::string raw_id,
                   json::object params, const question_handler& handler)
    : turn(kind::thread),
      session_(std::move(in)),
      incoming_(std::move(request)),
      raw_id_(std::move(raw_id)),
      params_(std::move(params)),
      handler_(handler),
      token_(incoming_.request.token()) {}

void question::dispatch() {
    callback_.emplace(token_, cancelled{this});
    session_->turns().submit(*this, nullptr);
}

void question::begin() noexcept {
    if (token_.cancelled()) return end({});
    std::string line;
    try {
        line = result_message(raw_id_, json_text(handler_(params_, token_)));
    } catch (const rpc_error& error) {
        line = error_message(raw_id_, error.code(), error.what(), error.data());
    } catch (const std::exception& error) {
        line = error_message(raw_id_, error_code::internal_error, error.what());
    } catch (...) {
        line = error_message(raw_id_, error_code::internal_error, "the handler failed");
    }
    end(line);
}

void question::end(std::string_view line) noexcept {
    const bool ours = !line.empty() && incoming_.request.begin_response();
    callback_.reset();
    // A handler that was quick to notice is here before the canceller came to our callback.
    if (!logged_ && token_.cancelled()) log_cancel();
    incoming_.request.finish(std::chrono::steady_clock::now());
    session_->talk().answer(incoming_.to, ours ? line : std::string_view());
    session_->turns().done(*this);
    delete this;
}

void question::on_cancel() noexcept {
    log_cancel();
    if (session_->turns().withdraw(*this)) end({});
}

void question::log_cancel() noexcept {
    logged_ = true;
    std::string text = "question " + visible_text(raw_id_, 64) + " (" + visible_text(incoming_.request.label(), 128) +
                       ") cancelled: " + std::string(to_string(token_.cause()));
    if (const reason why = token_.why(); !why.empty()) (text += ", ") += why.text();
    session_->talk().log(log_level::info, text);
}

}  // namespace andon::detail
