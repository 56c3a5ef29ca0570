// The newest outcomes and the figures over all of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "andon/core/outcomes.hpp"
#include "core/request.hpp"
#include "core/spin_lock.hpp"

namespace andon::detail {

/// Keeps references to the ended records themselves: filing one copies nothing and allocates nothing.
class outcome_ring {
public:
    explicit outcome_ring(std::size_t kept) : slots_(kept, nullptr) {}
    outcome_ring(const outcome_ring&) = delete;
    outcome_ring& operator=(const outcome_ring&) = delete;
    ~outcome_ring();

    /// `ended` was cancelled and will change no more.
    void file(request& ended) noexcept;

    [[nodiscard]] std::vector<outcome> newest_first() const;
    void add_to(cancel_counters& counters) const noexcept;

private:
    struct figures {
        std::atomic<std::uint64_t> ended{0};
        std::atomic<std::uint64_t> ignored{0};
        histogram time_to_notice;
        histogram time_to_stop;
    };

    mutable spin_lock lock_;
    std::vector<request*> slots_;
    std::size_t next_ = 0;
    std::array<figures, all_causes.size()> by_cause_;
};

}  // namespace andon::detail
