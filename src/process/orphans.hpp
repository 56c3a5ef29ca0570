// What is left of a tree whose guardian was killed.
#pragma once

#include <cstddef>

namespace andon::detail {

/// A guardian that somebody kills leaves everything below it to the next subreaper above, which is to be this process.
/// The children that it has by now are others', as those of a shell that started jobs and then exec'd us: they are let
/// alone. For a program that has no other children from then on but those of its process_trees; on one thread, as all
/// of these.
void adopt_orphans();

/// What others' children leave behind comes to us, too, and is others' as well. As long as every guardian lives, all
/// that comes is theirs: so this is to be called now and then. False: there are none, and will be none.
[[nodiscard]] bool note_others();

/// Kills all orphans, and waits for those that are dead. How many there were: when they are dead, their children are
/// the next, so that nothing is left once it says zero. Pids are safe: a child's is not used again before it was waited
/// for. Guardians are no orphans: they were made without an exit signal, and a plain wait() does not find them.
[[nodiscard]] std::size_t end_orphans();

}  // namespace andon::detail
