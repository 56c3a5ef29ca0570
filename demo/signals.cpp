#include "signals.hpp"

#include <pthread.h>

namespace demo {
namespace {

bool ignored(int signal) {
    struct sigaction now {};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

signal_watch::signal_watch(bell& wake) : wake_(wake) {
    sigemptyset(&watched_);
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGTSTP}) sigaddset(&watched_, signal);
    if (!ignored(SIGHUP)) sigaddset(&watched_, SIGHUP);  // nohup stays nohup
    pthread_sigmask(SIG_BLOCK, &watched_, nullptr);
    thread_ = std::thread([this] { watch(); });
}

signal_watch::~signal_watch() {
    leaving_ = true;
    // Every thread blocks it, so that it only ends the sigwait().
    pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
    thread_.join();
}

void signal_watch::watch() {
    for (;;) {
        int signal = 0;
        if (sigwait(&watched_, &signal) != 0) continue;
        if (leaving_) return;
        pending_ = signal;
        wake_.ring();
    }
}

}  // namespace demo
