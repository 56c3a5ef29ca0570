// What became of the requests that were cancelled: who asked, why, when, and when it really stopped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andon/core/cancel_cause.hpp"
#include "andon/core/histogram.hpp"
#include "andon/core/reason.hpp"
#include "andon/core/request_id.hpp"
#include "andon/core/request_key.hpp"
#include "andon/core/time.hpp"

namespace andon {

/// One cancelled request that has ended. A moment that nobody told us is empty.
struct outcome {
    session_id session{};
    direction way = direction::incoming;
    request_id id = 0;
    std::string label;
    cancel_cause cause = cancel_cause::peer;
    reason why;
    std::optional<time_point> started;
    std::optional<time_point> asked;    ///< when the cancel was accepted
    std::optional<time_point> noticed;  ///< when the handler first saw it; empty: it never looked
    std::optional<time_point> stopped;  ///< when the work was over
    std::uint32_t killed = 0;           ///< processes that died for it
    std::uint32_t discarded = 0;        ///< messages that were not sent any more

    [[nodiscard]] std::optional<duration> time_to_notice() const noexcept;
    [[nodiscard]] std::optional<duration> time_to_stop() const noexcept;
};

/// Counted since the table was made.
struct cancel_counters {
    struct by_cause {
        std::uint64_t ended = 0;    ///< cancelled requests that have ended
        std::uint64_t ignored = 0;  ///< of these, the ones whose handler never noticed
        histogram::snapshot time_to_notice;
        histogram::snapshot time_to_stop;
    };
    std::array<by_cause, all_causes.size()> cause;

    // Attempts to cancel by key.
    std::uint64_t accepted = 0;
    std::uint64_t already_cancelled = 0;
    std::uint64_t too_late = 0;
    std::uint64_t unknown = 0;
    std::uint64_t uncancellable = 0;

    [[nodiscard]] const by_cause& operator[](cancel_cause c) const { return cause[static_cast<std::size_t>(c)]; }
};

}  // namespace andon
