// Whether the time of an answer tells that a task is somebody else's.
#pragma once

#include <string>
#include <vector>

#include "server_process.hpp"

namespace andon::bench {

/// How many times as long the answer to tasks/get takes, in the median, for a task of another principal as for one that
/// never was. `more` are flags of the server's.
[[nodiscard]] double foreign_over_unknown(const std::vector<std::string>& more, const placement& cores);

}  // namespace andon::bench
