// Servers measured beside each other: which, in what, how often, and what is printed of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// The name of our own server among the peers.
inline constexpr const char* ours = "andon";

struct group {
    std::string name;
    readings (*measure)(const peer&, const placement&);
    bool ours_only = false;
};

enum class relation { at_least, above, at_most, below, no_bar };

/// What we read divided by what another does.
struct comparison {
    std::string name;
    std::string reading;
    std::string other;
    relation to_bar;
    double bar;
    /// What is read of the other where that is not the same.
    std::string other_reading = {};
};

/// A reading of ours alone.
struct own_figure {
    std::string name;
    std::string reading;
    double at_most;
    std::string unit = {};
};

struct series {
    std::string name;
    /// Ours among them, and `baseline`, if there is one: a run without figures of these two is a failure.
    std::vector<peer> peers;
    std::string baseline;
    /// Starts a server once and calls it: who cannot do that is left out of everything.
    readings (*try_out)(const peer&, const placement&);
    std::vector<group> groups;
    /// The groups in which the limit of driver and machine is measured too, and what is measured for it: this program,
    /// where it was started with `--null-peer`, which calls what follows.
    std::vector<std::string> limited_groups;
    peer limit = {"the limit of driver and machine", {"/proc/self/exe", "--null-peer"}};
    int (*null_peer)();
    std::vector<comparison> comparisons;
    std::vector<own_figure> own_figures;
    /// What is printed of every peer below the figures, in this order, with its unit.
    std::vector<std::pair<std::string, std::string>> units;
    /// How often everything is measured, where nobody says otherwise.
    int repetitions = 3;
};

/// The whole program.
[[nodiscard]] int run_side_by_side(const series& wanted, int argc, char** argv);

}  // namespace andon::bench
