// The figures over stdio, beside the official SDKs. What is on the clock in each is said in bench/RESULTS.md.
#include "null_peer.hpp"
#include "side_by_side.hpp"
#include "stdio_measures.hpp"

namespace andon::bench {
namespace {

constexpr const char* v1 = "typescript v1";

const series over_stdio = {
    .name = "stdio",
    .peers =
        {
            {ours, {"build/bin/everything_server"}},
            {v1, {"node", "peers/typescript/v1_server.mjs"}},
            {"typescript v2", {"node", "peers/typescript/v2_server.mjs"}},
            {"python", {"build/peers/python/bin/python", "peers/python/server.py"}},
            {"rust", {"build/peers/rust_server"}},
            {"go", {"build/peers/go_server"}},
        },
    .baseline = v1,
    .try_out = measure_start,  // after it the program is in the page cache, too
    .groups =
        {
            {"echo", measure_echo},
            {"cancel", measure_cancel},
            {"parks", measure_parks},
            {"crowd", measure_crowd, true},
            {"start", measure_start},
        },
    .limited_groups = {"echo", "cancel"},
    .null_peer = run_null_peer,
    .comparisons =
        {
            {"echo, 64 in flight, rate over TypeScript v1", "echo/rate", v1, relation::at_least, 10},
            {"echo, 64 in flight, rate over Rust", "echo/rate", "rust", relation::above, 1},
            {"echo, 64 in flight, rate over Go", "echo/rate", "go", relation::above, 1},
            {"echo, 64 in flight, rate over TypeScript v2", "echo/rate", "typescript v2", relation::no_bar, 0},
            {"echo, 64 in flight, rate over Python", "echo/rate", "python", relation::no_bar, 0},
            {"cancel latency, median over TypeScript v1", "cancel/median", v1, relation::at_most, 0.25},
            {"cancel latency, 99th percentile over TypeScript v1", "cancel/p99", v1, relation::at_most, 0.1},
            {"10,000 parks, memory over TypeScript v1", "parks/memory", v1, relation::at_most, 0.1},
            {"10,000 parks, time to cancel all over TypeScript v1", "parks/cancel", v1, relation::at_most, 0.1},
            {"start to first answer, over TypeScript v1", "start/first", v1, relation::below, 0.25},
        },
    .own_figures = {{"echo latency, 100,000 parks in flight over none", "crowd/ratio", 1.5}},
    .units =
        {
            {"echo/rate", " calls/s"},
            {"cancel/median", " us"},
            {"cancel/p99", " us"},
            {"cancel/samples", ""},
            {"parks/rest", " MiB"},
            {"parks/memory", " MiB"},
            {"parks/cancel", " ms"},
            {"crowd/idle", " us"},
            {"crowd/busy", " us"},
            {"crowd/memory", " MiB"},
            {"crowd/cancel", " ms"},
            {"start/first", " ms"},
        },
};

}  // namespace
}  // namespace andon::bench

int main(int argc, char** argv) { return andon::bench::run_side_by_side(andon::bench::over_stdio, argc, argv); }
