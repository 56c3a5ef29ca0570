#include "andon/core/cancel_token.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "andon/core/cancel_callback.hpp"

namespace andon {
namespace {

// Sleeps on a condition variable of its own, which the callback signals. The registration is destroyed before the
// variables, and waits for a callback under way: nothing is signalled that no longer exists.
template <class Sleep>
bool sleep_until_cancelled(const cancel_token& token, Sleep sleep) {
    std::mutex mutex;
    std::condition_variable changed;
    bool woken = false;
    const cancel_callback wake(token, [&] {
        const std::scoped_lock hold(mutex);
        woken = true;
        changed.notify_one();
    });
    std::unique_lock hold(mutex);
    sleep(changed, hold, [&] { return woken; });
    return woken;
}

std::string describe(cancel_cause cause, const reason& why) {
    std::string message = "cancelled (";
    message += to_string(cause);
    message += ')';
    if (!why.empty()) {
        message += ": ";
        message += why.text();
    }
    return message;
}

}  // namespace

cancelled_error::cancelled_error(cancel_cause cause, reason why)
    : cause_(cause), why_(std::move(why)), message_(describe(cause_, why_)) {}

cancel_cause cancel_token::cause() const noexcept { return state_ != nullptr ? state_->cause() : cancel_cause::peer; }

reason cancel_token::why() const noexcept { return cancelled() ? state_->why() : reason(); }

void cancel_token::throw_cancelled() const { throw cancelled_error(cause(), why()); }

bool cancel_token::wait_until(time_point deadline) const {
    if (!can_be_cancelled()) {
        std::this_thread::sleep_until(deadline);
        return false;
    }
    if (cancelled()) return true;
    return sleep_until_cancelled(
        *this, [&](auto& changed, auto& hold, auto woken) { changed.wait_until(hold, deadline, woken); });
}

void cancel_token::wait() const {
    if (!can_be_cancelled() || cancelled()) return;
    sleep_until_cancelled(*this, [](auto& changed, auto& hold, auto woken) { changed.wait(hold, woken); });
}

}  // namespace andon
