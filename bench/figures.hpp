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

    /// The median of the nanoseconds for one operation on the wall clock, all threads together, by name.
    [[nodiscard]] std::map<std::string, double> nanoseconds() const;
    /// How many times as long `a` takes as `b`; not a number where one was left out of the run.
    [[nodiscard]] double ratio(const std::string& a, const std::string& b) const;

private:
    std::map<std::string, std::vector<double>> per_operation_;
};

/// Prints the figures and remembers whether one fell short. One that is not a number was not measured, and is left out.
class figures {
public:
    void at_most(std::string_view name, double value, double bar, std::string_view unit = "");
    void at_least(std::string_view name, double value, double bar, std::string_view unit = "");
    void above(std::string_view name, double value, double bar, std::string_view unit = "");
    void below(std::string_view name, double value, double bar, std::string_view unit = "");
    /// A figure that could not be measured, and why.
    void left_out(std::string_view name, std::string_view reason);
    /// A figure that has no bar: context for the others.
    static void note(std::string_view name, double value, std::string_view unit = "");

    /// The closing line; the exit code of the program.
    [[nodiscard]] int finish(std::string_view group) const;

private:
    void add(std::string_view name, double value, std::string_view relation, double bar, std::string_view unit,
             bool ok);

    int met_ = 0;
    int short_ = 0;
    int left_out_ = 0;
};

}  // namespace andon::bench
