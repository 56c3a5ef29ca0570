// What the benchmarks that stand beside other servers have in common: who is measured, and what was read.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace andon::bench {

struct peer {
    std::string name;
    std::vector<std::string> command;
};

/// By name, "GROUP/WHAT". What cannot be measured throws, with the reason.
using readings = std::map<std::string, double>;

inline constexpr double mib = 1024.0 * 1024.0;

[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// What a server still has to do for the calls that it has started, it does in this time.
void settle();

}  // namespace andon::bench
