// What a server wants to know before it goes on, while our handlers think about it (2026-07-28).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "andon/core/cancel_callback.hpp"
#include "client/client_session.hpp"

namespace andon::detail {

/// Runs our handlers, one after the other, on a worker; in the table as work of our own. Deletes itself. One of both is
/// called: `answered`, on the worker, or `failed`, on any thread.
class question_round final : public turn {
public:
    struct settings {
        std::string_view label;
        json::object questions;  // by their names
        duration maximum;
        std::function<void(json::object answers)> answered;
        std::function<void(call_outcome)> failed;
    };

    /// Null: `failed` was called. Else it is to be submitted, or is gone when it is let go.
    [[nodiscard]] static std::unique_ptr<question_round> make(std::shared_ptr<client_session> in, settings given);
    static void submit(std::unique_ptr<question_round> round);
    ~question_round();

    [[nodiscard]] const cancel_token& token() const noexcept { return token_; }

private:
    struct cancelled {
        question_round* self;
        void operator()() const noexcept { self->fail({}); }
    };

    question_round(std::shared_ptr<client_session> in, settings given, active_request work);
    void begin() noexcept override;
    void fail(const std::string& why) const;
    [[nodiscard]] json::object answer(const json::object& question) const;

    std::shared_ptr<client_session> session_;
    settings settings_;
    active_request work_;
    cancel_token token_;
    std::optional<cancel_callback<cancelled>> callback_;  // last: goes first, and waits for itself
};

/// How a call ends that we have given up.
[[nodiscard]] call_outcome given_up(cancel_cause cause, std::string_view why);
/// How one ends whose answer is of no use.
[[nodiscard]] call_outcome unusable(std::string why);

}  // namespace andon::detail
