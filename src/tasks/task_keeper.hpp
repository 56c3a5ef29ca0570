// The thread that talks to a task store.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "andon/tasks/task_store.hpp"

namespace andon::detail {

/// A disk takes milliseconds to say that it has something, and the thread that reads from clients has not got them. So
/// the store has a thread of its own, and whoever waits for it is told there. While one write is on its way the others
/// gather, and go together with the next: a thousand tasks that are made at once cost a few waits for the disk, not a
/// thousand. What is asked for in one order is done in that order.
class task_keeper {
public:
    /// Why it could not be done; empty: it was.
    using written = std::function<void(std::string_view error)>;
    using found = std::function<void(std::optional<task_record> task, std::string_view error)>;
    using listed = std::function<void(std::vector<task_record> page, std::string_view error)>;

    /// Those whose work died with an earlier process are failed first. Throws task_store_error.
    explicit task_keeper(std::shared_ptr<task_store> store);
    /// What was asked for is done before.
    ~task_keeper();
    task_keeper(const task_keeper&) = delete;
    task_keeper& operator=(const task_keeper&) = delete;

    // From any thread. The callbacks come on the keeper's and must not throw. `wake` false: somebody calls wake() soon.

    /// A new one.
    void create(task_record task, written then);
    /// A new state of one that is there.
    void write(task_record task, written then, bool wake = true);
    void wake();
    void find(std::string id, std::string owner, found then, bool wake = true);
    void list(std::string owner, task_place after, std::size_t most, listed then);

    /// Returns when all that was asked for until now was done.
    void flush();
    /// How many there are.
    [[nodiscard]] std::size_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }
    /// How many were failed at the beginning.
    [[nodiscard]] std::size_t failed_at_start() const noexcept { return failed_at_start_; }

private:
    struct wish {
        std::optional<task_record> task{};  // to be written
        bool is_new = false;
        written then{};
        std::function<void()> other{};  // anything else
    };

    void ask(wish what, bool wake = true);
    void work();
    /// From `first` on, as many as are to be written. How many it were.
    std::size_t write_some(std::vector<wish>& wishes, std::size_t first);
    void write_one(wish& what);
    void forget_expired();

    std::shared_ptr<task_store> store_;
    std::size_t failed_at_start_ = 0;
    std::atomic<std::size_t> kept_ = 0;
    std::mutex mutex_;
    std::condition_variable woken_;
    std::vector<wish> wishes_;
    bool leaving_ = false;
    bool asleep_ = false;
    bool more_expired_ = false;                          // the keeper's thread's
    std::chrono::steady_clock::time_point next_look_{};  // for expired ones
    std::thread thread_;
};

}  // namespace andon::detail
