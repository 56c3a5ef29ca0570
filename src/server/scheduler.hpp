// Where calls wait for their turn, and the threads that blocking ones run on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "andon/core/time.hpp"
#include "transport/event_loop.hpp"

namespace andon::detail {

class scheduler;

/// How many calls of one tool may run at once.
struct gate {
    std::size_t most = 0;  // 0: any number
    std::size_t running = 0;
    struct turn* first = nullptr;
    struct turn* last = nullptr;
};

/// A call's place in the queues: embedded in the call, so that waiting costs no memory and leaving is O(1).
///
///     nowhere ──submit──► at_gate ──► in_queue ──begins──► running ──done──► nowhere
///                            └──withdraw──┴──► nowhere
///
/// Every change is made under the scheduler's mutex: either it begins or it is withdrawn, never both.
struct turn {
    enum class place : std::uint8_t { nowhere, at_gate, in_queue, running };
    enum class kind : std::uint8_t { thread, loop };

    explicit turn(kind k) noexcept : what(k) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    /// On a worker or on the loop, once, unless it was withdrawn.
    virtual void begin() noexcept = 0;

    kind what;
    place where = place::nowhere;
    gate* through = nullptr;
    turn* previous = nullptr;
    turn* next = nullptr;

protected:
    ~turn() = default;
};

/// Threads are made as they are needed, up to a limit, and stay. The loop never waits for any of them.
class scheduler {
public:
    scheduler(event_loop& loop, std::size_t most_threads) : loop_(&loop), most_threads_(most_threads) {}
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;
    ~scheduler() { stop(); }
    /// Waits for what runs, and ends the threads.
    void stop();
    /// Whether the caller is one of the threads.
    [[nodiscard]] bool here();

    void submit(turn& call, gate* through);
    /// True: it will never begin.
    bool withdraw(turn& call);
    /// It has run; the next may pass its gate.
    void done(turn& call);
    /// Waits until no thread runs a call; false when that took longer than the limit.
    [[nodiscard]] bool idle_within(duration limit);

private:
    void enqueue(turn& call);
    void begin_on_loop();
    void work();

    event_loop* loop_;
    std::size_t most_threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable idle_;
    gate for_threads_;  // only its queue is used
    gate for_loop_;
    std::size_t queued_ = 0;  // for threads
    std::size_t idle_threads_ = 0;
    std::size_t busy_threads_ = 0;
    bool leaving_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace andon::detail
