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
#include "client/task_following.hpp"
#include "transport/outgoing_call.hpp"

namespace andon::detail {

/// States, each change under the mutex:
///
///     calling ──an answer──► settled
///        ▲ └──"input required"──► answering (our handlers think, on a worker; in the table as work of our own)
///        └───────────────────────────┘ the next request, with the answers
///     calling ──a task──► following (task_following) ──its end──► settled
///     calling, answering, following ──cancel(), the maximum, the end of the session──► settled, by whoever cancels
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

    // As a task.

    /// Before start(): the server is asked to make it one (2025-11-25).
    void ask_for_task(std::optional<std::chrono::milliseconds> ttl);
    /// Before start(): it is to be one, and outlives us.
    void run_as_task(follow_options options);
    /// Instead of start(): there is one.
    void start_following(std::string id);
    [[nodiscard]] task_report report() const;
    /// Until there is a task, or an answer. Not on the loop's thread.
    void wait_until_created() const;
    /// Without touching the task.
    void let_go();

private:
    void send(json::object params);
    void advance();  // the current request is settled
    void answer_questions(json::object result);
    void next_round(json::object answers, const std::optional<json::value>& request_state);
    [[nodiscard]] bool knows_tasks(const revision_policy& rules) const noexcept;
    void follow(const json::object& task, std::optional<std::int64_t> request);
    void created();
    void report(const task_report& report);
    bool settle(call_outcome outcome);

    std::shared_ptr<client_session> session_;
    std::string method_;
    json::object params_;
    call_options options_;
    time_point give_up_at_;
    bool cancellable_;
    int rounds_ = 0;
    bool asked_for_task_ = false;
    bool as_task_ = false;
    follow_options following_options_;

    mutable std::mutex mutex_;
    std::shared_ptr<outgoing_call> current_;  // null: answering, or settled
    std::shared_ptr<task_following> following_;
    std::optional<call_outcome> cancel_wanted_;
    task_report report_;
    cancel_token thinking_;  // what our handlers look at, while they answer
    std::function<void()> then_;
    call_outcome outcome_;
    std::atomic<bool> settled_ = false;
    std::atomic<bool> created_ = false;
};

/// Waits; throws where that would never end.
[[nodiscard]] const call_outcome& outcome_of(pending_state& state, const char* whose);
/// The result, or what else became of it, thrown.
[[nodiscard]] const json::value& value_of(const call_outcome& outcome);

}  // namespace andon::detail
