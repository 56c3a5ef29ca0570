#include "control/top_view.hpp"

#include <algorithm>

#include "control/call_rows.hpp"

namespace andon::app {
namespace {

using gateway::call_stage;
using gateway::found_call;

constexpr std::string_view keys_line = "q quit   ↑↓ j k select   s stop   p pause";

std::string reversed(const std::string& text) { return "\x1b[7m" + text + "\x1b[0m"; }

}  // namespace

std::string top_view::selected_id() const {
    return selected_ < there_.calls.size() ? there_.calls[selected_].id() : std::string();
}

void top_view::found(gateway::survey now_there) {
    if (paused_) return;
    heard_ = true;
    const std::string id = selected_id();
    there_ = std::move(now_there);
    const auto same =
        std::find_if(there_.calls.begin(), there_.calls.end(), [&](const found_call& each) { return each.id() == id; });
    // What was selected is gone: whatever has moved into its place.
    select(same == there_.calls.end() ? selected_ : static_cast<std::size_t>(same - there_.calls.begin()));
}

void top_view::select(std::size_t index) {
    selected_ = there_.calls.empty() ? 0 : std::min(index, there_.calls.size() - 1);
}

top_view::outcome top_view::typed(std::string_view bytes) {
    outcome into;
    while (!bytes.empty() && !into.quit) {
        if (bytes.size() >= 3 && bytes[0] == '\x1b' && (bytes[1] == '[' || bytes[1] == 'O')) {
            std::size_t end = 2;  // the parameters of a key with Shift and the like
            while (end + 1 < bytes.size() && bytes[end] >= 0x20 && bytes[end] < 0x40) ++end;
            const char last = bytes[end];
            pressed(last == 'A'   ? key::up
                    : last == 'B' ? key::down
                    : last == 'H' ? key::first
                    : last == 'F' ? key::last
                                  : key::other,
                    '\0', into);
            bytes.remove_prefix(end + 1);
            continue;
        }
        pressed(bytes[0] == 'k' ? key::up : bytes[0] == 'j' ? key::down : key::other, bytes[0], into);
        bytes.remove_prefix(1);
    }
    return into;
}

void top_view::pressed(key which, char letter, outcome& into) {
    message_.clear();
    if (to_confirm_) {
        if (letter == 'y' || letter == 'Y') into.stop.push_back(std::move(*to_confirm_));
        to_confirm_.reset();
        return;
    }
    switch (which) {
        case key::up: return select(selected_ == 0 ? 0 : selected_ - 1);
        case key::down: return select(selected_ + 1);
        case key::first: return select(0);
        case key::last: return select(there_.calls.size());
        case key::other: break;
    }
    if (letter == 'q') into.quit = true;
    if (letter == 'p') paused_ = !paused_;
    if (letter != 's') return;
    if (selected_ < there_.calls.size()) {
        to_confirm_ = there_.calls[selected_];
    } else {
        message_ = "there is nothing to stop";
    }
}

std::string top_view::title() const {
    if (!heard_) return "andon top: asking…";
    const auto count = [&](call_stage stage) {
        return std::count_if(there_.calls.begin(), there_.calls.end(),
                             [&](const found_call& each) { return each.call.stage == stage; });
    };
    std::string text = "andon top: " + std::to_string(count(call_stage::running)) + " running, " +
                       std::to_string(count(call_stage::asked_to_stop)) + " asked to stop, " +
                       std::to_string(count(call_stage::ignoring)) + " ignoring; " +
                       std::to_string(there_.andons.size()) + (there_.andons.size() == 1 ? " andon" : " andons");
    if (there_.more != 0) text += ", " + std::to_string(there_.more) + " more not listed";
    return text;
}

std::string top_view::status() const {
    if (to_confirm_) return "Stop " + to_confirm_->id() + "? y/n  " + describe(to_confirm_->call);
    if (!message_.empty()) return message_;
    if (!there_.problems.empty()) return there_.problems.front();
    return std::string(keys_line);
}

std::vector<std::string> top_view::lines(std::size_t width, std::size_t height,
                                         std::chrono::system_clock::time_point now) const {
    std::vector<std::string> shown;
    shown.push_back(paint_(colour::bold, fit(title() + (paused_ ? " (paused)" : ""), width)));
    constexpr std::size_t around = 3;  // the title, the names of the columns, the last line
    const std::size_t room = height > around ? height - around : 0;
    const std::size_t first = selected_ < room ? 0 : selected_ - room + 1;
    std::vector<std::vector<cell>> rows;
    for (const found_call& each : there_.calls) rows.push_back(call_row(each, now));
    const auto table = table_lines(call_columns(), rows, width, paint_);
    // The selected one is shown without colours of its own: one would end the other.
    const auto plain = table_lines(call_columns(), rows, width, palette(false));
    if (height > 1) shown.push_back(there_.calls.empty() ? "" : table.front());
    for (std::size_t i = first; i < rows.size() && i < first + room; ++i) {
        const bool chosen = i == selected_;
        shown.push_back(chosen ? reversed(fit(plain[i + 1], width)) : table[i + 1]);
    }
    if (heard_ && there_.calls.empty() && room > 0) shown.push_back(fit("Nothing is in flight.", width));
    while (shown.size() + 1 < height) shown.emplace_back();
    if (height > 1) shown.resize(height - 1);
    if (height > 1) shown.push_back(paint_(to_confirm_ ? colour::bold : colour::dim, fit(status(), width)));
    return shown;
}

}  // namespace andon::app
