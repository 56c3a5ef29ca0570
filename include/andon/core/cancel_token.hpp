// What the work looks at to learn that it should stop.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "andon/core/cancel_state.hpp"

namespace andon {

/// Thrown by throw_if_cancelled(): unwinds a handler whose work is no longer wanted.
class cancelled_error : public std::exception {
public:
    cancelled_error(cancel_cause cause, reason why);

    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
    [[nodiscard]] cancel_cause cause() const noexcept { return cause_; }
    [[nodiscard]] const reason& why() const noexcept { return why_; }

private:
    cancel_cause cause_;
    reason why_;
    std::string message_;
};

/// A pointer to the state of one piece of work. Copying it counts a reference, so that it may outlive the work; asking
/// it is one acquire load. A token made from nothing is never cancelled.
class cancel_token {
public:
    cancel_token() noexcept = default;
    explicit cancel_token(cancel_state& state) noexcept : state_(&state) { state.retain(); }
    cancel_token(const cancel_token& other) noexcept : state_(other.state_) {
        if (can_be_cancelled()) state_->retain();
    }
    cancel_token(cancel_token&& other) noexcept : state_(std::exchange(other.state_, &cancel_state::nobody)) {}
    cancel_token& operator=(cancel_token other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~cancel_token() {
        if (can_be_cancelled()) state_->release();
    }

    /// Cheap enough for the inside of any loop. Once true, true for ever, and cause() and why() are final.
    [[nodiscard]] bool cancelled() const noexcept { return state_->cancelled(); }
    [[nodiscard]] bool can_be_cancelled() const noexcept { return state_ != &cancel_state::nobody; }

    /// Meaningful once cancelled() was true.
    [[nodiscard]] cancel_cause cause() const noexcept;
    [[nodiscard]] reason why() const noexcept;

    void throw_if_cancelled() const {
        if (cancelled()) throw_cancelled();
    }

    /// Sleeps until the cancel or the deadline, whichever comes first; says whether it was the cancel.
    [[nodiscard]] bool wait_until(time_point deadline) const;
    /// Sleeps until the cancel. A token that cannot be cancelled would sleep for ever: it returns at once.
    void wait() const;

    /// Null for a token made from nothing.
    [[nodiscard]] cancel_state* state() const noexcept { return can_be_cancelled() ? state_ : nullptr; }
    friend bool operator==(const cancel_token& a, const cancel_token& b) noexcept { return a.state_ == b.state_; }

private:
    [[noreturn]] void throw_cancelled() const;

    cancel_state* state_ = &cancel_state::nobody;
};

/// While one of these lives, a cancel of the work waits: it is accepted, but polls stay false, callbacks do not run and
/// nothing below is told, until the last section ends. That end delivers it, on the thread that leaves (RCV-13). The
/// sections belong to the work: when the work itself is over, what hangs below it is cancelled all the same.
class uninterrupted_section {
public:
    explicit uninterrupted_section(const cancel_token& token) noexcept
        : token_(token.state() != nullptr && token.state()->enter_section() ? token : cancel_token()) {}
    uninterrupted_section(const uninterrupted_section&) = delete;
    uninterrupted_section& operator=(const uninterrupted_section&) = delete;
    ~uninterrupted_section() {
        if (protects()) token_.state()->leave_section();
    }

    /// False where the cancel took effect before the section began, or nothing can be cancelled.
    [[nodiscard]] bool protects() const noexcept { return token_.state() != nullptr; }

private:
    cancel_token token_;
};

}  // namespace andon
