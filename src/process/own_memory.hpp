// Gives back the memory that a forked process has of its parent and does not need.
#pragma once

namespace andon::detail {

/// Unmaps everything private and anonymous (heaps, other threads' stacks) but the calling thread's stack, its
/// thread-local variables and what touches [first, last). From then on nothing but system calls works. For a forked
/// process: as long as it holds these pages, the parent pays for each that it writes to with a copy, and a guardian may
/// live as long as the program.
[[gnu::visibility("hidden")]] void unmap_all_but(const void* first, const void* last) noexcept;

}  // namespace andon::detail
