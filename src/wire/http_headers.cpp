#include "andon/wire/http_headers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <simdjson.h>

#include "andon/core/visible_text.hpp"
#include "wire/base64.hpp"
#include "wire/trimmed.hpp"

namespace andon {
namespace {

constexpr std::string_view encoded_begin = "=?base64?";
constexpr std::string_view encoded_end = "?=";
constexpr std::int64_t largest_integer = (std::int64_t{1} << 53U) - 1;
constexpr std::size_t longest_shown = 100;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
bool is_visible(char c) noexcept { return c > ' ' && c <= '~'; }

bool looks_encoded(std::string_view value) noexcept {
    return value.starts_with(encoded_begin) && value.ends_with(encoded_end);
}

std::string shown(std::string_view text) { return '\'' + visible_text(text, longest_shown) + '\''; }

std::string joined(const std::vector<std::string>& path) {
    std::string text;
    for (const std::string& name : path) (text += text.empty() ? "" : ".") += name;
    return text;
}

/// `42`, `-7` and `42.0`; no other way to write it. Exact: as a double, 9007199254740990.9999999 would be an integer.
std::optional<std::int64_t> integer_in(std::string_view text) noexcept {
    const std::size_t point = text.find('.');
    if (point != std::string_view::npos) {
        const std::string_view fraction = text.substr(point + 1);
        if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
        text = text.substr(0, point);
    }
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::int64_t> integer_in(const json::value& value) noexcept {
    std::optional<std::int64_t> found;
    if (const auto* const exact = value.if_int64()) {
        found = *exact;
    } else if (const auto* const large = value.if_uint64()) {
        if (*large <= std::uint64_t{largest_integer}) found = static_cast<std::int64_t>(*large);
    } else if (const auto* const fraction = value.if_double()) {
        // Larger ones may not fit, and are out of the range anyway.
        if (std::abs(*fraction) < 1e18 && std::trunc(*fraction) == *fraction)
            found = static_cast<std::int64_t>(*fraction);
    }
    if (found && (*found > largest_integer || *found < -largest_integer)) found.reset();
    return found;
}

const json::value* value_at(const std::vector<std::string>& path, const json::object& arguments) noexcept {
    const json::object* inside = &arguments;
    const json::value* found = nullptr;
    for (const std::string& name : path) {
        if (inside == nullptr) return nullptr;
        found = inside->if_contains(name);
        if (found == nullptr) return nullptr;
        inside = found->if_object();
    }
    return found;
}

std::string disagreement(std::string_view header, const std::string& words) {
    return "Header mismatch: " + std::string(header) + ' ' + words;
}

bool same(param_header::kind type, std::string_view header, std::string_view body) noexcept {
    if (type != param_header::kind::integer) return header == body;
    const auto number = integer_in(header);
    return number && number == integer_in(body);
}

std::string compared(std::string_view header, std::string_view value, std::string_view body, param_header::kind type,
                     bool may_be_encoded) {
    const auto meant = may_be_encoded ? decoded_header_value(value) : std::string(detail::trimmed(value));
    if (!meant) return disagreement(header, "header value " + shown(value) + " is malformed");
    if (same(type, *meant, body)) return {};
    return disagreement(header, "header value " + shown(*meant) + " does not match body value " + shown(body));
}

}  // namespace

std::string encoded_header_value(std::string_view utf8) {
    const bool safe = !utf8.empty() && !is_blank(utf8.front()) && !is_blank(utf8.back()) && !looks_encoded(utf8) &&
                      std::all_of(utf8.begin(), utf8.end(), [](char c) { return c == ' ' || is_visible(c); });
    if (safe) return std::string(utf8);
    return std::string(encoded_begin) + detail::base64_encoded(utf8) + std::string(encoded_end);
}

std::optional<std::string> decoded_header_value(std::string_view value) {
    value = detail::trimmed(value);
    if (!std::all_of(value.begin(), value.end(), [](char c) { return is_blank(c) || is_visible(c); })) {
        return std::nullopt;
    }
    if (!looks_encoded(value)) return std::string(value);
    if (value.size() < encoded_begin.size() + encoded_end.size()) return std::nullopt;  // `=?base64?=`
    value.remove_prefix(encoded_begin.size());
    value.remove_suffix(encoded_end.size());
    auto decoded = detail::base64_decoded(value);
    if (decoded && !simdjson::validate_utf8(decoded->data(), decoded->size())) decoded.reset();
    return decoded;
}

std::string param_header::header() const { return "Mcp-Param-" + name; }

param_text param_value(const param_header& which, const json::object& arguments) {
    const json::value* const value = value_at(which.path, arguments);
    if (value == nullptr || value->is_null()) return {};
    const auto wrong = [&](std::string_view expected) {
        return param_text{{}, "argument " + shown(joined(which.path)) + " is not " + std::string(expected)};
    };
    switch (which.type) {
        case param_header::kind::string:
            if (const auto* const text = value->if_string()) return {std::string(*text), {}};
            return wrong("a string");
        case param_header::kind::boolean:
            if (const bool* const given = value->if_bool()) return {*given ? "true" : "false", {}};
            return wrong("a boolean");
        case param_header::kind::integer: break;
    }
    if (const auto number = integer_in(*value)) return {std::to_string(*number), {}};
    return wrong("an integer from -(2^53 - 1) to 2^53 - 1");
}

std::string mismatch(const param_header& which, std::optional<std::string_view> header_value,
                     const json::object& arguments) {
    const param_text body = param_value(which, arguments);
    if (!body.error.empty()) return disagreement(which.header(), "cannot be checked: " + body.error);
    if (!body.text) {
        if (!header_value) return {};
        return disagreement(which.header(), "header value " + shown(*header_value) + " has no value in the body");
    }
    if (!header_value) return disagreement(which.header(), "header is missing: the body has " + shown(*body.text));
    return compared(which.header(), *header_value, *body.text, which.type, true);
}

std::string mismatch(std::string_view header, std::optional<std::string_view> header_value, std::string_view body_value,
                     bool may_be_encoded) {
    if (!header_value) return disagreement(header, "header is missing: the body has " + shown(body_value));
    return compared(header, *header_value, body_value, param_header::kind::string, may_be_encoded);
}

}  // namespace andon
