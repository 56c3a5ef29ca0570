#include "control/top_command.hpp"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "control/full_screen.hpp"
#include "control/stop_command.hpp"
#include "control/top_view.hpp"
#include "exit_status.hpp"
#include "gateway/control/control_client.hpp"
#include "process/descriptor.hpp"

namespace andon::app {
namespace {

using detail::descriptor;
using gateway::found_call;
using gateway::survey;

/// Signals that are read like keys, in every thread that is started while it lives.
class signals {
public:
    signals() {
        sigemptyset(&ours_);
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&ours_, each);
        pthread_sigmask(SIG_BLOCK, &ours_, &before_);
        fd_ = descriptor(::signalfd(-1, &ours_, SFD_CLOEXEC | SFD_NONBLOCK));
        if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    /// 0: none.
    [[nodiscard]] int next() const {
        signalfd_siginfo info{};
        return ::read(fd(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
    }
    /// As if nobody had caught it. Returns only from one that stops, when the process is continued.
    static void suffer(int which) {
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, which);
        std::signal(which, SIG_DFL);  // NOLINT(cert-err33-c): it is a signal
        ::raise(which);
        pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
        pthread_sigmask(SIG_BLOCK, &only, nullptr);
    }

private:
    sigset_t ours_{};
    sigset_t before_{};
    descriptor fd_;
};

/// Asks the andons while the screen goes on: one that hangs must not keep a key waiting.
class background {
public:
    explicit background(std::chrono::duration<double> interval)
        : interval_(interval), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (wake_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
        asking_ = std::jthread([this](const std::stop_token& end) { ask(end); });
    }

    [[nodiscard]] int fd() const noexcept { return wake_.get(); }

    /// Nothing: none came since.
    [[nodiscard]] std::optional<survey> latest() {
        std::uint64_t count = 0;
        static_cast<void>(::read(wake_.get(), &count, sizeof count));
        const std::lock_guard lock(mutex_);
        return std::exchange(latest_, std::nullopt);
    }
    [[nodiscard]] std::string message() {
        const std::lock_guard lock(mutex_);
        return std::exchange(message_, {});
    }

    void stop(const found_call& call) {
        stopping_.emplace_back([this, call] {
            std::string problem;
            const auto end = gateway::stop_calls(
                {.orders = {{.andon = call.andon, .which = {.number = call.call.number}}}, .asked_by = user_name()},
                {.asked = [](pid_t, const auto&) {},
                 .stopped = [](pid_t, const auto&) {},
                 .problem = [&](const std::string& what) { problem = what; }});
            const std::lock_guard lock(mutex_);
            message_ = !problem.empty() ? problem
                       : end.asked == 0 ? call.id() + " was over already"
                                        : call.id() + " was asked to stop";
            again_ = true;
            changed_.notify_all();
        });
    }

private:
    void ask(const std::stop_token& end) {
        constexpr std::chrono::seconds limit{1};
        while (!end.stop_requested()) {
            survey found = gateway::survey_andons(limit);
            std::unique_lock lock(mutex_);
            latest_ = std::move(found);
            constexpr std::uint64_t one = 1;
            static_cast<void>(::write(wake_.get(), &one, sizeof one));
            changed_.wait_for(lock, end, interval_, [this] { return again_; });
            again_ = false;
        }
    }

    std::chrono::duration<double> interval_;
    descriptor wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool again_ = false;
    std::optional<survey> latest_;
    std::string message_;
    std::vector<std::jthread> stopping_;
    std::jthread asking_;
};

class top {
public:
    explicit top(const top_options& options) : work_(options.interval), view_(palette(colours_wanted())) {}

    int run() {
        for (;;) {
            draw();
            std::array<pollfd, 3> all{{{signals_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}, {work_.fd(), POLLIN, 0}}};
            if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) return exit_status::failed;
            while (const int signal = signals_.next()) {
                if (const auto status = caught(signal)) return *status;
            }
            if (all[1].revents != 0 && !take_keys()) return exit_status::ok;
            if (all[2].revents != 0) take_news();
        }
    }

private:
    void draw() const {
        const auto [columns, lines] = window_of(STDOUT_FILENO);
        full_screen::show(view_.lines(columns, lines, std::chrono::system_clock::now()));
    }

    std::optional<int> caught(int signal) {
        switch (signal) {
            case SIGWINCH: return std::nullopt;
            case SIGCONT: screen_.enter(); return std::nullopt;
            case SIGTSTP:
                screen_.leave();
                signals::suffer(SIGTSTP);
                screen_.enter();
                return std::nullopt;
            case SIGINT: return exit_status::cancelled;
            default:
                screen_.leave();
                signals::suffer(signal);
                return exit_status::cancelled;
        }
    }

    /// False: that is the end.
    bool take_keys() {
        const std::string keys = full_screen::typed();
        const auto asked = view_.typed(keys);
        for (const found_call& each : asked.stop) {
            work_.stop(each);
            view_.say("stopping " + each.id() + "…");
        }
        return !keys.empty() && !asked.quit;
    }

    void take_news() {
        if (auto found = work_.latest()) view_.found(std::move(*found));
        if (std::string message = work_.message(); !message.empty()) view_.say(std::move(message));
    }

    signals signals_;  // before the threads, which inherit what is blocked
    background work_;
    full_screen screen_;  // behind them: it is put back first, and nobody waits for an andon that hangs
    top_view view_;
};

}  // namespace

int run_top(const top_options& options) {
    if (!on_terminal() || isatty(STDIN_FILENO) == 0) {
        std::fprintf(stderr, "andon: top needs a terminal that it can draw on; `andon ps` works everywhere\n");
        return exit_status::usage;
    }
    return top(options).run();
}

}  // namespace andon::app
