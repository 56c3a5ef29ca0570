// What a server does while nobody asks it for anything.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "andon/core/time.hpp"

namespace andon::gateway {

/// How many processors a server uses for itself, as far as that was seen: of one process, or of all together.
///
/// What counts is the most of the last two pauses: one that computes now and then is not always seen at it. What was
/// seen before the first call of a process may have been its start, and so counts only until there was a pause.
class own_rates {
public:
    void in_pause(double rate) noexcept {
        pauses_.at(count_++ % pauses_.size()) = rate;
        at_start_ = 0;
        looked_at_ = true;
    }
    void before_first_call(double rate) noexcept {
        at_start_ = std::max(at_start_, rate);
        looked_at_ = true;
    }
    /// Processor time, and nothing else, was held against a call.
    void suspect() noexcept { suspect_ = true; }
    /// That was done to one of which nothing is known: it may be that it computes for itself.
    [[nodiscard]] bool in_question() const noexcept { return suspect_ && !looked_at_; }

    /// Zero where it is so little that it says nothing.
    [[nodiscard]] double rate() const noexcept {
        const double most = std::max({pauses_[0], pauses_[1], at_start_});
        return most > little ? most : 0;
    }
    [[nodiscard]] bool has_seen_pauses() const noexcept { return count_ >= pauses_.size(); }

    static constexpr double little = 0.05;

private:
    std::array<double, 2> pauses_{};
    double at_start_ = 0;
    std::size_t count_ = 0;
    bool looked_at_ = false;
    bool suspect_ = false;
};

/// Some servers compute for themselves: they index, poll, collect garbage. That is not to be held against a call that
/// was asked to stop. How much it is can be told only where nothing is in flight, from the end of the last call to the
/// beginning of the next; and it is measured at these two moments alone, because an idle server is not to be woken, nor
/// are we. A look at a process costs more than a call: so where calls come in a quick row not every pause is measured,
/// and none that is short.
///
/// One for each process. What it sees it tells the server's, too; and as long as it has not seen enough itself, what
/// others have seen counts: a process that replaces another one does the same.
class own_activity {
public:
    static constexpr auto shortest_pause = std::chrono::milliseconds(100);
    static constexpr duration looks_apart = std::chrono::milliseconds(250);  ///< on average
    static constexpr int looks_in_a_row = 8;                                 ///< what a host begins with is a quick row

    explicit own_activity(std::shared_ptr<own_rates> of_server) noexcept : of_server_(std::move(of_server)) {}

    /// Nothing is in flight from now on: whether it is to be looked at.
    [[nodiscard]] bool wants_beginning(time_point now) noexcept {
        next_look_ = std::max(next_look_, now - looks_in_a_row * looks_apart) + looks_apart;
        if (next_look_ <= now) return true;
        next_look_ -= looks_apart;
        return false;
    }
    /// `used`: processor time since the processes began. `first`: there has been no call yet.
    void pause_began(time_point now, std::chrono::nanoseconds used, bool first = false) noexcept {
        began_ = now;
        used_ = used;
        in_pause_ = true;
        first_ = first;
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
        const double rate = std::chrono::duration<double>(used - used_) / std::chrono::duration<double>(now - began_);
        if (first_) return seen_at_start(rate);
        here_.in_pause(rate);
        of_server_->in_pause(rate);
    }
    /// Processors in use before its first call.
    void seen_at_start(double rate) noexcept {
        here_.before_first_call(rate);
        of_server_->before_first_call(rate);
    }

    void suspect() noexcept { of_server_->suspect(); }
    [[nodiscard]] bool in_question() const noexcept { return of_server_->in_question(); }

    /// Processors in use, on average.
    [[nodiscard]] double rate() const noexcept {
        return here_.has_seen_pauses() ? here_.rate() : std::max(here_.rate(), of_server_->rate());
    }

private:
    std::shared_ptr<own_rates> of_server_;
    own_rates here_;
    time_point next_look_{};
    time_point began_{};
    std::chrono::nanoseconds used_{};
    bool in_pause_ = false;
    bool first_ = false;
};

}  // namespace andon::gateway
