// Moments, and how work came to its end, in words: the log and `andon log` say them alike.
#pragma once

#include <chrono>
#include <string>

#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// 2026-11-17T07:34:52.123Z
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point at);
/// 2026-11-17 08:34:52.123, as clocks on the wall say here
[[nodiscard]] std::string local_text(std::chrono::system_clock::time_point at);

/// "stopped in 12 ms (quiet)", "ignored its cancel, and stopped after 2.04 s (killed), 3 processes killed". Empty for a
/// call that was not asked to.
[[nodiscard]] std::string stop_text(const journal_entry& entry);

}  // namespace andon::gateway
