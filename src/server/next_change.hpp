// How a coroutine waits for a task.
#pragma once

#include "server/live_task.hpp"
#include "server/wake_once.hpp"

namespace andon::detail {

/// Until something has changed, or the call is cancelled.
class next_change {
public:
    next_change(live_task& of, std::uint64_t seen, call_state& state) : of_(of), seen_(seen), once_(state, true) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        once_.arm(waiting);
        waiter_ = of_.when_changed(seen_, [this] { once_.wake(); });
    }
    void await_resume() {
        once_.disarm();
        waiter_.reset();
    }

private:
    live_task& of_;
    std::uint64_t seen_;
    wake_once once_;
    live_task::waiter waiter_;
};

}  // namespace andon::detail
