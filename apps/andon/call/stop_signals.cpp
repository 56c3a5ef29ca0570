#include "call/stop_signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "call/call_display.hpp"
#include "exit_status.hpp"

namespace andon::app {
namespace {

constexpr int between_drawings_ms = 100;
constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGWINCH};

// What a handler can reach.
std::atomic<int> to_thread = -1;  // a pipe: 's' stop, 'w' window, 'q' quit
std::atomic<int> stops = 0;
std::array<int, 2> ends{-1, -1};
static_assert(std::atomic<int>::is_always_lock_free);

void tell_thread(char what) noexcept {
    const int before = errno;
    static_cast<void>(::write(to_thread, &what, 1));
    errno = before;
}

extern "C" void on_signal(int signal) {
    if (signal == SIGWINCH) return tell_thread('w');
    if (stops.fetch_add(1) == 0) return tell_thread('s');
    call_display::abandon_line();
    ::_exit(exit_status::cancelled);
}

/// What we were started with as ignored, as a shell does in the background, stays ignored.
void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
    action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
}

}  // namespace

stop_signals::stop_signals(std::function<void()> redraw) : redraw_(std::move(redraw)) {
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    to_thread = ends[1];
    stops = 0;
    for (const int each : handled) handle(each, &on_signal);
    thread_ = std::thread([this] { watch(); });
}

stop_signals::~stop_signals() {
    for (const int each : handled) handle(each, SIG_DFL);
    tell_thread('q');
    thread_.join();
    to_thread = -1;
    for (int& end : ends) ::close(std::exchange(end, -1));
}

void stop_signals::on_stop(std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    if (asked_ && !ran_) stop();
}

/// With the mutex.
void stop_signals::stop() {
    if (!what_) return;
    ran_ = true;
    what_();
}

void stop_signals::watch() {
    const int from = ends[0];
    for (;;) {
        pollfd ready{from, POLLIN, 0};
        const int count = ::poll(&ready, 1, redraw_ ? between_drawings_ms : -1);
        std::array<char, 64> told{};
        const ssize_t got = count > 0 ? ::read(from, told.data(), told.size()) : 0;
        bool quit = false;
        for (ssize_t i = 0; i < got; ++i) {
            const char what = told[static_cast<std::size_t>(i)];
            quit = quit || what == 'q';
            if (what != 's') continue;
            asked_ = true;
            const std::lock_guard lock(mutex_);
            if (!ran_) stop();
        }
        if (quit) return;
        if (redraw_) redraw_();
    }
}

}  // namespace andon::app
