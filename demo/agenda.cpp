#include "agenda.hpp"

#include <utility>

#include "now.hpp"

namespace demo {

void agenda::add(andon::time_point when, action what) {
    {
        const std::scoped_lock hold(mutex_);
        items_.push({when, added_++, std::move(what)});
    }
    changed_.notify_one();
}

void agenda::stop() {
    peer_.request_stop();
    if (peer_.joinable()) peer_.join();
}

void agenda::run(const std::stop_token& stop) {
    std::unique_lock hold(mutex_);
    while (!stop.stop_requested()) {
        if (items_.empty()) {
            changed_.wait(hold, stop, [this] { return !items_.empty(); });
            continue;
        }
        const auto when = items_.top().when;
        if (when > now()) {
            changed_.wait_until(hold, stop, when, [&] { return items_.top().when < when; });
            continue;
        }
        const auto what = items_.top().what;
        items_.pop();
        hold.unlock();
        what();
        hold.lock();
    }
}

}  // namespace demo
