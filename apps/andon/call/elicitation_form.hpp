// When a server asks the person something.
#pragma once

#include <boost/json/object.hpp>
#include <mutex>
#include <optional>
#include <string>

#include "andon/core/cancel_token.hpp"
#include "andon/wire/error.hpp"
#include "call/call_display.hpp"

namespace andon::app {

/// Asks on the terminal, one question at a time: first whether it is to be answered, then each field of the schema.
/// Without a person on standard input it declines.
class elicitation_form {
public:
    explicit elicitation_form(call_display& display) : display_(display) {}

    /// The answer to `elicitation/create`: accept with the fields, decline, or cancel (the end of the input, or nobody
    /// wants it any more).
    [[nodiscard]] json::object answer(const json::object& params, const cancel_token& token);

private:
    [[nodiscard]] json::object ask(const json::object& params, const cancel_token& token);

    call_display& display_;
    std::mutex one_at_a_time_;
};

}  // namespace andon::app
