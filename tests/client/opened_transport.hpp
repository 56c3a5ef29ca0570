// A transport to a server, with a loop of its own and nobody else on it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "andon/transport/transport.hpp"
#include "server/served.hpp"
#include "transport/event_loop.hpp"

namespace andon {

class opened_transport final : private transport::events {
public:
    explicit opened_transport(std::unique_ptr<transport> over) : over_(std::move(over)) {
        on_loop([this] { over_->open(loop_, *this); });
    }
    opened_transport(const opened_transport&) = delete;
    opened_transport& operator=(const opened_transport&) = delete;
    ~opened_transport() {
        on_loop([this] {
            over_->close();
            over_.reset();
        });
        loop_.stop();
        thread_.join();
    }

    [[nodiscard]] transport& over() noexcept { return *over_; }
    template <class Work>
    void on_loop(Work work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    /// Waits until something was heard that has this text: a line, or "(closed) why", "(lost) why", "(remark) text".
    [[nodiscard]] bool heard(std::string_view text) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return times(text) != 0; });
    }
    [[nodiscard]] std::ptrdiff_t times_heard(std::string_view text) {
        const std::lock_guard lock(mutex_);
        return times(text);
    }

private:
    void on_line(std::string_view line) override { note(std::string(line)); }
    void on_line_too_long(const skimmed_line& /*line*/) override { note("(too long)"); }
    void on_closed(std::string_view why) override { note("(closed) " + std::string(why)); }
    void on_request_lost(std::int64_t /*id*/, std::string_view why) override { note("(lost) " + std::string(why)); }
    void on_remark(log_level /*level*/, std::string_view text) override { note("(remark) " + std::string(text)); }

    void note(std::string what) {
        const std::lock_guard lock(mutex_);
        heard_.push_back(std::move(what));
        changed_.notify_all();
    }
    [[nodiscard]] std::ptrdiff_t times(std::string_view text) const {
        return std::count_if(heard_.begin(), heard_.end(),
                             [&](const std::string& each) { return each.find(text) != std::string::npos; });
    }

    detail::event_loop loop_;
    std::unique_ptr<transport> over_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> heard_;
    std::thread thread_{[this] { loop_.run(); }};
};

}  // namespace andon
