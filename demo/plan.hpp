// What the peer will ask for: drawn from the seed alone, so that a run can be repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "andon/core/deadlines.hpp"
#include "andon/core/time.hpp"
#include "options.hpp"

namespace demo {

/// Each has its own way to learn that it was cancelled: see tools.cpp.
enum class tool : std::uint8_t {
    initialize,      ///< may not be cancelled by its peer
    hash_files,      ///< polls while it computes
    fetch_page,      ///< sleeps until its data or the cancel come
    query_database,  ///< has a callback that interrupts the driver
    plan_trip,       ///< asks the peer's user two things: both hang below it
    tail_log,        ///< has an idle limit, shows progress, and sometimes falls silent
    render_report,   ///< has a maximum, and sometimes needs more
    commit_order,    ///< cannot be interrupted half-way
    legacy_export,   ///< never looks whether it was cancelled
};

[[nodiscard]] std::string_view to_string(tool t) noexcept;

/// How many at once and how long each, so that all of them fill the time and some have to wait for a worker.
struct pace {
    explicit pace(const options& asked);

    std::size_t workers;
    andon::duration window;     ///< in which requests arrive
    andon::duration mean_work;  ///< of one request
};

struct planned_cancel {
    andon::duration after;  ///< it was sent
    std::string_view why;
    bool twice = false;
};

struct request_plan {
    tool what = tool::fetch_page;
    andon::duration work{};
    andon::duration wind_down{};  ///< to put things in order after a cancel
    andon::time_limits limits{};
    bool stalls = false;  ///< runs into its limit
    std::optional<planned_cancel> cancel{};
    std::optional<andon::duration> writing{};  ///< its response takes this long, and a cancel comes meanwhile
};

class planner {
public:
    planner(std::uint64_t seed, const pace& at) : random_(seed), pace_(at) {}

    [[nodiscard]] request_plan next();
    /// One of the tools that the demonstration has exactly one of, or one of each session.
    [[nodiscard]] request_plan special(tool what, andon::duration work) const;

    [[nodiscard]] std::string_view reason();
    [[nodiscard]] std::size_t below(std::size_t end);
    [[nodiscard]] bool with_chance(double share);

private:
    [[nodiscard]] tool draw();
    [[nodiscard]] andon::duration work_times(double least, double most);

    std::mt19937_64 random_;
    pace pace_;
    std::vector<tool> deck_;
};

}  // namespace demo
