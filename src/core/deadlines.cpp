#include "andon/core/deadlines.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>

namespace andon {
namespace {

constexpr duration tick_length = std::chrono::milliseconds(1);

// The ticks that have fully passed between the two, clamped so that no arithmetic can overflow.
std::int64_t ticks_between(time_point from, time_point to, std::int64_t most) {
    if (to <= from) return 0;
    const auto apart = static_cast<std::uint64_t>(to.time_since_epoch().count()) -
                       static_cast<std::uint64_t>(from.time_since_epoch().count());
    const auto ticks = apart / static_cast<std::uint64_t>(tick_length.count());
    return static_cast<std::int64_t>(std::min(ticks, static_cast<std::uint64_t>(most)));
}

}  // namespace

deadlines::deadlines(time_point now) noexcept : epoch_(now) {}

time_point deadlines::current() const noexcept { return epoch_ + now_ * tick_length; }

void deadlines::restart(time_point now) noexcept {
    assert(empty());
    epoch_ = now;
    now_ = 0;
}

void deadlines::set(deadline_hook& hook, time_point when) noexcept {
    if (hook.set()) clear(hook);
    hook.tick = std::max(now_, ticks_between(epoch_, when, reach - 1));
    // Rounded up: a deadline never fires early.
    if (hook.tick < reach - 1 && epoch_ + hook.tick * tick_length < when) ++hook.tick;
    place(hook);
    ++count_;
}

std::size_t deadlines::slot_at(std::int64_t tick, std::size_t level) noexcept {
    return static_cast<std::size_t>(tick >> (bits * level)) % slots;
}

void deadlines::place(deadline_hook& hook) noexcept {
    const auto apart = static_cast<std::uint64_t>(hook.tick ^ now_);
    const auto at_level = apart == 0 ? 0 : static_cast<std::size_t>(std::bit_width(apart) - 1) / bits;
    const auto slot = slot_at(hook.tick, at_level);
    auto*& first = level_[at_level].slot[slot];
    hook.next = first;
    hook.link = &first;
    if (first != nullptr) first->link = &hook.next;
    first = &hook;
    level_[at_level].occupied |= std::uint64_t{1} << slot;
}

void deadlines::clear(deadline_hook& hook) noexcept {
    assert(hook.set());
    *hook.link = hook.next;
    if (hook.next != nullptr) {
        hook.next->link = hook.link;
    } else {
        // The last of a list. If the slot itself pointed to it, the slot is empty now.
        for (std::size_t i = 0; i < levels; ++i) {
            const auto slot = slot_at(hook.tick, i);
            if (hook.link == &level_[i].slot[slot]) level_[i].occupied &= ~(std::uint64_t{1} << slot);
        }
    }
    hook.next = nullptr;
    hook.link = nullptr;
    --count_;
}

// Every deadline at a level lies in the same span of the next level as now_, so the lowest level that has any holds
// the earliest, and its slots come in order of time.
deadlines::position deadlines::earliest() const noexcept {
    for (std::size_t i = 0; i < levels; ++i) {
        if (level_[i].occupied == 0) continue;
        const auto slot = static_cast<std::size_t>(std::countr_zero(level_[i].occupied));
        const auto width = bits * static_cast<unsigned>(i);
        const auto span_start = now_ >> (width + bits) << (width + bits);
        return {i, slot, span_start + (static_cast<std::int64_t>(slot) << width)};
    }
    return {levels, 0, 0};
}

std::optional<time_point> deadlines::next_wake() const noexcept {
    if (busy()) return current();
    const auto first = earliest();
    if (first.level == levels) return std::nullopt;
    return epoch_ + std::max(first.tick, now_) * tick_length;
}

deadline_hook* deadlines::next_due(time_point now) noexcept {
    const auto until = std::max(now_, ticks_between(epoch_, now, reach));
    int may_move = moved_at_once;
    for (;;) {
        while (moving_down_ != nullptr) {
            if (may_move-- == 0) return nullptr;
            auto& hook = *moving_down_;
            moving_down_ = hook.next;
            if (moving_down_ != nullptr) moving_down_->link = &moving_down_;
            place(hook);
        }
        const auto first = earliest();
        if (first.level == levels || first.tick > until) {
            now_ = until;
            return nullptr;
        }
        auto& at = level_[first.level];
        auto* hook = at.slot[first.slot];
        now_ = std::max(now_, first.tick);
        if (first.level == 0) {
            clear(*hook);
            return hook;
        }
        // Time has come to this slot: its deadlines move to the levels below.
        at.slot[first.slot] = nullptr;
        at.occupied &= ~(std::uint64_t{1} << first.slot);
        moving_down_ = hook;
        hook->link = &moving_down_;
    }
}

}  // namespace andon
