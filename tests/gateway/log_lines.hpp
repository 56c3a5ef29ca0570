// What was said to a log, to be waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "andon/transport/log.hpp"

namespace andon {

class log_lines {
public:
    [[nodiscard]] log_sink_function sink() {
        return [this](log_level /*level*/, std::string_view text) {
            const std::lock_guard lock(mutex_);
            lines_.emplace_back(text);
            said_.notify_all();
        };
    }
    /// Whether a line with this text comes, or came.
    [[nodiscard]] bool has(std::string_view text) {
        std::unique_lock lock(mutex_);
        return said_.wait_for(lock, std::chrono::seconds(20), [&] { return find(text) > 0; });
    }
    [[nodiscard]] std::size_t count(std::string_view text) {
        const std::lock_guard lock(mutex_);
        return find(text);
    }
    [[nodiscard]] std::vector<std::string> all() {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

private:
    [[nodiscard]] std::size_t find(std::string_view text) const {
        std::size_t found = 0;
        for (const std::string& each : lines_) found += each.find(text) != std::string::npos ? 1U : 0U;
        return found;
    }

    std::mutex mutex_;
    std::condition_variable said_;
    std::vector<std::string> lines_;
};

}  // namespace andon
