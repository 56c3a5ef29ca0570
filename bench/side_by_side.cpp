#include "side_by_side.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

#include "figures.hpp"

namespace andon::bench {
namespace {

std::vector<std::string> words(const std::string& text, char separator) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, separator);) {
        if (!word.empty()) result.push_back(word);
    }
    return result;
}

struct options {
    std::vector<peer> peers;
    std::vector<group> groups;
    int repetitions;
};

[[noreturn]] void usage(const series& of, const std::string& wrong) {
    std::string names;
    for (const auto& each : of.groups) names += (names.empty() ? "" : ",") + each.name;
    throw std::runtime_error(wrong + "\nusage: " + of.name + "_bench [--groups " + names +
                             "] [--peers NAME,NAME...] [--repetitions " + std::to_string(of.repetitions) +
                             "] [--command NAME='COMMAND...'], from the root "
                             "of the tree");
}

template <class Named>
auto find_named(const series& of, std::vector<Named>& among, const std::string& name) {
    const auto at = std::find_if(among.begin(), among.end(), [&](const auto& each) { return each.name == name; });
    if (at == among.end()) usage(of, "nothing is called '" + name + "'");
    return at;
}

template <class Named>
void keep_named(const series& of, std::vector<Named>& among, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::vector<Named> kept;
    kept.reserve(names.size());
    for (const auto& name : names) kept.push_back(*find_named(of, among, name));
    among = kept;
}

options parse(const series& of, const std::vector<std::string>& arguments) {
    options chosen{.peers = of.peers, .groups = of.groups, .repetitions = of.repetitions};
    std::vector<std::string> peers;
    std::vector<std::string> groups;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        if (i + 1 == arguments.size()) usage(of, "'" + arguments[i] + "' wants a value");
        const auto& value = arguments[i + 1];
        if (arguments[i] == "--groups") {
            groups = words(value, ',');
        } else if (arguments[i] == "--peers") {
            peers = words(value, ',');
        } else if (arguments[i] == "--repetitions" && value.find_first_not_of("0123456789") == std::string::npos) {
            chosen.repetitions = std::stoi(value);
        } else if (arguments[i] == "--command" && value.find('=') != std::string::npos) {
            const auto equals = value.find('=');
            find_named(of, chosen.peers, value.substr(0, equals))->command = words(value.substr(equals + 1), ' ');
        } else {
            usage(of, "what is '" + arguments[i] + "'?");
        }
    }
    keep_named(of, chosen.peers, peers);
    keep_named(of, chosen.groups, groups);
    return chosen;
}

std::string group_of(const std::string& reading) { return reading.substr(0, reading.find('/')); }

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
        if (left_out(peer, group_of(reading))) return std::nan("");
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

void try_peers(const series& of, const std::vector<peer>& peers, const placement& cores, results& found) {
    for (const auto& each : peers) {
        auto reason = what_is_missing(each);
        try {
            if (reason.empty()) static_cast<void>(of.try_out(each, cores));
        } catch (const std::exception& error) {
            reason = error.what();
        }
        if (reason.empty()) continue;
        std::fprintf(stderr, "%s: left out, %s\n", each.name.c_str(), reason.c_str());
        found.leave_out(each.name, "all", reason);
    }
}

void measure(const group& what, const peer& each, const placement& cores, results& found) {
    if (found.left_out(each.name, what.name)) return;
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

void print(const comparison& line, double value, figures& out) {
    switch (line.to_bar) {
        case relation::at_least: return out.at_least(line.name, value, line.bar);
        case relation::above: return out.above(line.name, value, line.bar);
        case relation::at_most: return out.at_most(line.name, value, line.bar);
        case relation::below: return out.below(line.name, value, line.bar);
        case relation::no_bar: return figures::note(line.name, value);
    }
}

// Whether every figure that must be there is: those of ours alone and those beside the baseline.
bool print_figures(const series& of, const std::vector<group>& groups, const results& found, figures& out) {
    bool complete = true;
    const auto wanted = [&](const std::string& reading) {
        return std::any_of(groups.begin(), groups.end(), [&](auto& g) { return g.name == group_of(reading); });
    };
    const auto leave_out = [&](const std::string& name, const std::string& peer, const std::string& reading) {
        const auto reason = found.reason(peer, group_of(reading));
        out.left_out(name, peer + ", " + (reason.empty() ? "not measured" : reason));
        complete = complete && peer != ours && peer != of.baseline;
    };
    for (const auto& line : of.comparisons) {
        if (!wanted(line.reading)) continue;
        const double own = found.get(ours, line.reading);
        const double others = found.get(line.other, line.other_reading.empty() ? line.reading : line.other_reading);
        if (std::isnan(own) || std::isnan(others)) {
            leave_out(line.name, std::isnan(own) ? ours : line.other, line.reading);
        } else {
            print(line, own / others, out);
        }
    }
    for (const auto& line : of.own_figures) {
        if (!wanted(line.reading)) continue;
        const double value = found.get(ours, line.reading);
        if (std::isnan(value)) {
            leave_out(line.name, ours, line.reading);
        } else {
            out.at_most(line.name, value, line.at_most, line.unit);
        }
    }
    return complete;
}

void print_readings(const series& of, const std::vector<peer>& peers, const results& found) {
    for (const auto& [reading, unit] : of.units) {
        for (const auto& each : peers) {
            const double value = found.get(each.name, reading);
            if (!std::isnan(value)) figures::note(reading + ", " + each.name, value, unit);
        }
    }
}

// How busy the machine was with anything but this program and its servers: above a few per cent the figures mean
// little.
class bystanders {
public:
    // In per cent of the whole machine, since this was made.
    [[nodiscard]] double share() const {
        const auto now = look();
        const double busy = now.busy - since_.busy - (now.own - since_.own);
        return 100 * std::max(0.0, busy) / (now.all - since_.all);
    }

private:
    struct times {
        double all = 0;
        double busy = 0;
        double own = 0;
    };

    // In seconds of one core. Servers count among our children once they are reaped.
    static times look() {
        times seen;
        std::ifstream stat("/proc/stat");
        std::string name;
        stat >> name;
        double ticks = 0;
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already
        for (int column = 0; column < 8 && stat >> ticks; ++column) {
            const double seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
            seen.all += seconds;
            if (column != 3 && column != 4) seen.busy += seconds;
        }
        for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
            rusage used{};
            ::getrusage(who, &used);
            for (const auto& time : {used.ru_utime, used.ru_stime}) {
                seen.own += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
            }
        }
        return seen;
    }

    times since_ = look();
};

int run(const series& of, const std::vector<std::string>& arguments) {
    const auto chosen = parse(of, arguments);
    const auto cores = pin_driver();
    if (cores.server) {
        std::fprintf(stderr, "servers on core %d, driver on core %d\n", *cores.server, *cores.driver);
    } else {
        std::fprintf(stderr, "one core for server and driver: nothing is pinned, and the figures mean little\n");
    }

    const bystanders others;
    results found;
    try_peers(of, chosen.peers, cores, found);
    for (const auto& group : chosen.groups) {
        for (int i = 0; i < chosen.repetitions; ++i) {
            std::fprintf(stderr, "== %s, %d of %d\n", group.name.c_str(), i + 1, chosen.repetitions);
            for (const auto& each : chosen.peers) {
                if (!group.ours_only || each.name == ours) measure(group, each, cores, found);
            }
            const auto& limited = of.limited_groups;
            if (std::find(limited.begin(), limited.end(), group.name) != limited.end()) {
                measure(group, of.limit, cores, found);
            }
        }
    }

    figures out;
    const bool complete = print_figures(of, chosen.groups, found, out);
    auto everyone = chosen.peers;
    everyone.push_back(of.limit);
    print_readings(of, everyone, found);
    figures::note("the machine was busy with others", others.share(), " %");
    const int code = out.finish(of.name);
    if (complete) return code;
    std::printf("%s: figures are missing that need %s%s%s\n", of.name.c_str(), ours, of.baseline.empty() ? "" : " and ",
                of.baseline.c_str());
    return 1;
}

}  // namespace

int run_side_by_side(const series& wanted, int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--null-peer"} && wanted.null_peer != nullptr) return wanted.null_peer();
    // A server that ends while it is written to is reported with its last words, not with our death.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(wanted, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s_bench: %s\n", wanted.name.c_str(), error.what());
        return 2;
    }
}

}  // namespace andon::bench
