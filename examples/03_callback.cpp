// Work that somebody else does and that has its own way of being stopped: on_cancel calls it.
#include <andon/server/server.hpp>
#include <condition_variable>
#include <mutex>

/// Stands for a database driver, a download, a solver: anything with an abort() of its own.
class slow_query {
public:
    std::string run() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::seconds(5), [&] { return aborted_; });
        return aborted_ ? "aborted" : "42 rows";
    }
    void abort() {
        const std::lock_guard lock(mutex_);
        aborted_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool aborted_ = false;
};

int main() {
    andon::server server({.name = "queries"});

    server.tool("query", "Runs a query that takes five seconds", [](andon::call& call) -> std::string {
        slow_query query;
        // Runs on the thread that cancels, as long as `stop` lives; never again once it is gone.
        const auto stop = call.on_cancel([&] { query.abort(); });
        return query.run();
    });

    server.serve_stdio();
}
