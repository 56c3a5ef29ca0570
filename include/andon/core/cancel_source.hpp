// Work that is in no table but can be cancelled: a part of a request, or anything of one's own.
#pragma once

#include <string_view>
#include <utility>

#include "andon/core/cancel_token.hpp"

namespace andon {

/// Owns a cancel state. Letting go of it ends the work: what hangs below is cancelled, and a cancel from above no
/// longer reaches it.
class cancel_source {
public:
    cancel_source() : state_(new plain_state) {}
    /// Hangs below `parent`: its cancel reaches us with the cause "parent" and its reason.
    explicit cancel_source(const cancel_token& parent, time_point now = unknown_time) : cancel_source() {
        if (parent.can_be_cancelled()) state_->hang_below(*parent.state(), now);
    }
    cancel_source(const cancel_source&) = delete;
    cancel_source(cancel_source&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    cancel_source& operator=(const cancel_source&) = delete;
    cancel_source& operator=(cancel_source&& other) noexcept {
        cancel_source ended(std::move(other));  // takes our old work along
        std::swap(state_, ended.state_);
        return *this;
    }
    ~cancel_source() {
        if (state_ == nullptr) return;
        state_->end(unknown_time);
        state_->release();
    }

    cancel_result cancel(cancel_cause cause, std::string_view why, time_point now) noexcept {
        return state_->cancel(cause, why, now);
    }
    [[nodiscard]] bool begin_response() noexcept { return state_->begin_response(); }
    bool end(time_point now) noexcept { return state_->end(now); }
    [[nodiscard]] cancel_token token() const noexcept { return cancel_token(*state_); }
    [[nodiscard]] request_state state() const noexcept { return state_->state(); }

private:
    class plain_state final : public cancel_state {};

    cancel_state* state_;
};

}  // namespace andon
