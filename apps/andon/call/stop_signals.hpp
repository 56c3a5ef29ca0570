// Ctrl-C, SIGTERM and SIGHUP: the first asks, the second leaves.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace andon::app {

/// One at a time in a process. While it lives, the first SIGINT or SIGTERM runs what was set with on_stop(), on a
/// thread of its own; the second ends the process at once, with exit_status::cancelled, from inside the signal's
/// handler, so that nothing that hangs can keep it. Servers that we started go with us, however we go.
class stop_signals {
public:
    /// `redraw`: on that thread too, ten times a second and when the window has changed. Empty: nobody wants it.
    explicit stop_signals(std::function<void()> redraw);
    stop_signals(const stop_signals&) = delete;
    stop_signals& operator=(const stop_signals&) = delete;
    ~stop_signals();

    /// What the first one does from now on. Runs at once, here, if it has come and nothing has run for it. Waits for
    /// what runs now.
    void on_stop(std::function<void()> what);
    /// The first one waits for the next on_stop(): around the beginning of what it is to stop.
    void hold() { on_stop(nullptr); }
    [[nodiscard]] bool asked() const noexcept { return asked_; }

private:
    void watch();
    void stop();

    std::function<void()> redraw_;
    std::atomic<bool> asked_ = false;
    std::mutex mutex_;
    std::function<void()> what_;
    bool ran_ = false;
    std::thread thread_;
};

}  // namespace andon::app
