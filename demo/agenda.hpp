// What the peer is going to do, and when: the thread that plays the other side.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "andon/core/time.hpp"

namespace demo {

class agenda {
public:
    using action = std::function<void()>;

    agenda() : peer_([this](const std::stop_token& stop) { run(stop); }) {}
    agenda(const agenda&) = delete;
    agenda& operator=(const agenda&) = delete;

    /// From any thread, also from an action. Actions run one after the other, in the order of their times.
    void add(andon::time_point when, action what);

    /// The peer says nothing more: when this returns no action runs, and none will.
    void stop();

private:
    struct item {
        andon::time_point when;
        std::uint64_t added;  // keeps the order of items for the same moment
        action what;

        friend bool operator<(const item& a, const item& b) {
            return a.when != b.when ? a.when > b.when : a.added > b.added;
        }
    };

    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::priority_queue<item> items_;
    std::uint64_t added_ = 0;
    std::jthread peer_;  // last: it uses all of the above
};

}  // namespace demo
