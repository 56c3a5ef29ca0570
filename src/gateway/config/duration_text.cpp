#include "gateway/config/duration_text.hpp"

#include <array>
#include <chrono>

namespace andon::gateway {
namespace {

using std::chrono::milliseconds;

struct unit {
    std::string_view name;
    std::int64_t worth;
};

// The longest first, so that what is left of a duration always fits into the next.
constexpr std::array<unit, 5> time_units{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<unit, 7> size_units{{{"GiB", std::int64_t{1} << 30U},
                                          {"MiB", std::int64_t{1} << 20U},
                                          {"KiB", std::int64_t{1} << 10U},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"kB", 1'000},
                                          {"B", 1}}};

constexpr std::int64_t most_number = 1'000'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct quantity {
    std::int64_t whole = 0;
    std::int64_t thousandths = 0;
    std::string_view unit{};
};

/// One number and the letters behind it, taken from the front.
std::optional<quantity> take(std::string_view& text) {
    quantity taken;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        taken.whole = taken.whole * 10 + (text[at] - '0');
        if (taken.whole > most_number) return std::nullopt;
    }
    if (at == 0) return std::nullopt;
    if (at < text.size() && text[at] == '.') {
        std::int64_t worth = 100;
        const std::size_t point = at++;
        for (; at < text.size() && is_digit(text[at]); ++at, worth /= 10) taken.thousandths += worth * (text[at] - '0');
        if (at == point + 1) return std::nullopt;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_letter(text[at])) ++at;
    taken.unit = text.substr(begin, at - begin);
    text.remove_prefix(at);
    return taken;
}

template <std::size_t N>
const unit* find(const std::array<unit, N>& units, std::string_view name) {
    for (const unit& each : units) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
    if (text == "0") return duration::zero();
    if (text.empty()) return std::nullopt;
    constexpr std::int64_t longest = std::chrono::duration_cast<milliseconds>(longest_duration).count();
    std::int64_t sum = 0;
    while (!text.empty()) {
        const auto part = take(text);
        const unit* const of = part ? find(time_units, part->unit) : nullptr;
        if (of == nullptr || part->whole > longest / of->worth) return std::nullopt;
        sum += part->whole * of->worth + part->thousandths * of->worth / 1'000;
        if (sum > longest) return std::nullopt;
    }
    return milliseconds(sum);
}

std::string duration_units() {
    std::string text;
    for (auto each = time_units.rbegin(); each != time_units.rend(); ++each) {
        if (!text.empty()) text += each + 1 == time_units.rend() ? " or " : ", ";
        text += each->name;
    }
    return text;
}

std::string duration_text(duration d) {
    std::int64_t left = std::chrono::duration_cast<milliseconds>(d).count();
    if (left <= 0) return "0s";
    std::string text;
    for (const unit& each : time_units) {
        if (left >= each.worth) (text += std::to_string(left / each.worth)) += each.name;
        left %= each.worth;
    }
    return text;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    const auto part = take(text);
    if (!part || !text.empty()) return std::nullopt;
    const unit* const of = find(size_units, part->unit.empty() ? std::string_view("B") : part->unit);
    if (of == nullptr || (of->worth == 1 && part->thousandths != 0)) return std::nullopt;
    if (part->whole > most_number / of->worth) return std::nullopt;
    return static_cast<std::uint64_t>(part->whole * of->worth + part->thousandths * of->worth / 1'000);
}

std::string size_text(std::uint64_t bytes) {
    for (const unit& each : size_units) {
        const auto worth = static_cast<std::uint64_t>(each.worth);
        if (bytes >= worth && bytes % worth == 0) return std::to_string(bytes / worth) + std::string(each.name);
    }
    return std::to_string(bytes) + "B";
}

}  // namespace andon::gateway
