// Waiting for a lock that is held for a few instructions.
#pragma once

#include <thread>

namespace andon::detail {

/// Spins briefly, then gives the processor away: the holder may have been preempted.
class backoff {
public:
    void pause() noexcept {
        if (++rounds_ < 64) {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("yield");
#endif
        } else {
            std::this_thread::yield();
        }
    }

private:
    unsigned rounds_ = 0;
};

}  // namespace andon::detail
