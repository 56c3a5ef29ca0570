// What a server does while nobody asks it for anything.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "andon/core/time.hpp"

namespace andon::gateway {

/// Some servers compute for themselves: they index, poll, collect garbage. That is not to be held against a call that
/// was asked to stop. How much it is can be told only where nothing is in flight, from the end of the last call to the
/// beginning of the next; and it is measured at these two moments alone, because an idle server is not to be woken, nor
/// are we. A look at a process costs more than a call: so where calls come in a quick row not every pause is measured,
/// and none that is short.
///
/// What counts is the most of the last two pauses: one that computes now and then is not always seen at it. One that
/// was never seen in a pause counts as idle. The time before its first call, in which it starts, is no pause.
class own_activity {
public:
    static constexpr auto shortest_pause = std::chrono::milliseconds(100);
    static constexpr duration looks_apart = std::chrono::milliseconds(250);  ///< on average
    static constexpr int looks_in_a_row = 8;                                 ///< what a host begins with is a quick row

    /// Nothing is in flight from now on: whether it is to be looked at.
    [[nodiscard]] bool wants_beginning(time_point now) noexcept {
        next_look_ = std::max(next_look_, now - looks_in_a_row * looks_apart) + looks_apart;
        if (next_look_ <= now) return true;
        next_look_ -= looks_apart;
        return false;
    }
    /// `used`: processor time since the processes began.
    void pause_began(time_point now, std::chrono::nanoseconds used) noexcept {
        began_ = now;
        used_ = used;
        in_pause_ = true;
    }
    /// The pause is over: whether it is to be looked at.
    [[nodiscard]] bool wants_end(time_point now) noexcept {
        if (in_pause_ && now - began_ >= shortest_pause) return true;
        in_pause_ = false;
        return false;
    }
    void pause_ended(time_point now, std::chrono::nanoseconds used) noexcept {
        if (!in_pause_ || now <= began_) return;
        in_pause_ = false;
        const std::chrono::duration<double> span = now - began_;
        rates_.at(next_++ % rates_.size()) = std::chrono::duration<double>(used - used_) / span;
    }

    /// Processors in use, on average; zero where it is so little that it says nothing.
    [[nodiscard]] double rate() const noexcept {
        constexpr double little = 0.05;
        const double most = rates_[0] > rates_[1] ? rates_[0] : rates_[1];
        return most > little ? most : 0;
    }

private:
    time_point next_look_{};
    time_point began_{};
    std::chrono::nanoseconds used_{};
    std::array<double, 2> rates_{};
    std::size_t next_ = 0;
    bool in_pause_ = false;
};

}  // namespace andon::gateway
