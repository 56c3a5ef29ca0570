// The figures over stdio, beside the official SDKs. What is on the clock in each is said in bench/RESULTS.md.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "figures.hpp"
#include "null_peer.hpp"
#include "stdio_measures.hpp"

namespace andon::bench {
namespace {

constexpr int repetitions = 3;
constexpr const char* ours = "andon";
constexpr const char* v1 = "typescript v1";

struct group {
    std::string name;
    readings (*measure)(const peer&, const placement&);
    bool ours_only;
};

const std::vector<group> groups = {
    {"echo", measure_echo, false},  {"cancel", measure_cancel, false}, {"parks", measure_parks, false},
    {"crowd", measure_crowd, true}, {"start", measure_start, false},
};

std::vector<peer> known_peers() {
    return {
        {ours, {"build/bin/everything_server"}},
        {v1, {"node", "peers/typescript/v1_server.mjs"}},
        {"typescript v2", {"node", "peers/typescript/v2_server.mjs"}},
        {"python", {"build/peers/python/bin/python", "peers/python/server.py"}},
        {"rust", {"build/peers/rust_server"}},
        {"go", {"build/peers/go_server"}},
    };
}

std::vector<std::string> words(const std::string& text, char separator) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, separator);) {
        if (!word.empty()) result.push_back(word);
    }
    return result;
}

struct options {
    std::vector<peer> peers = known_peers();
    std::vector<std::string> wanted;
};

[[noreturn]] void usage(const std::string& wrong) {
    throw std::runtime_error(wrong +
                             "\nusage: stdio_bench [--groups echo,cancel,parks,crowd,start] [--peers NAME,NAME...] "
                             "[--command NAME='COMMAND...'], from the root of the tree");
}

options parse(const std::vector<std::string>& arguments) {
    options chosen;
    const auto find = [&](const std::string& name) {
        const auto at = std::find_if(chosen.peers.begin(), chosen.peers.end(), [&](auto& p) { return p.name == name; });
        if (at == chosen.peers.end()) usage("no peer is called '" + name + "'");
        return at;
    };
    std::vector<std::string> only;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        if (i + 1 == arguments.size()) usage("'" + arguments[i] + "' wants a value");
        const auto& value = arguments[i + 1];
        if (arguments[i] == "--groups") {
            chosen.wanted = words(value, ',');
        } else if (arguments[i] == "--peers") {
            only = words(value, ',');
        } else if (arguments[i] == "--command" && value.find('=') != std::string::npos) {
            find(value.substr(0, value.find('=')))->command = words(value.substr(value.find('=') + 1), ' ');
        } else {
            usage("what is '" + arguments[i] + "'?");
        }
    }
    for (const auto& name : chosen.wanted) {
        if (std::none_of(groups.begin(), groups.end(), [&](auto& g) { return g.name == name; })) {
            usage("no group is called '" + name + "'");
        }
    }
    if (!only.empty()) {
        std::vector<peer> kept;
        kept.reserve(only.size());
        for (const auto& name : only) kept.push_back(*find(name));
        chosen.peers = kept;
    }
    return chosen;
}

// What was measured, by peer and reading, and why what is missing is missing.
class results {
public:
    void add(const std::string& peer, const readings& read) {
        for (const auto& [name, value] : read) values_[peer][name].push_back(value);
    }
    void leave_out(const std::string& peer, const std::string& group, const std::string& reason) {
        reasons_[peer].emplace(group, reason);
    }
    [[nodiscard]] bool left_out(const std::string& peer, const std::string& group) const {
        return !reason(peer, group).empty();
    }
    [[nodiscard]] std::string reason(const std::string& peer, const std::string& group) const {
        const auto of_peer = reasons_.find(peer);
        if (of_peer == reasons_.end()) return {};
        for (const auto& key : {std::string("all"), group}) {
            if (const auto at = of_peer->second.find(key); at != of_peer->second.end()) return at->second;
        }
        return {};
    }
    // The median over the repetitions. Not a number when the peer was left out, even after its first repetition.
    [[nodiscard]] double get(const std::string& peer, const std::string& reading) const {
        const auto of_peer = values_.find(peer);
        if (of_peer == values_.end() || !of_peer->second.contains(reading)) return std::nan("");
        if (left_out(peer, reading.substr(0, reading.find('/')))) return std::nan("");
        return median(of_peer->second.at(reading));
    }

private:
    std::map<std::string, std::map<std::string, std::vector<double>>> values_;
    std::map<std::string, std::map<std::string, std::string>> reasons_;
};

// A program that is not there is no surprise for the optional peers, and says more than a failed start would.
std::string what_is_missing(const peer& of) {
    for (const auto& word : of.command) {
        if (word.find('/') != std::string::npos && !std::filesystem::exists(word)) return word + " is not there";
    }
    return {};
}

// Starts each once: one that cannot do that is left out of everything, and the others are in the page cache.
void try_peers(const std::vector<peer>& peers, const placement& cores, results& found) {
    for (const auto& each : peers) {
        auto reason = what_is_missing(each);
        try {
            if (reason.empty()) static_cast<void>(measure_start(each, cores));
        } catch (const std::exception& error) {
            reason = error.what();
        }
        if (reason.empty()) continue;
        std::fprintf(stderr, "%s: left out, %s\n", each.name.c_str(), reason.c_str());
        found.leave_out(each.name, "all", reason);
    }
}

void measure(const group& what, const peer& each, const placement& cores, results& found) {
    if (found.left_out(each.name, what.name) || (what.ours_only && each.name != ours)) return;
    std::fprintf(stderr, "%s, %s:", what.name.c_str(), each.name.c_str());
    try {
        const auto read = what.measure(each, cores);
        for (const auto& [name, value] : read) std::fprintf(stderr, " %s %.2f", name.c_str(), value);
        found.add(each.name, read);
    } catch (const std::exception& error) {
        std::fprintf(stderr, " left out, %s", error.what());
        found.leave_out(each.name, what.name, error.what());
    }
    std::fprintf(stderr, "\n");
}

struct comparison {
    const char* name;
    const char* reading;
    const char* other;
    enum { at_least, above, at_most, below, no_bar } relation;
    double bar;
};

// Each is what we read divided by what the other does.
const std::vector<comparison> comparisons = {
    {"echo, 64 in flight, rate over TypeScript v1", "echo/rate", v1, comparison::at_least, 10},
    {"echo, 64 in flight, rate over Rust", "echo/rate", "rust", comparison::above, 1},
    {"echo, 64 in flight, rate over Go", "echo/rate", "go", comparison::above, 1},
    {"echo, 64 in flight, rate over TypeScript v2", "echo/rate", "typescript v2", comparison::no_bar, 0},
    {"echo, 64 in flight, rate over Python", "echo/rate", "python", comparison::no_bar, 0},
    {"cancel latency, median over TypeScript v1", "cancel/median", v1, comparison::at_most, 0.25},
    {"cancel latency, 99th percentile over TypeScript v1", "cancel/p99", v1, comparison::at_most, 0.1},
    {"10,000 parks, memory over TypeScript v1", "parks/memory", v1, comparison::at_most, 0.1},
    {"10,000 parks, time to cancel all over TypeScript v1", "parks/cancel", v1, comparison::at_most, 0.1},
    {"start to first answer, over TypeScript v1", "start/first", v1, comparison::below, 0.25},
};

void print(const comparison& line, double value, figures& out) {
    switch (line.relation) {
        case comparison::at_least: return out.at_least(line.name, value, line.bar);
        case comparison::above: return out.above(line.name, value, line.bar);
        case comparison::at_most: return out.at_most(line.name, value, line.bar);
        case comparison::below: return out.below(line.name, value, line.bar);
        case comparison::no_bar: return figures::note(line.name, value);
    }
}

// Whether every figure that must be there is: those of ours alone and those beside v1.
bool print_figures(const results& found, const std::function<bool(const std::string&)>& wanted, figures& out) {
    bool complete = true;
    const auto leave_out = [&](const char* name, const std::string& peer, const std::string& group) {
        const auto reason = found.reason(peer, group);
        out.left_out(name, peer + ", " + (reason.empty() ? "not measured" : reason));
        complete = complete && peer != ours && peer != v1;
    };
    for (const auto& line : comparisons) {
        const std::string reading = line.reading;
        const auto group = reading.substr(0, reading.find('/'));
        if (!wanted(group)) continue;
        const double value = found.get(ours, reading) / found.get(line.other, reading);
        if (!std::isnan(value)) {
            print(line, value, out);
        } else {
            leave_out(line.name, std::isnan(found.get(ours, reading)) ? ours : line.other, group);
        }
    }
    if (wanted("crowd")) {
        constexpr const char* name = "echo latency, 100,000 parks in flight over none";
        const double value = found.get(ours, "crowd/ratio");
        if (!std::isnan(value)) {
            out.at_most(name, value, 1.5);
        } else {
            leave_out(name, ours, "crowd");
        }
    }
    return complete;
}

void print_readings(const std::vector<peer>& peers, const results& found) {
    static const std::vector<std::pair<const char*, const char*>> units = {
        {"echo/rate", " calls/s"}, {"cancel/median", " us"}, {"cancel/p99", " us"},   {"cancel/samples", ""},
        {"parks/rest", " MiB"},    {"parks/memory", " MiB"}, {"parks/cancel", " ms"}, {"crowd/idle", " us"},
        {"crowd/busy", " us"},     {"crowd/memory", " MiB"}, {"crowd/cancel", " ms"}, {"start/first", " ms"},
    };
    for (const auto& [reading, unit] : units) {
        for (const auto& each : peers) {
            const double value = found.get(each.name, reading);
            if (!std::isnan(value)) figures::note(std::string(reading) + ", " + each.name, value, unit);
        }
    }
}

int run(const std::vector<std::string>& arguments) {
    const auto chosen = parse(arguments);
    const auto wanted = [&](const std::string& group) {
        return chosen.wanted.empty() ||
               std::find(chosen.wanted.begin(), chosen.wanted.end(), group) != chosen.wanted.end();
    };
    const auto cores = pin_driver();
    if (cores.server) {
        std::fprintf(stderr, "servers on core %d, driver on core %d\n", *cores.server, *cores.driver);
    } else {
        std::fprintf(stderr, "one core for server and driver: nothing is pinned, and the figures mean little\n");
    }

    results found;
    try_peers(chosen.peers, cores, found);
    const peer driver_limit{"driver's own limit", {"/proc/self/exe", "--null-peer"}};
    for (const auto& group : groups) {
        if (!wanted(group.name)) continue;
        for (int i = 0; i < repetitions; ++i) {
            std::fprintf(stderr, "== %s, %d of %d\n", group.name.c_str(), i + 1, repetitions);
            if (group.name == "echo") measure(group, driver_limit, cores, found);
            for (const auto& each : chosen.peers) measure(group, each, cores, found);
        }
    }

    figures out;
    const bool complete = print_figures(found, wanted, out);
    auto everyone = chosen.peers;
    everyone.push_back(driver_limit);
    print_readings(everyone, found);
    const int code = out.finish("stdio");
    if (!complete) std::printf("stdio: figures are missing that need andon's server and TypeScript v1\n");
    return complete ? code : 1;
}

}  // namespace
}  // namespace andon::bench

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--null-peer"}) return andon::bench::run_null_peer();
    // A server that ends while it is written to is reported with its last words, not with our death.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return andon::bench::run(arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stdio_bench: %s\n", error.what());
        return 2;
    }
}
