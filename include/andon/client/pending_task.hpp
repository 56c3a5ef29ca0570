// A call that outlives its request: follow it, stop it, leave it and come back.
#pragma once

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "andon/client/call_outcome.hpp"
#include "andon/core/time.hpp"
#include "andon/tasks/task_record.hpp"
#include "andon/wire/message.hpp"

namespace andon {

namespace detail {
class pending_state;
}

/// What is known of a task.
struct task_report {
    std::string id{};
    task_status status = task_status::working;
    std::string message{};
};

struct follow_options {
    /// Without an answer for this long a request about the task is given up, and tried again. Unset: the client's.
    std::optional<duration> timeout{};
    /// The task is cancelled then. Unset: as long as the server keeps it.
    std::optional<duration> max_timeout{};
    /// How long the server is asked to keep it, from its creation (2025-11-25).
    std::optional<std::chrono::milliseconds> ttl{};
    /// Called on the client's thread whenever something has changed.
    std::function<void(const task_report&)> on_status{};
    /// Likewise (2025-11-25).
    std::function<void(const progress_update&)> on_progress{};
};

/// The handle of one task. It looks at it as often as the server wants, answers what is asked in between, and fetches
/// the result. Dropping it leaves the task alone, as does the end of this process: whoever has the id can go on with
/// client.follow_task(). Only while there is no task yet, dropping it cancels the call. May be used from any thread, by
/// one at a time; cancel() at any time.
class [[nodiscard]] pending_task {
public:
    explicit pending_task(std::shared_ptr<detail::pending_state> state) noexcept : state_(std::move(state)) {}
    pending_task(pending_task&&) noexcept = default;
    pending_task& operator=(pending_task&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    pending_task(const pending_task&) = delete;
    pending_task& operator=(const pending_task&) = delete;
    ~pending_task();

    /// Blocks until the server has made the task. Empty: it has not, and answered the call itself. Not on the client's
    /// own thread.
    [[nodiscard]] std::string id() const;
    [[nodiscard]] task_report report() const;

    /// Stops waiting, and sends `tasks/cancel` (SND-6). Returns at once, with the outcome there. False: it was over
    /// before.
    bool cancel(std::string_view reason = {});
    [[nodiscard]] bool done() const noexcept;
    /// Blocks until it is over. Not on the client's own thread: co_await there. A task that somebody else cancelled has
    /// failed, with error_code::request_cancelled.
    [[nodiscard]] const call_outcome& get() const;
    /// The result, or throws: rpc_error, cancelled_error, or std::runtime_error.
    [[nodiscard]] const json::value& value() const;

    /// Goes on, on the client's thread.
    [[nodiscard]] bool await_ready() const noexcept { return done(); }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) const;
    [[nodiscard]] const call_outcome& await_resume() const { return get(); }

private:
    std::shared_ptr<detail::pending_state> state_;
};

}  // namespace andon
