// The process between the program and a command.
#pragma once

#include <sys/types.h>

#include "process/launch.hpp"

namespace andon::detail {

/// Forks the guardian, which starts the command and reports on `what.control`. Returns its pid, or -1 with errno set.
/// It is to be waited for with __WALL.
pid_t start_guardian(const launch& what) noexcept;

}  // namespace andon::detail
