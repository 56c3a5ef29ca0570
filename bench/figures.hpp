// From measurements to figures: each a ratio or a size with a bar, printed on a line of its own.
#pragma once

#include <benchmark/benchmark.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace andon::bench {

/// Runs every registered benchmark several times, interleaved, and keeps the median time of each.
class measurements : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override;

    /// Nanoseconds for one operation on the wall clock, all threads together.
    [[nodiscard]] double nanoseconds(const std::string& name) const;

private:
    std::map<std::string, std::vector<double>> per_operation_;
};

/// Prints the figures and remembers whether one fell short.
class figures {
public:
    void at_most(std::string_view name, double value, double bar, std::string_view unit = "");
    void at_least(std::string_view name, double value, double bar, std::string_view unit = "");
    /// A figure that has no bar: context for the others.
    static void note(std::string_view name, double value, std::string_view unit = "");

    /// The closing line; the exit code of the program.
    [[nodiscard]] int finish(std::string_view group) const;

private:
    void add(std::string_view name, double value, std::string_view relation, double bar, std::string_view unit,
             bool ok);

    int met_ = 0;
    int short_ = 0;
};

}  // namespace andon::bench
