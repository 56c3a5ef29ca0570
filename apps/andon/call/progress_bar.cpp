#include "call/progress_bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "terminal.hpp"

namespace andon::app {
namespace {

std::string number_text(double number) {
    std::array<char, 40> text{};
    const bool whole = std::abs(number) < 1e15 && number == std::trunc(number);
    std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.6g", number);
    return text.data();
}

/// From 0 to 1, where the server said how much there is.
std::optional<double> share_of(const progress_state& state) {
    if (!state.known || !state.total || !(*state.total > 0)) return std::nullopt;
    const double share = state.progress / *state.total;
    return std::isfinite(share) ? std::optional(std::clamp(share, 0.0, 1.0)) : std::nullopt;
}

std::string percent_text(double share) { return std::to_string(static_cast<int>(share * 100)) + '%'; }

std::string drawn(double share, std::size_t inside) {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(inside));
    std::string bar(full, '=');
    if (full < inside) (bar += '>').append(inside - full - 1, ' ');
    return '[' + bar + ']';
}

std::string cut(const std::string& text, std::size_t columns) {
    return width_of(text) <= columns ? text : fit(text, columns);
}

}  // namespace

std::string clock_text(duration elapsed) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
    const auto seconds = ms / 1'000;
    std::array<char, 64> text{};
    if (seconds < 10) {
        std::snprintf(text.data(), text.size(), "%lld.%lld s", static_cast<long long>(seconds),
                      static_cast<long long>(ms / 100 % 10));
    } else if (seconds < 60) {
        std::snprintf(text.data(), text.size(), "%lld s", static_cast<long long>(seconds));
    } else if (seconds < 3'600) {
        std::snprintf(text.data(), text.size(), "%lld:%02lld", static_cast<long long>(seconds / 60),
                      static_cast<long long>(seconds % 60));
    } else {
        std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", static_cast<long long>(seconds / 3'600),
                      static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
    }
    return text.data();
}

std::string bar_line(const progress_state& state, duration elapsed, std::size_t columns) {
    constexpr std::size_t narrowest_bar = 12;
    constexpr std::size_t widest_bar = 42;
    constexpr std::size_t narrowest_message = 8;
    const auto share = share_of(state);
    std::string figures = clock_text(elapsed);
    if (share) {
        const std::string percent = percent_text(*share);
        figures = std::string(4 - std::min<std::size_t>(4, percent.size()), ' ') + percent + "  " + figures;
    } else if (state.known) {
        figures = number_text(state.progress) + "  " + figures;
    }
    std::size_t left = columns > figures.size() ? columns - figures.size() : 0;
    if (left == 0) return cut(share ? percent_text(*share) : figures, columns);
    std::string line;
    const std::size_t bar_needs = share ? narrowest_bar + 1 : 0;
    const std::size_t name = width_of(state.what) + 2;
    if (left >= name + bar_needs) {
        line = state.what + "  ";
        left -= name;
    }
    if (share && left >= bar_needs) {
        // A message is worth more than a bar that is wider than it needs to be.
        const std::size_t wanted = state.message.empty() ? widest_bar : left / 2;
        const std::size_t bar = std::clamp(wanted, narrowest_bar, std::min(widest_bar, left - 1));
        line += drawn(*share, bar - 2) + ' ';
        left -= bar + 1;
    }
    line += figures;
    if (!state.message.empty() && left >= narrowest_message + 2) line += "  " + cut(state.message, left - 2);
    return line;
}

std::string plain_progress(const progress_state& state) {
    std::string text = state.what + ": ";
    if (const auto share = share_of(state)) {
        text += percent_text(*share) + " (" + number_text(state.progress) + " of " + number_text(*state.total) + ')';
    } else {
        text += number_text(state.progress);
    }
    return state.message.empty() ? text : text + ", " + state.message;
}

}  // namespace andon::app
