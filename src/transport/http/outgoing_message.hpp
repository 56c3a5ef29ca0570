// A message of ours, as HTTP has to know it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "andon/wire/envelope.hpp"

namespace andon::detail {

struct outgoing_message {
    std::string line;
    message_kind kind = message_kind::notification;
    std::optional<request_id> id{};  ///< of a request
    std::string raw_id{};            ///< likewise
    std::string method{};            ///< of requests and notifications
    std::string version{};           ///< what `_meta` of a modern request says; empty: it is a legacy one

    [[nodiscard]] bool is_request() const noexcept { return id.has_value(); }
    [[nodiscard]] bool is_modern() const noexcept { return !version.empty(); }

    /// What cannot be read is taken for an answer: several of them in one line cannot.
    [[nodiscard]] static outgoing_message from(std::string_view line, envelope_reader& reader);
};

/// The text with room behind it, as an envelope_reader wants it.
class padded_line {
public:
    explicit padded_line(std::string text);
    [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

private:
    std::size_t size_;
    std::string bytes_;
};

}  // namespace andon::detail
