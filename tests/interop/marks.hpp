// What the servers of others write to standard error, as somebody waits for it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "server/served.hpp"

namespace andon {

inline const std::string peers = ANDON_PEERS;

class marks {
public:
    void add(std::string_view piece) {
        const std::lock_guard lock(mutex_);
        text_ += piece;
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for(const std::string& mark) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return text_.find(mark + ' ') != std::string::npos; });
    }

    /// What stands behind `before`, up to the end of the line, once that is there; empty: it never came.
    [[nodiscard]] std::string wait_for_line(const std::string& before) {
        std::unique_lock lock(mutex_);
        std::string found;
        changed_.wait_for(lock, patience, [&] {
            const std::size_t at = text_.find(before);
            const std::size_t end = at == std::string::npos ? at : text_.find('\n', at);
            if (end != std::string::npos) found = text_.substr(at + before.size(), end - at - before.size());
            return !found.empty();
        });
        return found;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
};

}  // namespace andon
