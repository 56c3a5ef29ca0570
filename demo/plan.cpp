#include "plan.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace demo {
namespace {

using namespace std::chrono_literals;

andon::duration times(andon::duration d, double factor) {
    return std::chrono::duration_cast<andon::duration>(std::chrono::duration<double>(d) * factor);
}

// The last one is not friendly: what a stranger says reaches the terminal only in its visible form.
constexpr std::array<std::string_view, 7> reasons{
    "user pressed Stop",    "the tab was closed",         "a newer request replaced it", "wrong file, will retry",
    "budget for this used", "found the answer elsewhere", "\x1b[2J\x1b[31mboo\x07",
};

}  // namespace

std::string_view to_string(tool t) noexcept {
    switch (t) {
        case tool::initialize: return "initialize";
        case tool::hash_files: return "hash_files";
        case tool::fetch_page: return "fetch_page";
        case tool::query_database: return "query_database";
        case tool::plan_trip: return "plan_trip";
        case tool::tail_log: return "tail_log";
        case tool::render_report: return "render_report";
        case tool::commit_order: return "commit_order";
        case tool::legacy_export: return "legacy_export";
    }
    return "?";
}

pace::pace(const options& asked)
    : workers(std::clamp<std::size_t>(asked.requests / 8, 4, 48)), window(times(asked.length, 0.85)) {
    const double share = 1.2 * static_cast<double>(workers) / static_cast<double>(asked.requests);
    mean_work = std::max<andon::duration>(times(window, share), 500us);
}

request_plan planner::next() {
    request_plan plan;
    plan.what = draw();
    plan.work = work_times(0.3, 1.7);
    if (with_chance(0.5)) plan.wind_down = std::min<andon::duration>(work_times(0.1, 0.6), 400ms);

    if (plan.what == tool::tail_log) {
        plan.stalls = with_chance(0.6);
        plan.limits.idle = times(plan.work, 0.7);
        plan.limits.maximum = times(plan.work, 8);
    } else if (plan.what == tool::render_report) {
        plan.stalls = with_chance(0.6);
        plan.limits.maximum = times(plan.work, plan.stalls ? 0.7 : 3);
    } else if (with_chance(0.3)) {
        plan.cancel = planned_cancel{work_times(0.05, 1.2), reason(), with_chance(0.35)};
    } else if (with_chance(0.08)) {
        plan.writing = std::clamp<andon::duration>(work_times(0.05, 0.1), 2ms, 20ms);
    }
    return plan;
}

request_plan planner::special(tool what, andon::duration work) const {
    request_plan plan;
    plan.what = what;
    plan.work = work;
    if (what == tool::initialize) plan.cancel = planned_cancel{work / 4, "changed my mind"};
    return plan;
}

// Dealt like cards: every twenty requests have the same mix, so that a short run has one of each too.
tool planner::draw() {
    if (deck_.empty()) {
        deck_.insert(deck_.end(), 5, tool::hash_files);
        deck_.insert(deck_.end(), 5, tool::fetch_page);
        deck_.insert(deck_.end(), 4, tool::query_database);
        deck_.insert(deck_.end(), 2, tool::plan_trip);
        deck_.insert(deck_.end(), 2, tool::tail_log);
        deck_.insert(deck_.end(), 2, tool::render_report);
        std::shuffle(deck_.begin(), deck_.end(), random_);
    }
    const auto card = deck_.back();
    deck_.pop_back();
    return card;
}

std::string_view planner::reason() { return reasons[below(reasons.size())]; }

std::size_t planner::below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

bool planner::with_chance(double share) { return std::bernoulli_distribution(share)(random_); }

andon::duration planner::work_times(double least, double most) {
    return times(pace_.mean_work, std::uniform_real_distribution<double>(least, most)(random_));
}

}  // namespace demo
