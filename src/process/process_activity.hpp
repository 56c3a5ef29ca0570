// What a command and everything below it are doing, seen from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace andon::detail {

struct process_activity {
    struct process {
        pid_t pid = 0;
        std::chrono::milliseconds started{};  ///< since the machine was started
    };
    /// Of all of them since they began; those that have ended and were waited for count with their parent, in steps of
    /// a clock tick (10 ms as a rule).
    std::chrono::nanoseconds processor_time{};
    /// For which their threads, as far as they live, were ready to run and had no processor: on a machine that is busy
    /// with something else, the work of one that works on shows here and not above.
    std::chrono::nanoseconds queued{};
    bool ready = false;  ///< a thread runs, or could: that which waits is in `queued` only when it has waited
    std::vector<process> processes;  ///< the command first, where it lives
};

/// Of the command of a process_tree, by its pid, and all that it has left behind.
[[nodiscard]] process_activity activity_of(pid_t command);
/// The pid under whose care the command is: what it leaves behind hangs there. Zero: there is no such command.
[[nodiscard]] pid_t guardian_of(pid_t command);
/// The same by the guardian's pid, also once the command is gone.
[[nodiscard]] process_activity activity_below(pid_t guardian);
/// On the clock of process::started.
[[nodiscard]] std::chrono::milliseconds time_since_boot();

}  // namespace andon::detail
