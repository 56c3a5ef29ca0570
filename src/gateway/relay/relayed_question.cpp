#include "gateway/relay/relayed_question.hpp"

#include <chrono>

namespace andon::gateway {

relayed_question::relayed_question(std::shared_ptr<upstream> from, std::shared_ptr<detail::conversation> host,
                                   detail::incoming_request request, const envelope& message)
    : from_(std::move(from)),
      host_(std::move(host)),
      in_(std::move(request)),
      token_(in_.request.token()),
      raw_id_(message.raw_id),
      method_(message.method),
      raw_token_(message.raw_progress_token),
      raw_params_(on_one_line(std::string(message.raw_params))) {
    if (!raw_token_.empty()) {
        token_at_ = static_cast<std::size_t>(message.raw_progress_token.data() - message.raw_params.data());
    }
}

void relayed_question::send(std::int64_t id, std::shared_ptr<reply_path> via) {
    if (!raw_token_.empty()) raw_params_.replace(token_at_, raw_token_.size(), std::to_string(id));
    const auto sent = host_->pass_on({.method = method_,
                                      .at_once = true,
                                      .raw = shared_from_this(),
                                      .raw_params = std::move(raw_params_),
                                      .id = id,
                                      .via = std::move(via)},
                                     in_.request);
    if (sent->never_began()) answer(error_message(raw_id_, error_code::internal_error, "the host is gone"));
}

void relayed_question::on_progress(const envelope& message) {
    if (raw_token_.empty() || message.raw_progress_token.empty()) return;
    from_->talk().send(on_one_line(whole_notification_message(
                           message.method, spliced(message.raw_params, message.raw_progress_token, raw_token_))),
                       &token_);
}

void relayed_question::answer(std::string_view line) {
    const bool waited_for = in_.request.begin_response();
    in_.request.finish(std::chrono::steady_clock::now());
    from_->talk().answer(in_.to, waited_for ? line : std::string_view());
    over_ = true;
    let_go_of_stream();
}

void relayed_question::on_answer(const envelope& message) {
    answer(on_one_line(message.kind == message_kind::error ? raw_error_message(raw_id_, message.raw_error)
                                                           : result_message(raw_id_, message.raw_result)));
}

/// The server took it back, or one of the two is gone.
void relayed_question::on_given_up(const call_outcome& outcome) {
    answer(error_message(raw_id_, error_code::internal_error, "the host did not answer: " + outcome.message));
}

}  // namespace andon::gateway
