#include "records/log_columns.hpp"

#include <algorithm>

#include "gateway/journal/moment_text.hpp"

namespace andon::app {
namespace {

using gateway::call_end;

constexpr std::size_t between = 2;
constexpr std::size_t indent = 4;          // of what became of a call that stands below it
constexpr std::size_t outcome_needs = 36;  // "stopped by operator after 120.00 s;"
constexpr std::size_t widest_padding = 24;
constexpr std::size_t day_length = 10;     // 2026-11-17
constexpr std::size_t second_length = 19;  // 2026-11-17 08:34:52

constexpr std::array<std::string_view, 5> titles{"ENDED", "ID", "SERVER", "TOOL", "REQUEST"};
constexpr std::array<std::size_t, 5> at_first{23, 9, 10, 14, 6};
constexpr std::array<std::size_t, 5> at_most{23, 31, 16, 24, 12};  // on a terminal
constexpr std::size_t narrowest_name = 8;

colour colour_of(const gateway::journal_entry& entry) {
    if (entry.ignored) return colour::red;
    switch (entry.end) {
        case call_end::completed: return colour::green;
        case call_end::failed:
        case call_end::crashed:
        case call_end::refused: return colour::red;
        default: return colour::yellow;
    }
}

/// At least this wide, and never cut.
std::string padded(const std::string& text, std::size_t columns) {
    return width_of(text) < columns ? fit(text, columns) : text;
}

struct outcome {
    std::string end;
    std::string rest;
};

outcome outcome_of(const gateway::journal_entry& entry) {
    const gateway::relayed_call_view& call = entry.call;
    std::string text = " after " + show(std::max<duration>(duration::zero(), entry.ended - call.started));
    if (entry.end == call_end::failed && entry.error_code != 0) {
        text += " (error " + std::to_string(entry.error_code) + ')';
    }
    if (call.cause) {
        text += "; asked to stop by " + (call.asked_by.empty() ? std::string(to_string(*call.cause)) : call.asked_by);
        if (!call.reason.empty()) text += ": " + call.reason;
        text += "; " + gateway::stop_text(entry);
    }
    return {padded(std::string(to_string(entry.end)), 9), text};
}

}  // namespace

log_columns::cells log_columns::cells_of(const gateway::journal_row& row) {
    const gateway::relayed_call_view& call = row.entry.call;
    return {gateway::local_text(row.entry.ended), std::to_string(row.andon) + '.' + std::to_string(call.number),
            call.server, call.tool.empty() ? call.method : call.tool,
            call.request_id.empty() ? "" : "id " + call.request_id};
}

void log_columns::make_room(const std::vector<gateway::journal_row>& rows) {
    for (std::size_t i = 0; i < count; ++i) wanted_[i] = std::max(wanted_[i], at_first[i]);
    for (const gateway::journal_row& each : rows) {
        const cells texts = cells_of(each);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t most = screen_ ? at_most[i] : std::max(widest_padding, at_first[i]);
            wanted_[i] = std::max(wanted_[i], std::min(width_of(texts[i]), most));
        }
    }
    widths_ = wanted_;
    if (screen_) fit_to_screen();
}

void log_columns::fit_to_screen() {
    const auto too_wide = [&] { return before_outcome() + outcome_needs > *screen_; };
    for (std::size_t i = 0; i < count; ++i) widths_[i] = std::max(widths_[i], titles[i].size());
    clock_ = clock::with_milliseconds;
    if (too_wide()) {
        clock_ = clock::with_date;
        widths_[ended] = second_length;
    }
    if (too_wide()) widths_[request] = 0;
    while (too_wide() && std::max(widths_[server], widths_[tool]) > narrowest_name) {
        --widths_[widths_[tool] >= widths_[server] ? tool : server];
    }
    if (too_wide()) {
        clock_ = clock::alone;
        widths_[ended] = second_length - day_length - 1;
    }
    if (before_outcome() > *screen_ + between) widths_[server] = 0;
}

std::size_t log_columns::before_outcome() const {
    std::size_t sum = 0;
    for (const std::size_t each : widths_) sum += each == 0 ? 0 : each + between;
    return sum;
}

bool log_columns::outcome_is_below() const { return screen_ && before_outcome() + outcome_needs > *screen_; }

std::string log_columns::line_of(const cells& texts) const {
    std::string line;
    for (std::size_t i = 0; i < count; ++i) {
        if (widths_[i] == 0) continue;
        // An id is of use only whole.
        const bool whole = !screen_ || i == id;
        const std::string text = whole ? padded(texts[i], widths_[i]) : fit(texts[i], widths_[i]);
        (line += i == ended ? paint_(colour::dim, text) : text).append(between, ' ');
    }
    return line;
}

std::string log_columns::heading() const {
    if (!screen_) return {};
    cells texts;
    std::ranges::copy(titles, texts.begin());
    std::string line;
    for (std::size_t i = 0; i < count; ++i) {
        if (widths_[i] != 0) line += fit(texts[i], widths_[i]) + std::string(between, ' ');
    }
    if (!outcome_is_below()) line += "WHAT BECAME OF IT";
    line.erase(line.find_last_not_of(' ') + 1);
    return paint_(colour::bold, line) + '\n';
}

std::string log_columns::lines(const gateway::journal_row& row) {
    cells texts = cells_of(row);
    std::string text;
    if (clock_ == clock::alone) {
        if (const std::string day = texts[ended].substr(0, day_length); day != day_) {
            day_ = day;
            text += paint_(colour::dim, day) + '\n';
        }
        texts[ended] = texts[ended].substr(day_length + 1, second_length - day_length - 1);
    } else if (clock_ == clock::with_date) {
        texts[ended].resize(std::min(texts[ended].size(), second_length));
    }
    text += line_of(texts);
    const auto [end, rest] = outcome_of(row.entry);
    const std::string painted = paint_(colour_of(row.entry), end);
    if (!screen_) return text + painted + rest + '\n';
    const bool below = outcome_is_below();
    const std::size_t margin = below ? indent : before_outcome();
    if (below) text.erase(text.find_last_not_of(' ') + 1);
    bool first = true;
    for (std::string& each : wrapped(end + rest, *screen_ > margin ? *screen_ - margin : 1)) {
        if (first && each.starts_with(end)) each.replace(0, end.size(), painted);
        if (!first || below) (text += '\n').append(margin, ' ');
        text += each;
        first = false;
    }
    return text + '\n';
}

}  // namespace andon::app
