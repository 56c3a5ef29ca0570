// Whether work that was asked to stop has stopped, judged by what can be seen of it from outside.
#pragma once

#include <algorithm>
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
    bool mixed = false;  ///< something was, since the last look: what was done since then may have been for that
    bool process = false;
    /// Another call that was asked to stop was seen at work there, or has its grace time still: what the process does
    /// may be done for that one.
    bool another_works = false;
    double own_rate = 0;       ///< processors that the server uses for itself (own_activity.hpp)
    duration span{};           ///< since the last look
    duration busy{};           ///< processor time that was used, or waited for, since then
    bool ready = false;        ///< it runs at this moment, or would if there were a processor for it
    std::size_t children = 0;  ///< processes that began during the call and still live
};

/// A server that obeys a cancel says nothing more, and so does one that ignores it and sleeps. What tells them apart:
///
///   - progress that comes after the cancel, the processor time of its processes, and children that live on;
///   - an answer that comes late, after which nothing is left to be judged. That can be long after we took the silence
///     for an end: then the judgement is corrected, by whoever hears the answer.
///
/// So "quiet" is what was seen on two looks in a row, for longer than the pauses between its progress were; "ignoring"
/// is what was seen or heard at work once the grace time is over. One that was seen at work stays that until it is seen
/// quiet: what is in flight beside it meanwhile tells nothing of it.
///
/// A server that computes for itself is never seen at rest. There only what is clearly more than it uses by itself, on
/// some looks in a row, is work of the call; less says nothing, and is "unseen".
class stop_judgement {
public:
    enum class verdict : std::uint8_t { wait, quiet, ignoring, unseen };

    /// `cadence`: the time between its progress notifications, before it was asked; zero: it sent none.
    stop_judgement(time_point asked, duration grace, duration cadence = {}) noexcept
        : asked_(asked), grace_(grace), cadence_(cadence) {}

    /// Progress that was on its way when the cancel was sent comes within this time.
    static constexpr auto still_on_its_way = std::chrono::milliseconds(100);

    void heard_progress(time_point now) noexcept { heard_ = now; }
    [[nodiscard]] verdict look(const sighting& seen) noexcept;
    /// By what its process did, behind the grace time.
    [[nodiscard]] bool seen_at_work() const noexcept { return seen_at_work_; }
    /// Since when, once it is.
    [[nodiscard]] time_point quiet_since() const noexcept { return quiet_since_; }

    /// A little processor time is a garbage collector's, or the reading of the cancel itself.
    [[nodiscard]] static constexpr bool rests(const sighting& seen) noexcept {
        return seen.busy <= negligible(seen.span) && seen.children == 0 && !seen.ready;
    }
    [[nodiscard]] static constexpr duration negligible(duration span) noexcept {
        return std::max<duration>(std::chrono::milliseconds(2), span / 20);
    }
    /// More than another call that has just been answered is likely to have left to be done.
    [[nodiscard]] static constexpr bool works_on(const sighting& seen) noexcept {
        return seen.children != 0 || seen.busy > seen.span / 2;
    }

private:
    [[nodiscard]] bool heard_lately(time_point now, duration span) const noexcept {
        return heard_ && now - *heard_ < span;
    }
    /// By its progress, which was sent after it had read the cancel.
    [[nodiscard]] bool goes_on(time_point now, duration span) const noexcept {
        return heard_lately(now, span) && *heard_ - asked_ >= still_on_its_way;
    }
    [[nodiscard]] bool silent_for_long(time_point now) const noexcept;
    /// By the processor time that it takes.
    enum class burning : std::uint8_t { no, perhaps, yes };
    [[nodiscard]] burning burns(const sighting& seen) noexcept;

    time_point asked_;
    duration grace_;
    duration cadence_;
    std::optional<time_point> heard_;
    time_point quiet_since_{};
    int quiet_looks_ = 0;
    int looks_above_ = 0;  // what the server uses by itself
    bool seen_at_work_ = false;
};

}  // namespace andon::gateway
