// What is behind a pending_call: one request, or several, where the server asks for input in between (2026-07-28).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "andon/client/pending_call.hpp"
#include "andon/core/cancel_token.hpp"
#include "client/client_session.hpp"
#include "transport/outgoing_call.hpp"

namespace andon::detail {

/// States, each change under the mutex:
///
///     calling ──an answer──► settled
///        ▲ └──"input required"──► answering (our handlers think, on a worker; in the table as work of our own)
///        └───────────────────────────┘ the next request, with the answers
///     calling, answering ──cancel(), the maximum, the end of the session──► settled, on the thread that cancels
///
/// A cancel that comes too late for the request of one round is remembered, so that there is no next one.
class pending_state : public std::enable_shared_from_this<pending_state> {
public:
    pending_state(std::shared_ptr<client_session> in, std::string method, json::object params, call_options options);

    void start();
    bool cancel(cancel_cause cause, std::string_view why);
    /// Not on the loop's thread.
    void wait() const;
    [[nodiscard]] bool settled() const noexcept { return settled_.load(std::memory_order_acquire); }
    [[nodiscard]] const call_outcome& outcome() const noexcept { return outcome_; }
    /// Goes on, on the loop's thread, when it is settled. False: it is settled already.
    [[nodiscard]] bool then(std::function<void()> go_on);
    [[nodiscard]] bool here() const noexcept { return session_->talk().here(); }

private:
    class answering;

    void send(json::object params);
    void advance();  // the current request is settled
    void answer_questions(json::object result);
    void next_round(json::object answers, const json::value* request_state);
    bool settle(call_outcome outcome);

    std::shared_ptr<client_session> session_;
    std::string method_;
    json::object params_;
    call_options options_;
    time_point give_up_at_;
    bool cancellable_;
    int rounds_ = 0;

    std::mutex mutex_;
    std::shared_ptr<outgoing_call> current_;  // null: answering, or settled
    std::optional<call_outcome> cancel_wanted_;
    cancel_token thinking_;  // what our handlers look at, while they answer
    std::function<void()> then_;
    call_outcome outcome_;
    std::atomic<bool> settled_ = false;
};

}  // namespace andon::detail
