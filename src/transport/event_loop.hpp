// The one thread that reads, writes and keeps the state of its sessions.
#pragma once

#include <memory>
#include <vector>

#include "andon/core/deadlines.hpp"
#include "andon/core/in_flight.hpp"
#include "transport/job.hpp"

namespace andon::detail {

/// Asio behind a wall: nothing else of andon that is not HTTP includes it, because it takes seconds to compile. What is
/// asked of it is little: run work here, tell when a descriptor is ready, tell when it is time. Any number of timers
/// are one timing wheel and one timer of Asio's; the deadlines of tables are looked at in the same place.
class event_loop {
public:
    event_loop();
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    ~event_loop();

    /// On the calling thread, until stop().
    void run();
    void stop() noexcept;
    /// After run(), on any thread: does what was posted and not done yet, and what that posts. Nothing more is read: a
    /// peer that never stops sending would never let us go.
    void finish();
    /// From any thread, in order.
    void post(job work);
    /// The same, from the loop's thread behind everything that is ready now: what it writes is written for all of it.
    void post_last(job work);
    /// Whether the caller is inside run().
    [[nodiscard]] bool here() const noexcept;

    /// Where a table is, its deadlines are kept. From the loop's thread, or before it runs.
    void keep_deadlines_of(in_flight& table);
    void forget_deadlines_of(in_flight& table);

    /// Fires once. All calls on the loop's thread; destroying it clears it.
    class timer : private deadline_hook {
    public:
        explicit timer(event_loop& loop) noexcept : loop_(&loop) {}
        timer(const timer&) = delete;
        timer& operator=(const timer&) = delete;
        ~timer() { clear(); }
        void set(time_point when, job work);
        void clear() noexcept;

    private:
        friend class event_loop;
        event_loop* loop_;
        job work_;
    };

    enum class readiness : std::uint8_t { readable, writable, broken };

    /// A descriptor that somebody else owns. All calls on the loop's thread, or before it runs.
    class watch {
    public:
        watch(event_loop& loop, int fd);
        watch(const watch&) = delete;
        watch& operator=(const watch&) = delete;
        ~watch();
        /// Once. What cannot be waited for, such as a file, is always ready.
        void when(readiness what, job work);

    private:
        struct state;
        std::shared_ptr<state> state_;
    };

    enum class hangup : std::uint8_t { as_usual, ends_too };
    /// Calls `work` on the first of SIGINT and SIGTERM, also one that came while they were held; the second ends the
    /// process as usual. SIGHUP can be one of them, unless it is ignored, as nohup has it.
    void on_termination(job work, hangup what = hangup::as_usual);
    /// The signals wait from now on, until on_termination() says what they do. Before any thread is started.
    static void hold_termination() noexcept;

private:
    struct engine;

    void arm();
    void fire();

    std::unique_ptr<engine> engine_;
    deadlines wheel_;
    std::vector<in_flight*> tables_;
    std::optional<time_point> armed_;
};

}  // namespace andon::detail
