// The figures over Streamable HTTP, beside the official SDKs. What is on the clock in each is said in bench/RESULTS.md.
#include "http_callers.hpp"
#include "http_measures.hpp"
#include "null_peer.hpp"
#include "side_by_side.hpp"

namespace andon::bench {
namespace {

constexpr const char* v2 = "typescript v2";

// A server of the TypeScript SDK v2 is made anew for every request, and smaller with two tools than with all of them.
const series over_http = {
    .name = "http",
    .peers =
        {
            {ours, {"build/bin/everything_server", "--http", "0"}},
            {v2, {"node", "peers/typescript/v2_server.mjs", "--http", "0", "echo", "park"}},
            {"typescript v1", {"node", "peers/typescript/v1_server.mjs", "--http", "0", "echo", "park"}},
            {"python", {"build/peers/python/bin/python", "peers/python/server.py", "--http", "0"}},
            {"rust", {"build/peers/rust_server", "--http", "0"}},
            {"go", {"build/peers/go_server", "--http", "0"}},
        },
    .baseline = v2,
    .try_out = try_http,
    .groups = {{"disconnect", measure_disconnect}, {"calls", measure_calls}, {"parked", measure_parked}},
    .limited_groups = {"calls"},
    .null_peer = run_http_null_peer,
    .comparisons =
        {
            {"disconnect, median over TypeScript v2", "disconnect/median", v2, relation::at_most, 1.0 / 3},
            {"disconnect, 99th percentile over the maximum of TypeScript v2", "disconnect/p99", v2, relation::at_most,
             0.1, "disconnect/maximum"},
            {"disconnect, median over Rust", "disconnect/median", "rust", relation::no_bar, 0},
            {"disconnect, median over Go", "disconnect/median", "go", relation::no_bar, 0},
            {"disconnect, median over Python", "disconnect/median", "python", relation::no_bar, 0},
            {"calls, 64 connections, rate over TypeScript v2", "calls/rate", v2, relation::at_least, 8},
            {"calls, 64 connections, rate over Rust", "calls/rate", "rust", relation::above, 1},
            {"calls, 64 connections, rate over Go", "calls/rate", "go", relation::above, 1},
            {"calls, 64 connections, rate over TypeScript v1", "calls/rate", "typescript v1", relation::no_bar, 0},
            {"calls, 64 connections, rate over Python", "calls/rate", "python", relation::no_bar, 0},
            {"10,000 parked, memory for each over TypeScript v2", "parked/each", v2, relation::at_most, 0.1},
        },
    .own_figures = {{"10,000 parked, all closed at once until noticed", "parked/close", 1000, " ms"}},
    .units =
        {
            {"disconnect/median", " us"},
            {"disconnect/p99", " us"},
            {"disconnect/maximum", " us"},
            {"disconnect/samples", ""},
            {"disconnect/posted cancel, median", " us"},
            {"disconnect/posted cancel, p99", " us"},
            {"disconnect/posted cancel, maximum", " us"},
            {"disconnect/posted cancel, samples", ""},
            {"calls/rate", " calls/s"},
            {"parked/streams", ""},
            {"parked/rest", " MiB"},
            {"parked/memory", " MiB"},
            {"parked/each", " KiB"},
            {"parked/close", " ms"},
            {"parked/posted cancels", " ms"},
        },
};

}  // namespace
}  // namespace andon::bench

int main(int argc, char** argv) {
    andon::bench::raise_file_limit();
    return andon::bench::run_side_by_side(andon::bench::over_http, argc, argv);
}
