// How each type that a described struct may hold is read from JSON, written to it and shown in a schema. The rules are
// in described.hpp, the struct itself in struct_form.hpp; what needs no template is in described.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <ratio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace andon {

/// A struct for which BOOST_DESCRIBE_STRUCT was used.
template <class T>
concept described_struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

/// An enum for which BOOST_DESCRIBE_ENUM was used.
template <class T>
concept described_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

namespace detail {

namespace json = boost::json;

/// Where in the arguments a value stands: a chain on the stack that is written out only when there is an error.
struct json_place {
    enum class step { member, key, element };
    const json_place* parent = nullptr;
    step by = step::member;
    std::string_view name{};
    std::size_t index = 0;
};

/// Where in the schema a schema stands, so that a struct that contains itself can refer to it.
struct schema_place {
    const schema_place* parent = nullptr;
    std::string_view pointer{};  // from the parent on, without the member's name
    std::string_view member{};
    const std::type_info* type = nullptr;  // the struct that is described here
};

struct integer_range {
    std::int64_t least = 0;
    std::uint64_t most = 0;
};

[[noreturn]] void refuse(const json_place& at, const std::string& expected, const json::value& got);
[[noreturn]] void refuse_missing(const json_place& at, const std::string& expected);
[[noreturn]] void refuse_to_write(const json_place& at, std::string_view what);
void refuse_unknown_members(const json_place& at, const json::object& given, std::span<const std::string_view> known);

std::string expected_integer(const integer_range& range, std::string_view unit);
std::string expected_number(double most, std::string_view unit);
std::string expected_one_of(std::span<const std::string_view> names);

bool read_boolean(const json::value& from, const json_place& at);
/// The integer modulo 2^64: a cast to a type of that range restores it.
std::uint64_t read_integer(const json::value& from, const json_place& at, const integer_range& range,
                           std::string_view unit = {});
double read_number(const json::value& from, const json_place& at, double most, std::string_view unit = {});
std::string read_string(const json::value& from, const json_place& at);
std::size_t read_name(const json::value& from, const json_place& at, std::span<const std::string_view> names);
const json::object& read_object(const json::value& from, const json_place& at);
const json::array& read_array(const json::value& from, const json_place& at);

json::value write_number(double number, const json_place& at);
json::value write_name(std::size_t index, std::span<const std::string_view> names, const json_place& at);

json::object schema_of_type(std::string_view type);
json::object schema_of_integer(const integer_range& range, bool say_most, bool say_least);
json::object schema_of_names(std::span<const std::string_view> names);
json::object or_null(json::object schema);
/// The text before what the schema says already (which is a unit of time).
void add_description(json::object& schema, std::string_view text);
/// A reference to the place where `type` is being described, if `at` is inside it.
std::optional<json::object> reference_to(const std::type_info& type, const schema_place& at);

/// `units of 1/30 s`, unless the period has a name.
std::string unit_name(std::intmax_t numerator, std::intmax_t denominator);

template <class M>
struct json_form {
    static_assert(sizeof(M) == 0,
                  "andon: no JSON is known for the type of this member; include/andon/wire/described.hpp lists what a "
                  "member may be (an enum or a struct among them has to be described itself)");
};

// Characters are neither numbers nor strings to whoever writes JSON.
template <class M>
concept json_integer = std::integral<M> && !std::same_as<M, bool> && !std::same_as<M, char> &&
                       !std::same_as<M, wchar_t> && !std::same_as<M, char8_t> && !std::same_as<M, char16_t> &&
                       !std::same_as<M, char32_t> && sizeof(M) <= sizeof(std::int64_t);

template <class M>
concept json_floating = std::same_as<M, float> || std::same_as<M, double>;

template <class M>
inline constexpr bool is_optional = false;
template <class M>
inline constexpr bool is_optional<std::optional<M>> = true;

/// For types whose own `==` will do.
struct compared_by_value {
    template <class M>
    static bool equal(const M& a, const M& b) {
        return a == b;
    }
};

template <>
struct json_form<bool> : compared_by_value {
    static std::string expected() { return "a boolean"; }
    static json::object schema(const schema_place&) { return schema_of_type("boolean"); }
    static bool read(const json::value& from, const json_place& at) { return read_boolean(from, at); }
    static json::value write(bool value, const json_place&) { return value; }
};

template <json_integer M>
struct json_form<M> : compared_by_value {
    static constexpr integer_range range{static_cast<std::int64_t>(std::numeric_limits<M>::min()),
                                         static_cast<std::uint64_t>(std::numeric_limits<M>::max())};
    static constexpr bool narrow = sizeof(M) < sizeof(std::int64_t);

    static std::string expected() { return expected_integer(range, {}); }
    static json::object schema(const schema_place&) {
        return schema_of_integer(range, narrow, narrow || std::unsigned_integral<M>);
    }
    static M read(const json::value& from, const json_place& at) {
        return static_cast<M>(read_integer(from, at, range));
    }
    static json::value write(M value, const json_place&) {
        if constexpr (std::signed_integral<M>)
            return static_cast<std::int64_t>(value);
        else
            return static_cast<std::uint64_t>(value);
    }
};

template <json_floating M>
struct json_form<M> : compared_by_value {
    static constexpr double most = std::numeric_limits<M>::max();

    static std::string expected() { return expected_number(most, {}); }
    static json::object schema(const schema_place&) { return schema_of_type("number"); }
    static M read(const json::value& from, const json_place& at) { return static_cast<M>(read_number(from, at, most)); }
    static json::value write(M value, const json_place& at) { return write_number(value, at); }
};

template <>
struct json_form<std::string> : compared_by_value {
    static std::string expected() { return "a string"; }
    static json::object schema(const schema_place&) { return schema_of_type("string"); }
    static std::string read(const json::value& from, const json_place& at) { return read_string(from, at); }
    static json::value write(const std::string& value, const json_place&) { return json::value(value); }
};

template <>
struct json_form<json::value> : compared_by_value {
    static std::string expected() { return "any value"; }
    static json::object schema(const schema_place&) { return {}; }
    static json::value read(const json::value& from, const json_place&) { return from; }
    static json::value write(const json::value& value, const json_place&) { return value; }
};

template <>
struct json_form<json::object> : compared_by_value {
    static std::string expected() { return "an object"; }
    static json::object schema(const schema_place&) { return schema_of_type("object"); }
    static json::object read(const json::value& from, const json_place& at) { return read_object(from, at); }
    static json::value write(const json::object& value, const json_place&) { return value; }
};

template <>
struct json_form<json::array> : compared_by_value {
    static std::string expected() { return "an array"; }
    static json::object schema(const schema_place&) { return schema_of_type("array"); }
    static json::array read(const json::value& from, const json_place& at) { return read_array(from, at); }
    static json::value write(const json::array& value, const json_place&) { return value; }
};

template <class Rep, class Period>
struct json_form<std::chrono::duration<Rep, Period>> : compared_by_value {
    static_assert(json_integer<Rep> || json_floating<Rep>);
    using duration = std::chrono::duration<Rep, Period>;
    using count = json_form<Rep>;

    static std::string unit() { return unit_name(Period::num, Period::den); }

    /// Half of what std::chrono::nanoseconds holds: the sum of that and any clock's now() is in range.
    static constexpr std::chrono::seconds longest =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::nanoseconds::max() / 2);

    /// What Rep holds, up to the longest.
    static constexpr auto range() {
        if constexpr (json_floating<Rep>) {
            return std::min(count::most, static_cast<double>(longest.count()) * Period::den / Period::num);
        } else {
            integer_range both = count::range;
            if constexpr (std::ratio_greater_equal_v<Period, std::nano>) {
                const auto most = std::chrono::duration_cast<std::chrono::duration<std::int64_t, Period>>(longest);
                both.least = std::max(both.least, -std::int64_t{most.count()});
                both.most = std::min(both.most, static_cast<std::uint64_t>(most.count()));
            }
            return both;
        }
    }

    static std::string expected() {
        if constexpr (json_integer<Rep>)
            return expected_integer(range(), unit());
        else
            return expected_number(range(), unit());
    }
    static json::object schema(const schema_place& at) {
        auto out = count::schema(at);
        add_description(out, unit());
        return out;
    }
    static duration read(const json::value& from, const json_place& at) {
        if constexpr (json_integer<Rep>) {
            return duration(static_cast<Rep>(read_integer(from, at, range(), unit())));
        } else {
            return duration(static_cast<Rep>(read_number(from, at, range(), unit())));
        }
    }
    static json::value write(const duration& value, const json_place& at) { return count::write(value.count(), at); }
};

template <described_enum M>
struct json_form<M> : compared_by_value {
    static constexpr auto table = []<template <class...> class List, class... D>(List<D...>) {
        return std::pair{std::array<std::string_view, sizeof...(D)>{D::name...},
                         std::array<M, sizeof...(D)>{D::value...}};
    }(boost::describe::describe_enumerators<M>());

    static std::string expected() { return expected_one_of(table.first); }
    static json::object schema(const schema_place&) { return schema_of_names(table.first); }
    static M read(const json::value& from, const json_place& at) {
        return table.second[read_name(from, at, table.first)];
    }
    static json::value write(M value, const json_place& at) {
        const auto found = std::find(table.second.begin(), table.second.end(), value);
        return write_name(static_cast<std::size_t>(found - table.second.begin()), table.first, at);
    }
};

template <class M>
struct json_form<std::optional<M>> {
    static_assert(!is_optional<M>, "andon: JSON has one null only");

    static std::string expected() { return json_form<M>::expected() + " or null"; }
    static json::object schema(const schema_place& at) {
        return or_null(json_form<M>::schema({.parent = &at, .pointer = "/anyOf/0"}));
    }
    static std::optional<M> read(const json::value& from, const json_place& at) {
        if (from.is_null()) return std::nullopt;
        return json_form<M>::read(from, at);
    }
    static json::value write(const std::optional<M>& value, const json_place& at) {
        if (!value) return nullptr;
        return json_form<M>::write(*value, at);
    }
    static bool equal(const std::optional<M>& a, const std::optional<M>& b) {
        return a.has_value() == b.has_value() && (!a || json_form<M>::equal(*a, *b));
    }
};

template <class M, class Allocator>
struct json_form<std::vector<M, Allocator>> {
    using vector = std::vector<M, Allocator>;

    static std::string expected() { return "an array"; }
    static json::object schema(const schema_place& at) {
        auto out = schema_of_type("array");
        out["items"] = json_form<M>::schema({.parent = &at, .pointer = "/items"});
        return out;
    }
    static vector read(const json::value& from, const json_place& at) {
        const auto& array = read_array(from, at);
        vector out;
        out.reserve(array.size());
        for (const auto& element : array) out.push_back(json_form<M>::read(element, place_of(out.size(), at)));
        return out;
    }
    static json::value write(const vector& value, const json_place& at) {
        json::array out;
        out.reserve(value.size());
        for (const auto& element : value) out.push_back(json_form<M>::write(element, place_of(out.size(), at)));
        return out;
    }
    static bool equal(const vector& a, const vector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const M& x, const M& y) { return json_form<M>::equal(x, y); });
    }

private:
    static json_place place_of(std::size_t index, const json_place& at) {
        return {.parent = &at, .by = json_place::step::element, .index = index};
    }
};

template <class M, class... Rest>
struct json_form<std::map<std::string, M, Rest...>> {
    using map = std::map<std::string, M, Rest...>;

    static std::string expected() { return "an object"; }
    static json::object schema(const schema_place& at) {
        auto out = schema_of_type("object");
        out["additionalProperties"] = json_form<M>::schema({.parent = &at, .pointer = "/additionalProperties"});
        return out;
    }
    static map read(const json::value& from, const json_place& at) {
        map out;
        for (const auto& [key, value] : read_object(from, at)) {
            out.emplace(std::string(key), json_form<M>::read(value, place_of(key, at)));
        }
        return out;
    }
    static json::value write(const map& value, const json_place& at) {
        json::object out;
        for (const auto& [key, each] : value) out[key] = json_form<M>::write(each, place_of(key, at));
        return out;
    }
    static bool equal(const map& a, const map& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
            return x.first == y.first && json_form<M>::equal(x.second, y.second);
        });
    }

private:
    static json_place place_of(std::string_view key, const json_place& at) {
        return {.parent = &at, .by = json_place::step::key, .name = key};
    }
};

}  // namespace detail
}  // namespace andon
