// What /proc says of processes.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace andon::bench {

/// A process and all that it started, directly or not, and that still has its parent.
[[nodiscard]] std::vector<pid_t> family_of(pid_t root);
/// Its words, with a space between them; empty when it is gone.
[[nodiscard]] std::string command_line(pid_t process);
/// All its threads, and those that they start.
void move_to_core(pid_t process, int core);
/// The resident set in bytes.
[[nodiscard]] std::int64_t resident(pid_t process);
/// What of it no other process has, in bytes.
[[nodiscard]] std::int64_t resident_alone(pid_t process);
/// How often any thread of it went to sleep or had to give way, since it began.
[[nodiscard]] std::int64_t context_switches(pid_t process);

}  // namespace andon::bench
