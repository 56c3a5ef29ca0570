// Whether work that was asked to stop has stopped, judged by what can be seen of it from outside.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "andon/core/time.hpp"

namespace andon::gateway {

/// What was seen of a server at one moment.
struct sighting {
    time_point at{};
    /// Nothing else is in flight there, so that what its process does is done for this call. Without it, and without a
    /// process of ours, only the wire tells.
    bool alone = false;
    bool process = false;
    duration busy{};           ///< processor time since the last look
    std::size_t children = 0;  ///< processes that began during the call and still live
};

/// A server that obeys a cancel says nothing more, and so does one that ignores it and sleeps. What tells them apart:
///
///   - progress that comes after the cancel, the processor time of its processes, and children that live on;
///   - an answer that comes late, after which nothing is left to be judged. That can be long after we took the silence
///     for an end: then the judgement is corrected, by whoever hears the answer.
///
/// So "quiet" is what was seen on two looks in a row, and "ignoring" is everything else once the grace time is over.
class stop_judgement {
public:
    enum class verdict : std::uint8_t { wait, quiet, ignoring, unseen };

    stop_judgement(time_point asked, duration grace) noexcept : asked_(asked), grace_(grace) {}

    void heard_progress(time_point now) noexcept { heard_ = now; }
    [[nodiscard]] verdict look(const sighting& seen) noexcept;
    /// Since when, once it is.
    [[nodiscard]] time_point quiet_since() const noexcept { return quiet_since_; }

private:
    /// A little processor time is a garbage collector's, or the reading of the cancel itself.
    static constexpr auto negligible = std::chrono::milliseconds(10);
    /// Progress that was on its way when the cancel was sent.
    static constexpr auto still_on_its_way = std::chrono::milliseconds(100);

    [[nodiscard]] bool heard_lately(time_point now, duration span) const noexcept {
        return heard_ && now - *heard_ < span;
    }

    time_point asked_;
    duration grace_;
    std::optional<time_point> heard_;
    time_point quiet_since_{};
    int quiet_looks_ = 0;
};

}  // namespace andon::gateway
