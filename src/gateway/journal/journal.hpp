// What became of every call, on the disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "andon/core/time.hpp"
#include "andon/transport/log.hpp"
#include "gateway/journal/journal_file.hpp"
#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

struct journal_config;

struct journal_options {
    std::string path{};
    journal_bounds bounds{};
    std::size_t max_waiting = 10'000;                         ///< entries; what does not fit is lost, and counted
    duration leave_within = std::chrono::seconds(2);          ///< at the end, for what is waiting
    duration first_retry = std::chrono::seconds(1);           ///< after an error; each further one waits twice as long
    duration longest_retry = std::chrono::minutes(1);         ///< and no longer than this
    duration lock_patience = std::chrono::milliseconds(500);  ///< with another process that has the file locked
};

/// Where journal.db is where the configuration does not say. Throws std::runtime_error where there is no place for it.
[[nodiscard]] std::string journal_path(const journal_config& config);
[[nodiscard]] journal_options journal_options_of(const journal_config& config);

struct journal_counts {
    std::uint64_t written = 0;
    std::uint64_t lost = 0;
    std::size_t waiting = 0;
};

/// The disk has a thread of its own, which opens the file too: whoever relays never waits for it, and a disk that is
/// full, a file that is damaged, locked or somebody else's is no reason to stop. It is told in the log, once, and tried
/// again later; meanwhile the entries wait, as many as there is room for.
///
/// Even a disk that hangs for good holds up nobody: at the end the thread has its time, and is then left behind. So
/// what it works on is shared with it and not owned here.
class journal {
public:
    journal(const journal_options& options, log_sink_function log);
    /// Writes what is waiting, for at most `leave_within`.
    ~journal();
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;

    /// From any thread. Never waits for the disk.
    void write(journal_entry entry) noexcept;
    /// Waits until all that was handed over is written. Whether it is.
    bool flush(duration within);
    [[nodiscard]] journal_counts counts() const;

private:
    struct shared;
    static void work(const std::shared_ptr<shared>& with);
    static std::string write_some(shared& with);

    std::shared_ptr<shared> shared_;
    std::thread thread_;
};

}  // namespace andon::gateway
