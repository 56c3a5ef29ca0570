// A bounded number of workers, and the calls that wait for one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "tools.hpp"

namespace demo {

/// A call that is cancelled while it waits ends there and then, on the thread that cancels: it never sees a worker.
class worker_pool {
public:
    worker_pool(std::size_t workers, surroundings& at);
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;

    void submit(call c);

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(); }
    /// The incoming requests that have waited longest.
    [[nodiscard]] std::vector<std::pair<andon::session_id, andon::request_id>> longest_waiting(std::size_t most) const;

private:
    // Whoever takes it, a worker or its cancel, ends the request; the other leaves it alone. One that its cancel took
    // stays in the queue as an empty shell until a worker comes by.
    struct queued_call {
        queued_call(worker_pool& in, call c);

        [[nodiscard]] bool take() noexcept;

        worker_pool& pool;
        call what;
        const andon::session_id session;
        const andon::request_id id;
        std::atomic<bool> taken{false};

        struct drop_it {
            queued_call& self;
            void operator()() const noexcept;
        };
        andon::cancel_callback<drop_it> on_cancel;  // last: it uses all of the above
    };

    void run(const std::stop_token& stop);

    surroundings& at_;
    std::atomic<std::size_t> waiting_{0};
    mutable std::mutex mutex_;
    std::condition_variable_any available_;
    std::deque<std::unique_ptr<queued_call>> queue_;
    std::vector<std::jthread> workers_;  // last, likewise
};

}  // namespace demo
