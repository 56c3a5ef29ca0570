// The figures of the relay, beside proxies from npm. What is on the clock in each is said in bench/RESULTS.md.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include "http_callers.hpp"
#include "null_relay.hpp"
#include "proxy_process.hpp"
#include "relay_measures.hpp"
#include "side_by_side.hpp"

namespace andon::bench {
namespace {

constexpr const char* stateful = "supergateway";
constexpr const char* null_relay = "a relay that looks at nothing";
constexpr const char* other = "mcp-proxy";
constexpr const char* supergateway = "bench/proxies/node_modules/supergateway/dist/index.js";
constexpr const char* mcp_proxy = "bench/proxies/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs";

std::string text(std::initializer_list<const char*> parts) {
    std::string joined;
    for (const char* const part : parts) joined += part;
    return joined;
}

// Where a proxy leaves a choice it was made in its favour: none writes a log, none keeps events for a resume.
series relay() {
    series made = {
        .name = "relay",
        .peers =
            {
                {ours, {"build/bin/andon", "gateway", "--port", "{port}", "--", "{server...}"}},
                {stateful,
                 {"node", supergateway, "--stdio", "{server}", "--outputTransport", "streamableHttp", "--stateful",
                  "--logLevel", "none", "--port", "{port}"}},
                {supergateway_sse,
                 {"node", supergateway, "--stdio", "{server}", "--logLevel", "none", "--port", "{port}"}},
                {other,
                 {"node", mcp_proxy, "--server", "stream", "--no-eventStore", "--host", "127.0.0.1", "--port", "{port}",
                  "--", "{server...}"}},
            },
        .baseline = "",
        .try_out = try_proxy,
        .groups =
            {
                {"everything", measure_everything},
                {"typescript", measure_typescript},
                {"wrap", measure_wrap, true},
                {"pinned", measure_pinned, true},
                {"idle", measure_idle, true},
                {"sessions", measure_sessions, true},
            },
        .limited_groups = {"everything", "typescript", "wrap"},
        .limit = {null_relay, {"/proc/self/exe", "gateway", "--port", "{port}", "--", "{server...}"}},
        .null_peer = nullptr,
        .comparisons = {},
        .own_figures =
            {
                {"wrap on the other core, lost of a TypeScript server's rate", "pinned/typescript", 15, " %"},
                {"idle wrap, context switches in 3 s", "idle/wrap", 0},
                {"idle gateway with 16 sessions, context switches in 3 s", "idle/gateway", 0},
                {"1,000 sessions with a call in flight, each", "sessions/each", 64, " KiB"},
            },
        .units = {},
        .repetitions = 5,
    };
    for (const char* const server : {"everything", "typescript"}) {
        for (const char* const theirs : {stateful, supergateway_sse, other}) {
            const auto compare = [&](const char* front, const std::string& reading) {
                const auto add = [&](const char* what, const char* read, relation to_bar, double bar) {
                    made.comparisons.push_back({text({front, " before ", server, ", ", what, " over ", theirs}),
                                                text({reading.c_str(), read}), theirs, to_bar, bar,
                                                text({server, "/", read})});
                };
                add("added latency", "added", relation::at_most, 0.1);
                add("added latency, 99th percentile", "added p99", relation::no_bar, 0);
                add("rate, 64 in flight,", "rate", relation::at_least, 10);
                add("memory meanwhile", "memory", relation::at_most, 0.2);
            };
            compare("gateway", text({server, "/"}));
            compare("wrap", text({"wrap/", server, " "}));
        }
    }
    for (const char* const server : {"everything", "typescript"}) {
        for (const auto& [front, reading] :
             {std::pair{"gateway", text({server, "/added"})}, std::pair{"wrap", text({"wrap/", server, " added"})}}) {
            made.comparisons.push_back({text({front, " before ", server, ", added latency over ", null_relay}), reading,
                                        null_relay, relation::no_bar, 0});
        }
    }
    for (const std::string reading : {"everything/", "typescript/", "wrap/everything ", "wrap/typescript "}) {
        made.units.insert(made.units.end(), {{reading + "direct", " us"},
                                             {reading + "added", " us"},
                                             {reading + "added p99", " us"},
                                             {reading + "rate", " calls/s"},
                                             {reading + "memory", " MiB"}});
    }
    made.units.insert(made.units.end(), {{"pinned/typescript", " %"},
                                         {"pinned/typescript alone", " calls/s"},
                                         {"pinned/typescript wrapped", " calls/s"},
                                         {"pinned/everything", " %"},
                                         {"pinned/everything alone", " calls/s"},
                                         {"pinned/everything wrapped", " calls/s"},
                                         {"idle/wrap", ""},
                                         {"idle/gateway", ""},
                                         {"sessions/each", " KiB"},
                                         {"sessions/process", " KiB"},
                                         {"sessions/guardian", " KiB"}});
    return made;
}

// Everything that andon keeps, in a folder of its own: no configuration and no journal of a user's is touched.
class own_folder {
public:
    own_folder() : path_((std::filesystem::temp_directory_path() / "andon_relay_bench.XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) std::abort();
        for (const char* name : {"ANDON_RUNTIME_DIR", "ANDON_STATE_DIR"}) ::setenv(name, path_.c_str(), 1);
        const auto empty = path_ + "/andon.toml";
        const std::ofstream made(empty);
        ::setenv("ANDON_CONFIG", empty.c_str(), 1);
    }
    ~own_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;

private:
    std::string path_;
};

}  // namespace
}  // namespace andon::bench

int main(int argc, char** argv) {
    if (argc > 1 && *argv[1] != '-') return andon::bench::run_null_relay({argv + 1, argv + argc});
    const andon::bench::own_folder state;
    andon::bench::raise_file_limit();
    andon::bench::adopt_orphans();
    return andon::bench::run_side_by_side(andon::bench::relay(), argc, argv);
}
