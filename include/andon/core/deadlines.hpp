// A million deadlines without a thread, and without a cost that grows with them.
//
// A hierarchical timing wheel: seven levels of 64 slots, the lowest a millisecond wide, each level 64 times as wide as
// the one below; together they reach 139 years. A deadline lies at the level of the highest 6-bit digit in which its
// time differs from the wheel's. Setting and clearing is O(1); the next wake-up is found from one occupancy bitmap a
// level, which is O(1) too; a deadline moves down at most six times in its life, and of many that move down together
// only a few do at once. A heap would be simpler and costs log n cache misses on the path of every request.
//
// A deadline never fires early, and at most a millisecond late. Not thread-safe: the owner has the lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "andon/core/time.hpp"

namespace andon {

/// How long a request may take. Progress restarts the idle clock, never the maximum (TIME-3, TIME-4).
struct time_limits {
    std::optional<duration> idle{};
    std::optional<duration> maximum{};

    [[nodiscard]] bool any() const noexcept { return idle || maximum; }
};

/// Embedded in what has a deadline. Belongs to one wheel at a time.
struct deadline_hook {
    deadline_hook* next = nullptr;
    deadline_hook** link = nullptr;
    std::int64_t tick = 0;

    [[nodiscard]] bool set() const noexcept { return link != nullptr; }
};

class deadlines {
public:
    /// `now`: where the wheel starts. Deadlines before it are due at once.
    explicit deadlines(time_point now) noexcept;
    deadlines(const deadlines&) = delete;
    deadlines& operator=(const deadlines&) = delete;

    /// The time up to which next_due() was asked, to the tick. It never goes back, whatever next_due() is told.
    [[nodiscard]] time_point current() const noexcept;
    /// An empty wheel starts again at `now`.
    void restart(time_point now) noexcept;

    void set(deadline_hook& hook, time_point when) noexcept;
    void clear(deadline_hook& hook) noexcept;

    /// When to call next_due() again: at or before the earliest deadline, and exact when that is near.
    [[nodiscard]] std::optional<time_point> next_wake() const noexcept;

    /// Takes one deadline out that lies at or before `now`. Null: there is none left, or the wheel is busy.
    [[nodiscard]] deadline_hook* next_due(time_point now) noexcept;
    /// Many deadlines are on their way down, and next_due() has moved a few: let others have the lock, then call again.
    [[nodiscard]] bool busy() const noexcept { return moving_down_ != nullptr; }

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

private:
    static constexpr unsigned bits = 6;
    static constexpr std::size_t slots = 1U << bits;
    static constexpr std::size_t levels = 7;
    static constexpr std::int64_t reach = (std::int64_t{1} << (bits * levels)) - 1;

    struct level {
        std::uint64_t occupied = 0;
        std::array<deadline_hook*, slots> slot{};
    };
    struct position {
        std::size_t level, slot;
        std::int64_t tick;
    };

    [[nodiscard]] static std::size_t slot_at(std::int64_t tick, std::size_t level) noexcept;
    [[nodiscard]] position earliest() const noexcept;
    void place(deadline_hook& hook) noexcept;

    static constexpr int moved_at_once = 64;

    std::array<level, levels> level_{};
    deadline_hook* moving_down_ = nullptr;  // what was in a slot whose time has come, and has yet to be placed
    time_point epoch_;
    std::int64_t now_ = 0;  // ticks since epoch_; all deadlines before it were taken out
    std::size_t count_ = 0;
};

}  // namespace andon
