// What is measured of one server over Streamable HTTP, each in a process of its own. What is on the clock is said in
// bench/RESULTS.md.
#pragma once

#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// "disconnect/median", "disconnect/p99", "disconnect/maximum": microseconds from closing the connection of a call to
/// its handler noticing. Of a server without 2026-07-28 the same for a notification that is posted, under names of
/// their own.
[[nodiscard]] readings measure_disconnect(const peer& server, const placement& cores);
/// "calls/rate": calls per second over 64 connections, one in flight on each.
[[nodiscard]] readings measure_calls(const peer& server, const placement& cores);
/// "parked/streams": how many calls wait, each on a connection of its own; "parked/rest", "parked/memory": MiB without
/// and with them; "parked/each": KiB for one; "parked/close": milliseconds from the first close to the last handler
/// that notices.
[[nodiscard]] readings measure_parked(const peer& server, const placement& cores);
/// Starts it and calls it once.
[[nodiscard]] readings try_http(const peer& server, const placement& cores);

}  // namespace andon::bench
