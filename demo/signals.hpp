// Signals as values that the main loop asks for, instead of handlers that may do nothing.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

#include "bell.hpp"

namespace demo {

/// Made before any other thread, so that all of them inherit the blocked signals and only this one receives them.
class signal_watch {
public:
    explicit signal_watch(bell& wake);
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;
    ~signal_watch();

    /// The signal that came since the last call; 0 if none did.
    [[nodiscard]] int take() noexcept { return pending_.exchange(0); }

private:
    void watch();

    bell& wake_;
    sigset_t watched_{};
    std::atomic<int> pending_{0};
    std::atomic<bool> leaving_{false};
    std::thread thread_;
};

}  // namespace demo
