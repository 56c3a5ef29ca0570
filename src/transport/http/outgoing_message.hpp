// A message of ours, as HTTP has to know it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "andon/wire/envelope.hpp"

namespace andon::detail {

/// A message's part of all the bytes that the server has not taken yet. Given back with the message, at the latest.
class waiting_part {
public:
    using total = std::shared_ptr<std::atomic<std::size_t>>;

    waiting_part() = default;
    waiting_part(total of, std::size_t bytes) noexcept : of_(std::move(of)), bytes_(bytes) { *of_ += bytes_; }
    waiting_part(waiting_part&&) noexcept = default;
    waiting_part& operator=(waiting_part&& other) noexcept {
        give_back();
        of_ = std::move(other.of_);
        bytes_ = other.bytes_;
        return *this;
    }
    ~waiting_part() { give_back(); }
    void give_back() noexcept {
        if (const auto of = std::exchange(of_, nullptr)) *of -= bytes_;
    }

private:
    total of_;
    std::size_t bytes_ = 0;
};

struct outgoing_message {
    std::string line;
    message_kind kind = message_kind::notification;
    std::optional<request_id> id{};  ///< of a request
    std::string raw_id{};            ///< likewise
    std::string method{};            ///< of requests and notifications
    std::string version{};           ///< what `_meta` of a modern request says; empty: it is a legacy one
    waiting_part part{};             ///< none: it is not counted

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
