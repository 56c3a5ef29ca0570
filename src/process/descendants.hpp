// Finds every process below the calling one and signals it. For the guardian: nothing here allocates, locks or calls
// what the program may have replaced. Hidden, so that in a shared library too the calls are plain jumps: the dynamic
// linker, which would look them up when they are first made, is not to be used after the fork.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace andon::detail {

struct sweep_result {
    std::uint32_t living;   // that were there
    std::uint32_t fresh;    // of these, signalled for the first time
    std::uint32_t refused;  // of these, not ours to signal
};

/// SIGTERM to every descendant that was not signalled before, and SIGCONT, since a stopped process would sleep through
/// its grace time. Parents come first: a shell whose child dies first goes on to the next line of its script.
[[gnu::visibility("hidden")]] sweep_result terminate_descendants() noexcept;

/// The same for those whose parent is gone, and the command itself.
[[gnu::visibility("hidden")]] sweep_result terminate_orphans() noexcept;

/// SIGKILL to every descendant.
[[gnu::visibility("hidden")]] sweep_result kill_descendants() noexcept;

/// Gives back all of the program's memory that neither the stack nor these functions need.
[[gnu::visibility("hidden")]] void keep_only_descendants_memory() noexcept;

/// The process was reaped: a later one may have its number.
[[gnu::visibility("hidden")]] void forget_descendant(pid_t pid) noexcept;

}  // namespace andon::detail
