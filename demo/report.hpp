// What came of it: the figures, a few cases, and the check.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/outcomes.hpp"
#include "ledger.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include "workload.hpp"

namespace demo {

struct sample {
    andon::outcome what;
    std::string_view story;
};

struct report {
    ledger::audit audit;
    andon::cancel_counters counters;
    std::vector<sample> samples;
    std::size_t left_in_flight = 0;
    std::size_t refused = 0;
    bool interrupted = false;
    andon::duration took{};
    std::uint64_t seed = 0;

    /// Every request was answered once or cancelled, not both; each cancel has its outcome; the table is empty.
    [[nodiscard]] bool ok() const noexcept;
};

/// Once the workload is over.
[[nodiscard]] report make_report(const workload& done, const options& asked, andon::duration took);

[[nodiscard]] std::string to_text(const report& r, const palette& paint);
/// One object, and a new line.
[[nodiscard]] std::string to_json(const report& r);

}  // namespace demo
