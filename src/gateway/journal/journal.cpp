#include "gateway/journal/journal.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/config/config.hpp"

namespace andon::gateway {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t at_once = 512;

enum class turn : std::uint8_t { write, tell_of_loss, leave };

}  // namespace

struct journal::shared {
    shared(const journal_options& with, log_sink_function to) : options(with), log(std::move(to)) {}

    const journal_options options;
    const log_sink log;

    // The thread's own.
    std::optional<journal_file> file{};
    std::vector<journal_entry> batch{};

    std::mutex mutex{};
    std::condition_variable changed{};  // for the thread
    std::condition_variable done{};     // for who waits for it
    std::deque<journal_entry> waiting{};
    std::size_t in_hand = 0;  // how many are in the batch
    std::uint64_t written = 0;
    std::uint64_t lost = 0;
    bool tell_of_loss = false;
    bool over = false;
    bool left_behind = false;  // nobody is there any more who could be told anything
    std::optional<clock::time_point> leave_by{};

    void say(log_level level, std::string_view text) {
        {
            const std::lock_guard lock(mutex);
            if (left_behind) return;
        }
        log(level, text);
    }

    /// Waits for something to do. With `write` and `leave` there is a batch, if anything is to be written.
    [[nodiscard]] turn next(clock::time_point not_before) {
        std::unique_lock lock(mutex);
        const bool has_work = !batch.empty() || !waiting.empty();
        if (has_work && not_before > clock::now()) {
            changed.wait_until(lock, not_before, [this] { return leave_by || tell_of_loss; });
        } else {
            changed.wait(lock, [this] { return leave_by || tell_of_loss || !batch.empty() || !waiting.empty(); });
        }
        if (std::exchange(tell_of_loss, false)) return turn::tell_of_loss;
        while (batch.size() < at_once && !waiting.empty()) {
            batch.push_back(std::move(waiting.front()));
            waiting.pop_front();
        }
        in_hand = batch.size();
        return leave_by ? turn::leave : turn::write;
    }

    journal_counts batch_written() {
        const std::lock_guard lock(mutex);
        written += batch.size();
        batch.clear();
        in_hand = 0;
        done.notify_all();
        return {.written = written, .lost = lost, .waiting = waiting.size()};
    }

    /// For another process to let go of its lock.
    [[nodiscard]] bool waits_on(duration waited) {
        const std::lock_guard lock(mutex);
        return leave_by ? clock::now() < *leave_by : waited < options.lock_patience;
    }
};

std::string journal_path(const journal_config& config) {
    return config.path.empty() ? state_directory() + "/journal.db" : config.path;
}

journal_options journal_options_of(const journal_config& config) {
    return {.path = journal_path(config), .bounds = {.max_rows = config.max_rows, .max_days = config.max_days}};
}

journal::journal(const journal_options& options, log_sink_function log)
    : shared_(std::make_shared<shared>(options, std::move(log))) {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([with = shared_] { work(with); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

journal::~journal() {
    std::unique_lock lock(shared_->mutex);
    shared_->leave_by = clock::now() + shared_->options.leave_within;
    shared_->changed.notify_one();
    // The thread gives up at that time by itself, unless the disk does not let it: a little later it is left behind.
    const auto limit = *shared_->leave_by + std::chrono::milliseconds(250);
    shared_->done.wait_until(lock, limit, [this] { return shared_->over; });
    const std::uint64_t missing = shared_->waiting.size() + shared_->in_hand;
    const bool over = shared_->over;
    shared_->left_behind = !over;
    lock.unlock();
    if (over) {
        thread_.join();
    } else {
        thread_.detach();
    }
    if (missing > 0) {
        shared_->log(log_level::warning, "the journal " + shared_->options.path + " lacks the last " +
                                             std::to_string(missing) + " calls: they could not be written in time");
    }
}

void journal::write(journal_entry entry) noexcept {
    const std::lock_guard lock(shared_->mutex);
    bool wakes = shared_->waiting.empty();
    try {
        if (shared_->waiting.size() >= shared_->options.max_waiting) throw std::bad_alloc();
        shared_->waiting.push_back(std::move(entry));
    } catch (const std::bad_alloc&) {
        wakes = shared_->lost++ == 0;
        shared_->tell_of_loss = shared_->tell_of_loss || wakes;
    }
    if (wakes) shared_->changed.notify_one();
}

bool journal::flush(duration within) {
    std::unique_lock lock(shared_->mutex);
    return shared_->done.wait_for(lock, within, [this] { return shared_->waiting.empty() && shared_->in_hand == 0; });
}

journal_counts journal::counts() const {
    const std::lock_guard lock(shared_->mutex);
    return {.written = shared_->written, .lost = shared_->lost, .waiting = shared_->waiting.size() + shared_->in_hand};
}

/// Why it could not be done; empty: it was.
std::string journal::write_some(shared& with) try {
    if (with.file && with.file->replaced()) with.file.reset();
    if (!with.file) {
        with.file.emplace(with.options.path, with.options.bounds,
                          [&with](duration waited) { return with.waits_on(waited); });
    }
    with.file->write(with.batch);
    return {};
} catch (const std::exception& error) {
    with.file.reset();
    return error.what();
}

void journal::work(const std::shared_ptr<shared>& with) {
    std::string told;  // what the log was told last; empty: all is well
    duration retry_after = with->options.first_retry;
    clock::time_point next_try{};
    for (;;) {
        const turn now = with->next(next_try);
        if (now == turn::tell_of_loss) {
            with->say(log_level::warning, "the journal cannot be written as fast as calls end: some are lost to it");
            continue;
        }
        const std::string error = with->batch.empty() ? std::string() : write_some(*with);
        if (error.empty()) {
            const journal_counts counts = with->batch_written();
            if (!std::exchange(told, {}).empty()) {
                with->say(log_level::info, "the journal " + with->options.path + " is written again; " +
                                               std::to_string(counts.lost) + " calls are lost to it");
            }
            next_try = {};
            retry_after = with->options.first_retry;
            if (now == turn::leave && counts.waiting == 0) break;
            continue;
        }
        if (error != told) with->say(log_level::warning, error + " (calls are relayed all the same)");
        told = error;
        if (now == turn::leave) break;
        next_try = clock::now() + retry_after;
        retry_after = std::min(retry_after * 2, with->options.longest_retry);
    }
    with->file.reset();
    const std::lock_guard lock(with->mutex);
    with->over = true;
    with->done.notify_all();
}

}  // namespace andon::gateway
