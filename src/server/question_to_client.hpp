// A question of the server's to its client (up to 2025-11-25), as a request or as a task on the client's side.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "transport/conversation.hpp"

namespace andon::detail {

/// As a task it is two requests: the one that makes it, and `tasks/result`, which waits. Both hang below the call that
/// asks: its cancel ends the waiting, and then the task itself, by `tasks/cancel`.
///
///     asking ──an answer──► settled
///       └──a task──► waiting ──its result──► settled
///                       └──the call is cancelled──► tasks/cancel, settled
class question_to_client : public std::enable_shared_from_this<question_to_client> {
public:
    question_to_client(conversation& talk, const incoming_request& part_of, std::string method, json::object params,
                       const time_limits& limits);

    void start(bool as_task);
    /// The call that asks is about to end: nothing more is asked for it.
    void leave_call();
    /// Any thread but the loop's.
    void wait() const { settled_.wait(false, std::memory_order_acquire); }
    [[nodiscard]] bool settled() const noexcept { return settled_.load(std::memory_order_acquire); }
    /// Goes on, on the loop's thread. False: it is settled already.
    [[nodiscard]] bool then(std::function<void()> go_on);
    /// Once settled.
    [[nodiscard]] call_outcome& outcome() noexcept { return outcome_; }

private:
    void ask(std::string method, json::object params, void (question_to_client::*next)(call_outcome));
    void answered(call_outcome outcome);
    void fetched(call_outcome outcome);
    void settle(call_outcome outcome);

    std::shared_ptr<conversation> talk_;
    std::mutex asking_;
    const incoming_request* part_of_;  // null: it has ended
    std::string method_;
    json::object params_;
    time_limits limits_;
    bool as_task_ = false;
    std::string task_;
    std::mutex mutex_;
    std::function<void()> then_;
    call_outcome outcome_;
    std::atomic<bool> settled_ = false;
};

}  // namespace andon::detail
