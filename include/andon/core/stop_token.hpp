// std::stop_token at the edge: whatever the standard library can stop, a cancel can stop, and the other way round.
#pragma once

#include <stop_token>
#include <utility>

#include "andon/core/cancel_callback.hpp"

namespace andon {

/// Gives code that takes a std::stop_token (std::condition_variable_any, std::jthread) one that follows our token.
/// Keep it alive for as long as the stop token is in use; the token of a bridge that is gone no longer follows.
class stop_on_cancel {
public:
    explicit stop_on_cancel(const cancel_token& token) : forward_(token, request_stop{source_}) {}

    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

private:
    struct request_stop {
        std::stop_source source;
        void operator()() const noexcept {
            std::stop_source kept = source;  // a stop callback may destroy the bridge
            kept.request_stop();
        }
    };

    std::stop_source source_;
    cancel_callback<request_stop> forward_;
};

/// Cancels what `target` looks at when a std::stop_token is stopped. `now` is asked for the time then; without it the
/// outcome does not know when it was asked.
class cancel_on_stop {
public:
    using clock = time_point (*)();

    cancel_on_stop(const std::stop_token& stop, cancel_token target, cancel_cause cause, reason why = {},
                   clock now = nullptr)
        : forward_(stop, cancel_target{std::move(target), cause, std::move(why), now}) {}

private:
    struct cancel_target {
        cancel_token target;
        cancel_cause cause;
        reason why;
        clock now;
        void operator()() const noexcept {
            if (auto* state = target.state()) state->cancel(cause, why, now != nullptr ? now() : unknown_time);
        }
    };

    std::stop_callback<cancel_target> forward_;
};

}  // namespace andon
