// A server and its clients in one process, and how a test waits for what they do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "andon/client/client.hpp"
#include "andon/server/server.hpp"
#include "process/process_watch.hpp"

namespace andon {

/// Something that happens once, on another thread.
class event {
public:
    void set() {
        const std::lock_guard lock(mutex_);
        happened_ = true;
        changed_.notify_all();
    }
    /// Waits for it.
    [[nodiscard]] bool happens() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return happened_; });
    }
    [[nodiscard]] bool happened() {
        const std::lock_guard lock(mutex_);
        return happened_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool happened_ = false;
};

/// For what tells nobody when it changes: the table of what is in flight.
inline bool eventually(const std::function<bool()>& is_so) {
    for (const auto until = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < until;) {
        if (is_so()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_so();
}

/// Things in the order in which threads add them.
template <class T>
class recorded {
public:
    void add(T what) {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(what));
        changed_.notify_all();
    }
    [[nodiscard]] std::vector<T> all() {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    /// Waits for that many.
    [[nodiscard]] bool reach(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return all_.size() >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<T> all_;
};

inline server_options quiet_server() { return {.name = "test", .log = {}}; }

inline client_options quiet_client(std::vector<revision> revisions = {all_revisions.begin(), all_revisions.end()}) {
    client_options options;
    options.revisions = std::move(revisions);
    options.log = {};
    return options;
}

inline client connected(server& to, client_options options = quiet_client()) {
    auto [ours, theirs] = transport_pair();
    to.serve(std::move(theirs));
    return client::connect(std::move(ours), std::move(options));
}

/// The text of a tool's answer, or what is there instead.
inline std::string text_of(const call_outcome& outcome) {
    if (!outcome.completed()) return std::string(to_string(outcome.status)) + ": " + outcome.message;
    return std::string(outcome.result.at("content").at(0).at("text").as_string());
}

inline bool is_error(const call_outcome& outcome) {
    if (!outcome.completed()) return false;
    const json::value* const flag = outcome.result.as_object().if_contains("isError");
    return flag != nullptr && *flag == true;
}

/// What the only outcome of the table says, once it is there.
inline outcome only_outcome(const in_flight& table) {
    EXPECT_TRUE(eventually([&] { return table.recent_outcomes().size() == 1 && table.size() == 0; }));
    auto all = table.recent_outcomes();
    return all.empty() ? outcome() : std::move(all.front());
}

}  // namespace andon
