// When memory that lock-free readers may still look at can be given back.
//
// A reader counts itself in and out of one of two counters, picked by the parity of the current epoch. Each thread has
// a pair of counters to itself, so that readers do not meet on a cache line and counting out is a plain store; threads
// beyond the first few share one pair. The epoch moves on only when nobody is counted under
// the parity of the epoch before. So after something was unlinked in epoch e, every reader that could have found it is
// gone once the epoch is e + 3: the step out of e may have begun its look at the counters before the unlinking, but
// each of the next two looks at one parity in full, and a reader is counted under one of them, also one that read the
// epoch long before it counted itself in. model/grace_period.pml checks that; with e + 2 it finds the reader that dies.
//
// The same two counters for ever would not do: with readers coming and going there might never be a moment without one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace andon::detail {

class grace_period {
public:
    using epoch = std::uint64_t;

    /// While it lives, nothing that it could have found is given back. Never blocks; never to be held for long.
    class reader {
    public:
        explicit reader(const grace_period& g) noexcept
            : shared_(my_place() == shared_place),
              one_(one_in(g.epoch_.load(std::memory_order_seq_cst))),
              counters_(g.places_[my_place()].readers) {
            if (shared_) {
                counters_.fetch_add(one_, std::memory_order_seq_cst);
            } else {
                counters_.exchange(counters_.load(std::memory_order_relaxed) + one_, std::memory_order_seq_cst);
            }
        }
        reader(const reader&) = delete;
        reader& operator=(const reader&) = delete;
        ~reader() {
            if (shared_) {
                counters_.fetch_sub(one_, std::memory_order_release);
            } else {
                counters_.store(counters_.load(std::memory_order_relaxed) - one_, std::memory_order_release);
            }
        }

    private:
        bool shared_;
        std::uint64_t one_;
        std::atomic<std::uint64_t>& counters_;
    };

    /// Whether there was a moment without a reader for each pair of counters since the call began: then nobody can be
    /// looking at what was unlinked before. The common case, and no epoch is needed for it.
    [[nodiscard]] bool quiet() const noexcept {
        for (const auto& each : places_) {
            if (each.readers.load(std::memory_order_seq_cst) != 0) return false;
        }
        return true;
    }

    /// The epoch to remember for what was just unlinked.
    [[nodiscard]] epoch current() const noexcept { return epoch_.load(std::memory_order_seq_cst); }
    [[nodiscard]] bool passed(epoch unlinked) const noexcept { return current() >= unlinked + 3; }

    /// Moves the epoch on if nobody is left in the one before.
    bool try_advance() noexcept {
        auto now = epoch_.load(std::memory_order_seq_cst);
        const auto before = one_in(now + 1) * 0xFFFF'FFFFU;
        for (const auto& each : places_) {
            if ((each.readers.load(std::memory_order_seq_cst) & before) != 0) return false;
        }
        return epoch_.compare_exchange_strong(now, now + 1, std::memory_order_seq_cst);
    }

private:
    static constexpr std::size_t place_count = 16;
    static constexpr std::size_t shared_place = place_count - 1;
    struct alignas(64) place {
        std::atomic<std::uint64_t> readers{0};  // two counters in a word: even epochs below, odd ones above
    };

    static constexpr std::uint64_t one_in(epoch e) noexcept { return std::uint64_t{1} << (e % 2 * 32); }

    // The same place in every table, for as long as the thread lives.
    static std::size_t my_place() noexcept {
        if (mine_ == place_count) mine_ = pick_place();
        return mine_;
    }
    static std::size_t pick_place() noexcept;

    static thread_local constinit inline std::size_t mine_ = place_count;  // not picked yet

    alignas(64) std::atomic<epoch> epoch_{0};
    mutable std::array<place, place_count> places_{};
};

}  // namespace andon::detail
