#include "transport/http/event_cursor.hpp"

#include <algorithm>

namespace andon::detail {
namespace {

constexpr std::size_t longest_id = 1'024;

/// It has to stand in a header.
bool can_be_sent(std::string_view id) {
    return id.size() <= longest_id &&
           std::all_of(id.begin(), id.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

}  // namespace

std::optional<std::string> event_cursor::next(std::string_view& bytes) {
    while (auto event = parser_.next(bytes)) {
        if (event->id) last_id_ = can_be_sent(*event->id) ? std::move(*event->id) : std::string();
        if (event->retry) retry_ = *event->retry;
        if (event->type != "message" || event->data.empty()) continue;
        barren_ = false;
        barren_ends_ = 0;
        return std::move(event->data);
    }
    return std::nullopt;
}

std::chrono::milliseconds event_cursor::pause() const noexcept {
    constexpr std::chrono::milliseconds shortest{10};
    constexpr std::chrono::milliseconds long_enough{1'000};
    constexpr std::chrono::milliseconds longest{30'000};
    constexpr int most_doublings = 10;
    // A server that asks for no pause, and has nothing to say either, is not to keep us busy.
    const auto at_least = std::min(shortest * (1 << std::min(barren_ends_, most_doublings)), long_enough);
    const auto asked = std::max(retry_, at_least);
    if (asked >= longest) return asked;
    return std::min(asked * (1 << std::min(failures_, most_doublings)), longest);
}

}  // namespace andon::detail
