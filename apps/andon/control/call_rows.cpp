#include "control/call_rows.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace andon::app {
namespace {

using gateway::call_stage;
using gateway::relayed_call_view;

colour colour_of(call_stage stage) {
    switch (stage) {
        case call_stage::running: return colour::plain;
        case call_stage::asked_to_stop: return colour::yellow;
        case call_stage::ignoring: return colour::red;
        case call_stage::stopped:
        case call_stage::over: break;
    }
    return colour::dim;
}

std::string plain_number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string progress_text(const relayed_call_view& call) {
    if (!call.progress) return "";
    const double done = call.progress->done;
    const double total = call.progress->total.value_or(0);
    const double percent = std::floor(done / total * 100);
    const bool known = total > 0 && std::isfinite(percent) && std::abs(percent) < 1e6;
    std::string text = known ? plain_number(percent) + " %" : plain_number(done);
    if (!call.progress->message.empty()) text += ' ' + call.progress->message;
    return text;
}

std::string state_text(const relayed_call_view& call) {
    std::string text(to_string(call.stage));
    const bool going_on = call.stage == call_stage::asked_to_stop || call.stage == call_stage::ignoring;
    if (going_on && call.since_asked) text += ' ' + show_age(*call.since_asked);
    return text;
}

std::string what(const relayed_call_view& call) {
    if (call.tool.empty()) return call.method;
    return call.method == "tools/call" ? call.tool : call.method + ' ' + call.tool;
}

}  // namespace

std::string show_age(std::chrono::duration<double> age) {
    std::array<char, 64> text{};
    const double seconds = std::min(std::max(age.count(), 0.0), 1e9);
    const auto whole = static_cast<long>(seconds);
    constexpr long minute = 60;
    constexpr long hour = 60 * minute;
    constexpr long day = 24 * hour;
    if (seconds < 10) {
        std::snprintf(text.data(), text.size(), "%.1f s", seconds);
    } else if (whole < minute) {
        std::snprintf(text.data(), text.size(), "%ld s", whole);
    } else if (whole < hour) {
        std::snprintf(text.data(), text.size(), "%ld min %ld s", whole / minute, whole % minute);
    } else if (whole < day) {
        std::snprintf(text.data(), text.size(), "%ld h %ld min", whole / hour, whole % hour / minute);
    } else {
        std::snprintf(text.data(), text.size(), "%ld d %ld h", whole / day, whole % day / hour);
    }
    return text.data();
}

const std::vector<column>& call_columns() {
    static const std::vector<column> columns{
        {.title = "ID", .least = 31, .importance = 9},
        {.title = "SERVER", .least = 6, .importance = 5},
        {.title = "TOOL", .least = 6, .importance = 8},
        {.title = "SESSION", .least = 5, .importance = 1},
        {.title = "AGE", .least = 11, .importance = 6, .side = align::right},
        {.title = "STATE", .least = 13, .importance = 7},
        {.title = "PROGRESS", .least = 5, .importance = 4},
        {.title = "ASKED BY", .least = 6, .importance = 3},
    };
    return columns;
}

std::vector<cell> call_row(const gateway::found_call& found, std::chrono::system_clock::time_point now) {
    const relayed_call_view& call = found.call;
    std::string asked_by = call.asked_by;
    if (!call.reason.empty()) asked_by += ": " + call.reason;
    const colour state = colour_of(call.stage);
    const colour whole = state == colour::dim ? colour::dim : colour::plain;
    return {{found.id(), whole},
            {call.server, whole},
            {what(call), whole},
            {call.session, whole},
            {show_age(now - call.started), whole},
            {state_text(call), state},
            {progress_text(call), whole},
            {asked_by, whole}};
}

std::string describe(const relayed_call_view& call) {
    return what(call) + " of " + call.server + " (session " + call.session + ')';
}

}  // namespace andon::app
