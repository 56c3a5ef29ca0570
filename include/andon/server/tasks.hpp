// Tasks of a server: calls that outlive their request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "andon/tasks/task_store.hpp"

namespace andon {

/// Whether calls of a tool are tasks.
enum class task_use : std::uint8_t {
    never,     ///<
    optional,  ///< for clients that want one (2025-11-25), or that know them (the extension of 2026-07-28)
    required,  ///< others are refused
};

struct task_options {
    /// Where they are kept. Null: in memory, as long as the process lives. See sqlite_task_store().
    std::shared_ptr<task_store> store{};
    std::chrono::milliseconds poll_interval = std::chrono::seconds(1);  ///< what clients are asked to keep to
    /// From its creation; then the task is forgotten, and stopped if it still works. A client may ask for another one
    /// (2025-11-25).
    std::chrono::milliseconds ttl = std::chrono::hours(1);
    std::chrono::milliseconds longest_ttl = std::chrono::hours(24);
    std::size_t live_per_owner = 1'000;  ///< that work at once, of one principal or session
    std::size_t live = 10'000;           ///< the same of all together
    std::size_t kept = 1'000'000;        ///< with those that ended; more are refused
    /// What is asked about tasks, by one principal or session, in a second; a cancel that finds its task does not
    /// count.
    double requests_per_second = 10'000;
    /// Asks clients that know how (2025-11-25) as tasks too: an answer that takes long then outlives their requests.
    bool questions = false;
};

}  // namespace andon
