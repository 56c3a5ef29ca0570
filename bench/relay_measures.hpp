// What is measured of one proxy, each time in a process of its own. What is on the clock is said in bench/RESULTS.md.
#pragma once

#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// This one speaks the transport of 2024-11-05.
inline constexpr const char* supergateway_sse = "supergateway sse";

/// Calls through the proxy to everything_server: "everything/added", "everything/added p99": microseconds more than
/// without it, one at a time; "everything/rate": calls a second, 64 in flight; "everything/memory": MiB meanwhile.
[[nodiscard]] readings measure_everything(const peer& proxy, const placement& cores);
/// The same to a server of the TypeScript SDK v1: "typescript/...".
[[nodiscard]] readings measure_typescript(const peer& proxy, const placement& cores);
/// The same of `andon wrap`: "wrap/everything ...", "wrap/typescript ...".
[[nodiscard]] readings measure_wrap(const peer& proxy, const placement& cores);
/// Servers on one core, driver and `andon wrap` on the other: "pinned/typescript", "pinned/everything": what of the
/// server's own rate is lost, in per cent; with the rates.
[[nodiscard]] readings measure_pinned(const peer& proxy, const placement& cores);
/// "idle/wrap", "idle/gateway": context switches in three seconds without a message.
[[nodiscard]] readings measure_idle(const peer& proxy, const placement& cores);
/// "sessions/each": KiB of the gateway for each of 1,000 sessions with a call in flight, the server behind a URL;
/// "sessions/process", "sessions/guardian": the same of 64 sessions that have a process each, and what of a guardian no
/// other process has.
[[nodiscard]] readings measure_sessions(const peer& proxy, const placement& cores);
/// Starts it and calls it once.
[[nodiscard]] readings try_proxy(const peer& proxy, const placement& cores);

}  // namespace andon::bench
