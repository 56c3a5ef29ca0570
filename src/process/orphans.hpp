// What is left of a tree whose guardian was killed.
#pragma once

#include <cstddef>

namespace andon::detail {

/// A guardian that somebody kills leaves everything below it to the next subreaper above, which is to be this process.
/// Only for a program that has no children but those of its process_trees: any other child counts as an orphan, too.
/// Guardians do not: they were made without an exit signal, and a plain wait() does not find them.
void adopt_orphans() noexcept;

/// Kills all orphans, and waits for those that are dead. How many there were: when they are dead, their children are
/// the next, so that nothing is left once it says zero. Pids are safe: a child's is not used again before it was waited
/// for.
[[nodiscard]] std::size_t end_orphans() noexcept;

}  // namespace andon::detail
