// Calls that are on their way somewhere on this machine, as rows of a table: for `andon ps` and `andon top`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "control/columns.hpp"
#include "gateway/control/control_client.hpp"

namespace andon::app {

/// As `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`: for what a person waits for.
[[nodiscard]] std::string show_age(std::chrono::duration<double> age);

[[nodiscard]] const std::vector<column>& call_columns();
[[nodiscard]] std::vector<cell> call_row(const gateway::found_call& found, std::chrono::system_clock::time_point now);

/// Asked for it or on its way, in words: "wait of everything (session 0af1)".
[[nodiscard]] std::string describe(const gateway::relayed_call_view& call);

}  // namespace andon::app
