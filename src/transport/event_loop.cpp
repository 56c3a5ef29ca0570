#include "transport/event_loop.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace andon::detail {

namespace asio = boost::asio;

struct event_loop::engine {
    bool finishing = false;
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(context);
    asio::steady_timer wake{context};
    asio::signal_set signals{context};
    std::atomic<std::thread::id> thread{};
    std::vector<job> soon;  // what the loop's own thread posted: no lock, and no look at the descriptors before it
    std::vector<job> last;  // the same, for when nothing more is ready
    std::vector<job> now;

    /// Does what was posted before; what that posts comes behind the next look at the descriptors.
    void do_all(std::vector<job>& posted) {
        std::swap(now, posted);
        for (job& work : now) work();
        now.clear();
    }
    void do_posted() { do_all(soon); }
    [[nodiscard]] bool has_posted() const noexcept { return !soon.empty() || !last.empty(); }

    // A thread that sleeps takes 50 to 100 microseconds to wake, and now and then milliseconds: more than everything
    // else on the way of a cancel. So as long as work comes in quick succession the loop looks for it a moment longer
    // before it sleeps. When looking was in vain it looks half as long the next time, and soon not at all; when it was
    // woken from a sleep that short it looks again. A server with nothing to do costs nothing.
    //
    // Between two looks it offers the core to others: what it waits for may be the work of a process that has no other
    // core to do it on, such as a server behind a relay. Where the offer was taken and nothing came of it, the core is
    // somebody else's, who would keep it for milliseconds each time: then it sleeps, and looks no more for a while.
    static constexpr std::chrono::microseconds look_at_most{100};
    static constexpr std::chrono::microseconds taken{20};
    static constexpr std::chrono::milliseconds while_shared{100};
    std::chrono::nanoseconds look_for{0};
    time_point look_again{};

    bool work_comes_at_once() {
        if (look_for == std::chrono::nanoseconds::zero()) return false;
        auto looked = std::chrono::steady_clock::now();
        const auto until = looked + look_for;
        for (bool shared = false;;) {
            if (context.poll_one() != 0) {
                look_for = look_at_most;
                return true;
            }
            if (shared || looked >= until || context.stopped()) {
                if (shared) look_again = looked + while_shared;
                look_for = !shared && look_for > std::chrono::microseconds(10) ? look_for / 2
                                                                               : std::chrono::nanoseconds::zero();
                return false;
            }
            const auto offered = std::exchange(looked, (::sched_yield(), std::chrono::steady_clock::now()));
            shared = looked - offered > taken;
        }
    }

    void sleep_until_work() {
        const auto begun = std::chrono::steady_clock::now();
        context.run_one();
        const auto woken = std::chrono::steady_clock::now();
        if (woken - begun < 2 * look_at_most && woken >= look_again) look_for = look_at_most;
    }
};

namespace {

/// Before the first descriptor of ours: one that took the number of a closed standard stream would be read and written
/// as that stream.
void fill_closed_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
    }
}

}  // namespace

event_loop::event_loop()
    : engine_((fill_closed_standard_streams(), std::make_unique<engine>())), wheel_(std::chrono::steady_clock::now()) {}
event_loop::~event_loop() = default;

void event_loop::run() {
    engine_->thread = std::this_thread::get_id();
    // A peer that closes its end is an error of write(), not the end of the program.
    sigset_t pipe_signal;
    sigset_t before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    constexpr int at_once = 64;  // between two looks at the clock
    while (!engine_->context.stopped()) {
        arm();
        if (!engine_->has_posted() && !engine_->work_comes_at_once()) engine_->sleep_until_work();
        engine_->do_posted();
        for (int i = 0; i < at_once && engine_->context.poll_one() != 0; ++i) engine_->do_posted();
        engine_->do_all(engine_->last);
    }
    const timespec now{};
    while (sigtimedwait(&pipe_signal, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    engine_->thread = std::thread::id();
}

void event_loop::stop() noexcept { engine_->context.stop(); }

void event_loop::finish() {
    engine_->thread = std::this_thread::get_id();
    engine_->context.restart();
    engine_->finishing = true;
    do {
        engine_->do_posted();
        engine_->do_all(engine_->last);
    } while (engine_->context.poll() != 0 || engine_->has_posted());
    engine_->finishing = false;
    engine_->thread = std::thread::id();
}

void event_loop::post(job work) {
    if (here()) {
        engine_->soon.push_back(std::move(work));
        return;
    }
    asio::post(engine_->context, [work = std::move(work)]() mutable { work(); });
}

void event_loop::post_last(job work) {
    if (!here()) return post(std::move(work));
    engine_->last.push_back(std::move(work));
}

bool event_loop::here() const noexcept { return engine_->thread == std::this_thread::get_id(); }

void event_loop::keep_deadlines_of(in_flight& table) { tables_.push_back(&table); }
void event_loop::forget_deadlines_of(in_flight& table) { std::erase(tables_, &table); }

void event_loop::arm() {
    std::optional<time_point> earliest = wheel_.next_wake();
    for (const in_flight* table : tables_) {
        const auto wake = table->next_wake();
        if (wake && (!earliest || *wake < *earliest)) earliest = wake;
    }
    if (earliest == armed_) return;
    armed_ = earliest;
    if (!earliest) {
        engine_->wake.cancel();
        return;
    }
    engine_->wake.expires_at(*earliest);
    engine_->wake.async_wait([this](const boost::system::error_code& failed) {
        if (!failed) fire();
    });
}

void event_loop::fire() {
    armed_.reset();
    const auto now = std::chrono::steady_clock::now();
    for (in_flight* table : tables_) table->expire(now);
    do {
        while (deadline_hook* hook = wheel_.next_due(now)) {
            job work = std::move(static_cast<timer*>(hook)->work_);
            work();
        }
    } while (wheel_.busy());
}

void event_loop::timer::set(time_point when, job work) {
    clear();
    work_ = std::move(work);
    if (loop_->wheel_.empty()) loop_->wheel_.restart(std::chrono::steady_clock::now());
    loop_->wheel_.set(*this, when);
}

void event_loop::timer::clear() noexcept {
    if (deadline_hook::set()) loop_->wheel_.clear(*this);
    work_ = {};
}

struct event_loop::watch::state {
    state(engine& of, int fd) : context(of.context), finishing(of.finishing), descriptor(of.context) {
        boost::system::error_code refused;
        descriptor.assign(fd, refused);
        if (refused == boost::system::errc::file_exists) {  // somebody else watches it: a number of our own, then
            own = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
            refused = {};
            descriptor.assign(own, refused);
        }
        can_wait = !refused;
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        if (own >= 0) ::close(own);
    }
    asio::io_context& context;
    const bool& finishing;
    asio::posix::stream_descriptor descriptor;
    int own = -1;
    bool can_wait = false;
    bool gone = false;
};

event_loop::watch::watch(event_loop& loop, int fd) : state_(std::make_shared<state>(*loop.engine_, fd)) {}

event_loop::watch::~watch() {
    state_->gone = true;
    if (state_->can_wait) state_->descriptor.release();
}

void event_loop::watch::when(readiness what, job work) {
    using kind = asio::posix::stream_descriptor;
    if (!state_->can_wait) {
        if (what == readiness::broken) return;
        asio::post(state_->context, [state = state_, what, work = std::move(work)]() mutable {
            if (!state->gone && !(state->finishing && what == readiness::readable)) work();
        });
        return;
    }
    const auto type = what == readiness::readable   ? kind::wait_read
                      : what == readiness::writable ? kind::wait_write
                                                    : kind::wait_error;
    state_->descriptor.async_wait(
        type, [state = state_, what, work = std::move(work)](const boost::system::error_code& failed) mutable {
            // A file cannot be waited for, and need not be.
            const bool file = failed == asio::error::operation_not_supported && what != readiness::broken;
            const bool too_late = state->finishing && what == readiness::readable;
            if ((!failed || file) && !state->gone && !too_late) work();
        });
}

namespace {

sigset_t termination_signals() noexcept {
    sigset_t all;
    sigemptyset(&all);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&all, each);
    return all;
}

bool is_ignored(int signal) noexcept {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void event_loop::hold_termination() noexcept {
    const sigset_t held = termination_signals();
    ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

void event_loop::on_termination(job work, hangup what) {
    engine_->signals.add(SIGINT);
    engine_->signals.add(SIGTERM);
    if (what == hangup::ends_too && !is_ignored(SIGHUP)) engine_->signals.add(SIGHUP);
    const sigset_t held = termination_signals();
    ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
    engine_->signals.async_wait([this, work = std::move(work)](const boost::system::error_code& failed, int) mutable {
        if (failed) return;
        engine_->signals.clear();
        work();
    });
}

}  // namespace andon::detail
