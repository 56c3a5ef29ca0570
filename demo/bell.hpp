// Wakes the main loop: a deadline moved nearer, a signal came, the last request ended.
#pragma once

#include <condition_variable>
#include <mutex>

#include "andon/core/time.hpp"

namespace demo {

class bell {
public:
    void ring() {
        {
            const std::scoped_lock hold(mutex_);
            rung_ = true;
        }
        rang_.notify_one();
    }

    /// Returns at the ring, at once if it rang since the last call, and no later than `latest`.
    void wait_until(andon::time_point latest) {
        std::unique_lock hold(mutex_);
        rang_.wait_until(hold, latest, [this] { return rung_; });
        rung_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable rang_;
    bool rung_ = false;
};

}  // namespace demo
