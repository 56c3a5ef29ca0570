// What can be seen of a server's processes from outside: processor time, children, threads, open files.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <sys/types.h>

namespace andon::check {

/// One look at a process and everything below it.
struct process_view {
    std::map<pid_t, std::chrono::milliseconds> processor;  ///< used so far, by each process that is alive
    std::size_t threads = 0;
    std::size_t files = 0;

    [[nodiscard]] std::size_t processes() const noexcept { return processor.size(); }
    /// What was used between the earlier look and this one.
    [[nodiscard]] std::chrono::milliseconds used_since(const process_view& earlier) const;

    /// Of the descendants of `root`, and of itself where that is wanted. Zombies are not counted.
    [[nodiscard]] static process_view below(pid_t root, bool itself);
    /// Of a process that a process_tree started: orphans of its tree count too, as they are given to its guardian.
    [[nodiscard]] static process_view of_command(pid_t command);
};

}  // namespace andon::check
