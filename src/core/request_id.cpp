#include "andon/core/request_id.hpp"

#include <limits>
#include <ostream>

#include "andon/core/visible_text.hpp"
#include "core/hash.hpp"

namespace andon {
namespace {

constexpr std::size_t longest_shown = 80;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Eats the digits at the front of `text` and returns them.
std::string_view take_digits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    const auto digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// A decimal of any length as `significand * 10^zeros`, the significand without trailing zeros.
struct decimal {
    std::uint64_t significand = 0;
    std::int64_t zeros = 0;
    bool fits = true;

    void append(std::string_view digits) {
        for (const char c : digits) {
            ++zeros;
            if (c == '0') continue;
            for (; zeros > 0 && fits; --zeros) fits = !__builtin_mul_overflow(significand, 10U, &significand);
            zeros = 0;
            fits = fits && !__builtin_add_overflow(significand, static_cast<std::uint64_t>(c - '0'), &significand);
            if (!fits) return;
        }
        if (significand == 0) zeros = 0;
    }
};

}  // namespace

std::uint64_t request_id_view::hash(std::uint64_t seed) const noexcept {
    if (is_string_) return detail::hash_text(text_, ~seed);
    return detail::hash_number(static_cast<std::uint64_t>(number_), seed);
}

std::string to_string(const request_id_view& id) {
    if (!id.is_string()) return std::to_string(id.number());
    return '"' + visible_text(id.text(), longest_shown) + '"';
}

std::ostream& operator<<(std::ostream& out, const request_id_view& id) { return out << to_string(id); }

request_id::request_id(const request_id_view& id) {
    if (id.is_string()) {
        value_ = std::string(id.text());
    } else {
        value_ = id.number();
    }
}

request_id_view request_id::view() const noexcept {
    if (const auto* text = std::get_if<std::string>(&value_)) return std::string_view(*text);
    return *std::get_if<std::int64_t>(&value_);
}

std::optional<std::int64_t> request_id::integer_from_json(std::string_view number) noexcept {
    const bool negative = take(number, "-");
    const auto whole = take_digits(number);
    if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
    std::string_view fraction;
    if (take(number, ".")) {
        fraction = take_digits(number);
        if (fraction.empty()) return std::nullopt;
    }
    constexpr std::int64_t exponent_cap = std::numeric_limits<std::int64_t>::max() / 100;
    std::int64_t exponent = 0;
    if (take(number, "eE")) {
        const bool below = take(number, "-");
        if (!below) take(number, "+");
        const auto digits = take_digits(number);
        if (digits.empty()) return std::nullopt;
        for (const char c : digits) {
            if (exponent < exponent_cap) exponent = exponent * 10 + (c - '0');
        }
        if (below) exponent = -exponent;
    }
    if (!number.empty()) return std::nullopt;

    decimal value;
    value.append(whole);
    value.append(fraction);
    if (!value.fits) return std::nullopt;
    if (value.significand == 0) return 0;
    std::int64_t zeros = value.zeros + exponent - static_cast<std::int64_t>(fraction.size());
    if (zeros < 0 || zeros > std::numeric_limits<std::uint64_t>::digits10) return std::nullopt;
    for (; zeros > 0; --zeros) {
        if (__builtin_mul_overflow(value.significand, 10U, &value.significand)) return std::nullopt;
    }
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1U : 0U);
    if (value.significand > limit) return std::nullopt;
    return static_cast<std::int64_t>(negative ? 0U - value.significand : value.significand);
}

}  // namespace andon
