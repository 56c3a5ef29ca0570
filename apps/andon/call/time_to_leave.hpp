// The end of a person's patience.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "andon/core/time.hpp"

namespace andon::app {

/// Runs `leave`, which ends the process, once the time is over. Whoever is no longer waited for is destroyed first.
class time_to_leave {
public:
    time_to_leave(std::optional<duration> after, std::function<void()> leave) {
        if (!after) return;
        waiting_ = std::thread([this, until = std::chrono::steady_clock::now() + *after, leave = std::move(leave)] {
            std::unique_lock lock(mutex_);
            // With the mutex: an outcome that comes meanwhile says nothing more.
            if (!changed_.wait_until(lock, until, [this] { return over_; })) leave();
        });
    }
    time_to_leave(const time_to_leave&) = delete;
    time_to_leave& operator=(const time_to_leave&) = delete;
    ~time_to_leave() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_one();
        if (waiting_.joinable()) waiting_.join();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread waiting_;
};

}  // namespace andon::app
