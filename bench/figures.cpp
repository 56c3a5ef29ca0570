#include "figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace andon::bench {

void measurements::ReportRuns(const std::vector<Run>& runs) {
    for (const auto& run : runs) {
        if (run.run_type != Run::RT_Iteration) continue;
        if (run.error_occurred) throw std::runtime_error(run.benchmark_name() + ": " + run.error_message);
        const auto rate = run.counters.find("items_per_second");
        if (rate == run.counters.end()) throw std::runtime_error(run.benchmark_name() + " counts no operations");
        per_operation_[run.run_name.function_name].push_back(1e9 / rate->second.value);
        std::fprintf(stderr, ".");
    }
}

std::map<std::string, double> measurements::nanoseconds() const {
    std::map<std::string, double> medians;
    for (auto [name, times] : per_operation_) {
        std::sort(times.begin(), times.end());
        medians[name] = times[times.size() / 2];
    }
    return medians;
}

double measurements::ratio(const std::string& a, const std::string& b) const {
    const auto medians = nanoseconds();
    if (!medians.contains(a) || !medians.contains(b)) return std::nan("");
    return medians.at(a) / medians.at(b);
}

void figures::add(std::string_view name, double value, std::string_view relation, double bar, std::string_view unit,
                  bool ok) {
    if (std::isnan(value)) return;
    std::printf("%.*s: %.2f%.*s (bar %.*s %g) %s\n", static_cast<int>(name.size()), name.data(), value,
                static_cast<int>(unit.size()), unit.data(), static_cast<int>(relation.size()), relation.data(), bar,
                ok ? "ok" : "short");
    ++(ok ? met_ : short_);
}

void figures::at_most(std::string_view name, double value, double bar, std::string_view unit) {
    add(name, value, "at most", bar, unit, value <= bar);
}

void figures::at_least(std::string_view name, double value, double bar, std::string_view unit) {
    add(name, value, "at least", bar, unit, value >= bar);
}

void figures::above(std::string_view name, double value, double bar, std::string_view unit) {
    add(name, value, "more than", bar, unit, value > bar);
}

void figures::below(std::string_view name, double value, double bar, std::string_view unit) {
    add(name, value, "less than", bar, unit, value < bar);
}

void figures::left_out(std::string_view name, std::string_view reason) {
    std::printf("%.*s: left out (%.*s)\n", static_cast<int>(name.size()), name.data(), static_cast<int>(reason.size()),
                reason.data());
    ++left_out_;
}

void figures::note(std::string_view name, double value, std::string_view unit) {
    std::printf("  %.*s: %.2f%.*s\n", static_cast<int>(name.size()), name.data(), value, static_cast<int>(unit.size()),
                unit.data());
}

int figures::finish(std::string_view group) const {
    std::printf("%.*s: %d figures ok, %d short", static_cast<int>(group.size()), group.data(), met_, short_);
    if (left_out_ != 0) std::printf(", %d left out", left_out_);
    std::printf("\n");
    return short_ == 0 ? 0 : 1;
}

}  // namespace andon::bench
