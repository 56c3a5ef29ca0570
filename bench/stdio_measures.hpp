// What is measured of one server, each in a process of its own. What is on the clock is said in bench/RESULTS.md.
#pragma once

#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// "echo/rate": calls per second with 64 in flight.
[[nodiscard]] readings measure_echo(const peer& server, const placement& cores);
/// "cancel/median" and "cancel/p99": microseconds from writing the notification to the handler noticing.
[[nodiscard]] readings measure_cancel(const peer& server, const placement& cores);
/// "parks/rest", "parks/memory": MiB; "parks/cancel": milliseconds from the first cancel to the last that is noticed.
[[nodiscard]] readings measure_parks(const peer& server, const placement& cores);
/// "crowd/idle", "crowd/busy": microseconds for an echo alone and with 100,000 parks in flight; "crowd/ratio"; and for
/// the hundred thousand "crowd/memory", "crowd/cancel" as above.
[[nodiscard]] readings measure_crowd(const peer& server, const placement& cores);
/// "start/first": milliseconds from starting the process to the answer to the first call.
[[nodiscard]] readings measure_start(const peer& server, const placement& cores);

}  // namespace andon::bench
