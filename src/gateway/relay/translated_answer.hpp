// A server's answer in the words of the host's era.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "andon/wire/envelope.hpp"
#include "gateway/relay/relayed_call.hpp"
#include "gateway/translation/errors.hpp"

namespace andon::gateway {

/// `afterwards` is called with what has to be sent to the server where its result cannot be said.
template <class Words, class Afterwards>
[[nodiscard]] rewritten_answer translated_answer(Words& words, const std::string& method, const envelope& message,
                                                 Afterwards afterwards) {
    if (message.kind == message_kind::error) {
        std::string raw = words.error(method, message.raw_error);
        const int code = code_in(raw);
        return {.raw_error = std::move(raw), .code = code};
    }
    auto said = words.result(method, message.raw_result);
    if (auto* good = std::get_if<answer>(&said)) return {.raw_result = std::move(good->raw_result)};
    const auto& why = std::get<refusal>(said);
    if (why.afterwards) afterwards(*why.afterwards);
    return {.raw_error = raw_error_of(why), .code = why.code};
}

}  // namespace andon::gateway
