// A lock for sections of a few dozen instructions: no callback, no I/O and no waiting under it.
#pragma once

#include <atomic>

#include "core/backoff.hpp"

namespace andon::detail {

class spin_lock {
public:
    void lock() noexcept {
        backoff wait;
        while (held_.exchange(true, std::memory_order_acquire)) {
            do {
                wait.pause();
            } while (held_.load(std::memory_order_relaxed));
        }
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_{false};
};

}  // namespace andon::detail
