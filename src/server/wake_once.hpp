// How a coroutine that waits for several things goes on.
#pragma once

#include <atomic>
#include <coroutine>
#include <optional>

#include "andon/core/cancel_callback.hpp"
#include "server/call_state.hpp"

namespace andon::detail {

/// Wakes a coroutine once, on the loop, by whichever comes first; one of them may be the call's cancel.
class wake_once {
public:
    wake_once(call_state& state, bool with_cancel) : state_(state), with_cancel_(with_cancel) {}
    void arm(std::coroutine_handle<> waiting) {
        waiting_ = waiting;
        if (with_cancel_) callback_.emplace(state_.token(), cancelled{this});
    }
    void wake() noexcept {
        if (!woken_.exchange(true)) state_.talk().post([this] { waiting_.resume(); });
    }
    /// After it went on: nobody wakes it any more.
    void disarm() noexcept { callback_.reset(); }

private:
    struct cancelled {
        wake_once* self;
        void operator()() const noexcept { self->wake(); }
    };
    call_state& state_;
    bool with_cancel_;
    std::coroutine_handle<> waiting_;
    std::atomic<bool> woken_ = false;
    std::optional<cancel_callback<cancelled>> callback_;
};

}  // namespace andon::detail
