#include "andon/wire/described.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "andon/core/visible_text.hpp"

namespace andon::detail {
namespace {

constexpr std::size_t longest_quoted = 80;

// A double is exact up to 2^53, but not as Boost.JSON 1.81 parses it: 8868313344551783.0 becomes ...782. It errs in the
// last bits only, so that up to here it never makes another integer of one.
constexpr double largest_exact = 281474976710656.0;  // 2^48

std::string quoted(std::string_view text) { return '"' + visible_text(text, longest_quoted) + '"'; }

std::string listed(std::span<const std::string_view> names) {
    std::string out;
    for (const auto& name : names) {
        if (!out.empty()) out += ", ";
        out += quoted(name);
    }
    return out;
}

std::string to_string(const json_place& at) {
    std::string before = at.parent == nullptr ? std::string() : to_string(*at.parent);
    switch (at.by) {
        case json_place::step::key: return before + '[' + quoted(at.name) + ']';
        case json_place::step::element: return before + '[' + std::to_string(at.index) + ']';
        case json_place::step::member: break;
    }
    if (at.parent != nullptr) before += '.';
    return before.append(at.name);
}

// A number as it is, anything else by its kind: that is enough to find it, and it may be long or secret.
std::string shown(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null: return "null";
        case json::kind::bool_: return "a boolean";
        case json::kind::string: return "a string";
        case json::kind::array: return "an array";
        case json::kind::object: return "an object";
        case json::kind::int64:
        case json::kind::uint64:
        case json::kind::double_: break;
    }
    return json::serialize(value);
}

[[noreturn]] void refuse(const json_place& at, const std::string& expected, const std::string& got) {
    throw invalid_arguments(to_string(at) + ": expected " + expected + ", got " + got);
}

std::string with_unit(std::string what, std::string_view unit) {
    if (!unit.empty()) what.append(" (").append(unit).append(")");
    return what;
}

bool contains(const integer_range& range, std::int64_t n) {
    return n < 0 ? n >= range.least : static_cast<std::uint64_t>(n) <= range.most;
}

std::string schema_pointer(const schema_place& at) {
    std::string before = at.parent == nullptr ? std::string("#") : schema_pointer(*at.parent);
    return before.append(at.pointer).append(at.member);
}

}  // namespace

void refuse(const json_place& at, const std::string& expected, const json::value& got) {
    refuse(at, expected, shown(got));
}

void refuse_missing(const json_place& at, const std::string& expected) {
    throw invalid_arguments(to_string(at) + ": expected " + expected + ", but it is missing");
}

void refuse_to_write(const json_place& at, std::string_view what) {
    throw std::domain_error(to_string(at).append(": ").append(what));
}

void refuse_unknown_members(const json_place& at, const json::object& given, std::span<const std::string_view> known) {
    for (const auto& each : given) {
        if (std::find(known.begin(), known.end(), std::string_view(each.key())) != known.end()) continue;
        throw invalid_arguments(to_string(at) + ": there is no " + quoted(each.key()) + ", " +
                                (known.empty() ? "nor anything else" : "only " + listed(known)));
    }
}

std::string expected_integer(const integer_range& range, std::string_view unit) {
    return with_unit("an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most), unit);
}

std::string expected_number(double most, std::string_view unit) {
    if (most == std::numeric_limits<double>::max()) return with_unit("a number", unit);
    return with_unit(
        "a number from " + json::serialize(json::value(-most)) + " to " + json::serialize(json::value(most)), unit);
}

std::string expected_one_of(std::span<const std::string_view> names) { return "one of " + listed(names); }

bool read_boolean(const json::value& from, const json_place& at) {
    if (const auto* value = from.if_bool()) return *value;
    refuse(at, "a boolean", from);
}

std::uint64_t read_integer(const json::value& from, const json_place& at, const integer_range& range,
                           std::string_view unit) {
    if (const auto* n = from.if_int64(); n != nullptr && contains(range, *n)) return static_cast<std::uint64_t>(*n);
    if (const auto* n = from.if_uint64(); n != nullptr && *n <= range.most) return *n;
    if (const auto* n = from.if_double(); n != nullptr && std::trunc(*n) == *n) {
        if (std::abs(*n) <= largest_exact) {
            const auto whole = static_cast<std::int64_t>(*n);
            if (contains(range, whole)) return static_cast<std::uint64_t>(whole);
        } else if (*n > static_cast<double>(range.least) && *n < static_cast<double>(range.most)) {
            refuse(at, expected_integer(range, unit), shown(from) + ", which is exact only when written in digits");
        }
    }
    refuse(at, expected_integer(range, unit), from);
}

double read_number(const json::value& from, const json_place& at, double most, std::string_view unit) {
    if (from.is_number()) {
        const auto number = from.to_number<double>();
        if (std::abs(number) <= most) return number;
    }
    refuse(at, expected_number(most, unit), from);
}

std::string read_string(const json::value& from, const json_place& at) {
    if (const auto* value = from.if_string()) return {value->data(), value->size()};
    refuse(at, "a string", from);
}

std::size_t read_name(const json::value& from, const json_place& at, std::span<const std::string_view> names) {
    const auto* value = from.if_string();
    if (value == nullptr) refuse(at, expected_one_of(names), from);
    const auto found = std::find(names.begin(), names.end(), std::string_view(*value));
    if (found == names.end()) refuse(at, expected_one_of(names), quoted(*value));
    return static_cast<std::size_t>(found - names.begin());
}

const json::object& read_object(const json::value& from, const json_place& at) {
    if (const auto* value = from.if_object()) return *value;
    refuse(at, "an object", from);
}

const json::array& read_array(const json::value& from, const json_place& at) {
    if (const auto* value = from.if_array()) return *value;
    refuse(at, "an array", from);
}

json::value write_number(double number, const json_place& at) {
    if (!std::isfinite(number)) refuse_to_write(at, "JSON has no number for " + std::to_string(number));
    return number;
}

json::value write_name(std::size_t index, std::span<const std::string_view> names, const json_place& at) {
    if (index >= names.size()) refuse_to_write(at, "the value is none of " + listed(names));
    return json::value(names[index]);
}

json::object schema_of_type(std::string_view type) { return {{"type", type}}; }

json::object schema_of_integer(const integer_range& range, bool say_most, bool say_least) {
    auto out = schema_of_type("integer");
    if (say_least) out["minimum"] = range.least;
    if (say_most) out["maximum"] = range.most;
    return out;
}

json::object schema_of_names(std::span<const std::string_view> names) {
    auto out = schema_of_type("string");
    out["enum"] = json::array(names.begin(), names.end());
    return out;
}

json::object or_null(json::object schema) {
    json::array either;
    either.emplace_back(std::move(schema));
    either.emplace_back(schema_of_type("null"));
    json::object out;
    out["anyOf"] = std::move(either);
    return out;
}

void add_description(json::object& schema, std::string_view text) {
    if (text.empty()) return;
    const auto* unit = schema.if_contains("description");
    schema["description"] = with_unit(std::string(text), unit == nullptr ? "" : std::string_view(unit->as_string()));
}

std::optional<json::object> reference_to(const std::type_info& type, const schema_place& at) {
    for (const auto* place = &at; place != nullptr; place = place->parent) {
        if (place->type == nullptr || *place->type != type) continue;
        json::object out;
        out["$ref"] = schema_pointer(*place);
        return out;
    }
    return std::nullopt;
}

std::string unit_name(std::intmax_t numerator, std::intmax_t denominator) {
    struct named {
        std::intmax_t numerator, denominator;
        std::string_view name;
    };
    constexpr std::array<named, 8> names{{{1, 1'000'000'000, "nanoseconds"},
                                          {1, 1'000'000, "microseconds"},
                                          {1, 1'000, "milliseconds"},
                                          {1, 1, "seconds"},
                                          {60, 1, "minutes"},
                                          {3'600, 1, "hours"},
                                          {86'400, 1, "days"},
                                          {604'800, 1, "weeks"}}};
    for (const auto& each : names) {
        if (each.numerator == numerator && each.denominator == denominator) return std::string(each.name);
    }
    const auto fraction = denominator == 1 ? std::string() : '/' + std::to_string(denominator);
    return "units of " + std::to_string(numerator) + fraction + " s";
}

}  // namespace andon::detail
