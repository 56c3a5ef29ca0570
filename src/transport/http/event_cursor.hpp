// How far one has come in a stream of events, whatever connections it came over.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "transport/http/sse.hpp"

namespace andon::detail {

/// A stream can be gone on with where the last event has an id (up to 2025-11-25).
class event_cursor {
public:
    explicit event_cursor(std::size_t largest_event) noexcept : largest_event_(largest_event), parser_(largest_event) {}

    /// A connection brings it, from its beginning or from the last event on.
    void connected() {
        parser_ = sse_parser(largest_event_);
        failures_ = 0;
        barren_ = true;
    }
    /// The data of the next message. Nothing: all bytes are taken.
    [[nodiscard]] std::optional<std::string> next(std::string_view& bytes);
    /// An event was too large.
    [[nodiscard]] bool failed() const noexcept { return parser_.failed(); }
    /// The same, once for each.
    [[nodiscard]] bool take_failure() noexcept { return parser_.take_failure(); }

    [[nodiscard]] bool resumable() const noexcept { return !last_id_.empty(); }
    [[nodiscard]] const std::string& last_id() const noexcept { return last_id_; }

    /// An attempt to connect failed.
    void missed() noexcept { ++failures_; }
    /// A connection ended.
    void ended() noexcept {
        if (std::exchange(barren_, false)) ++barren_ends_;
    }
    [[nodiscard]] int failures() const noexcept { return failures_; }
    /// Before the next attempt: what the server asked for, and longer the more of them failed.
    [[nodiscard]] std::chrono::milliseconds pause() const noexcept;

private:
    std::size_t largest_event_;
    sse_parser parser_;
    std::string last_id_;
    std::chrono::milliseconds retry_{1'000};
    int failures_ = 0;
    bool barren_ = false;  // of messages: the present connection
    int barren_ends_ = 0;  // in a row
};

}  // namespace andon::detail
