#include "core/grace_period.hpp"

#include <bit>

namespace andon::detail {

std::size_t grace_period::pick_place() noexcept {
    // One bit a place that a living thread has to itself.
    static constinit std::atomic<std::uint32_t> taken{0};
    struct holder {
        std::size_t place = shared_place;
        ~holder() {
            mine_ = shared_place;  // for what the thread's other destructors still look up
            if (place != shared_place) taken.fetch_and(~(1U << place), std::memory_order_release);
        }
    };
    thread_local holder mine;

    auto now = taken.load(std::memory_order_relaxed);
    for (;;) {
        const auto first_free = static_cast<std::size_t>(std::countr_one(now));
        if (first_free >= shared_place) return shared_place;
        if (!taken.compare_exchange_weak(now, now | 1U << first_free, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
            continue;
        }
        mine.place = first_free;
        return first_free;
    }
}

}  // namespace andon::detail
