#include "andon/wire/described.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <limits>

#include "core/named_case.hpp"
#include "wire/described_types.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using boost::json::parse;

struct point {
    double x = 0;
    double y = 0;
    static constexpr std::string_view optional_members[] = {"y"};
    bool operator==(const point&) const = default;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

struct forecast {
    std::string city;
    std::uint8_t days = 3;
    unit in = unit::celsius;
    std::optional<std::string> language;
    std::chrono::seconds patience{30};
    std::vector<point> area;
    static constexpr std::string_view optional_members[] = {"area"};
    static constexpr member_description descriptions[] = {{"city", "Where, in any language"},
                                                          {"patience", "How long to wait"}};
};
BOOST_DESCRIBE_STRUCT(forecast, (), (city, days, in, language, patience, area))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct base {
    int below = 0;
};
BOOST_DESCRIBE_STRUCT(base, (), (below))

struct derived : base {
    int above = 0;
};
BOOST_DESCRIBE_STRUCT(derived, (base), (above))

struct defaults {
    bool on = true;
    bool off = false;
    int answer = 42;
    int zero = 0;
    double limit = std::numeric_limits<double>::infinity();
    unit in = unit::fahrenheit;
    unit unset{};
    point corner{1, 2};
    point origin;
    std::vector<int> some{1, 2};
    std::map<std::string, std::string> labels{{"a", "b"}};
    std::optional<int> perhaps = 7;
    std::chrono::milliseconds grace = 2s;
    boost::json::value any = "x";
    static constexpr std::string_view optional_members[] = {"zero", "origin"};
    bool operator==(const defaults&) const = default;
};
BOOST_DESCRIBE_STRUCT(defaults, (),
                      (on, off, answer, zero, limit, in, unset, corner, origin, some, labels, perhaps, grace, any))

template <class T>
std::string error_of(std::string_view text) {
    try {
        static_cast<void>(from_json<T>(parse(boost::json::string_view(text.data(), text.size()))));
    } catch (const invalid_arguments& error) {
        return error.what();
    }
    return "no error";
}

// What is said about a member of type M that holds `text`.
template <class M>
std::string error_in(const std::string& text) {
    return error_of<only<M>>(R"({"it":)" + text + "}");
}

static_assert(described_struct<forecast> && described_struct<only<int>>);
static_assert(!described_struct<unit> && !described_struct<std::string> && !described_struct<int>);
static_assert(described_enum<unit> && !described_enum<std::byte>);

// What the schema says.

struct schema_case {
    const char* name;
    boost::json::object schema;
    const char* expected;
};

class schema : public testing::TestWithParam<schema_case> {};

TEST_P(schema, is_the_whole_of_this) {
    EXPECT_EQ(boost::json::serialize(GetParam().schema), boost::json::serialize(parse(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    of_structs, schema,
    testing::Values(schema_case{"forecast", schema_of<forecast>(), R"json({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where, in any language"},
                "days": {"type": "integer", "minimum": 0, "maximum": 255, "default": 3},
                "in": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "language": {"type": "string"},
                "patience": {"type": "integer", "description": "How long to wait (seconds)", "default": 30},
                "area": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0E0}},
                        "required": ["x"],
                        "additionalProperties": false
                    },
                    "default": []
                }
            },
            "required": ["city"],
            "additionalProperties": false})json"},
                    schema_case{"no_members", schema_of<nothing>(),
                                R"({"type": "object", "properties": {}, "additionalProperties": false})"},
                    schema_case{"members_of_the_base_come_first", schema_of<derived>(), R"({
            "type": "object",
            "properties": {
                "below": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647},
                "above": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647}
            },
            "required": ["below", "above"],
            "additionalProperties": false})"},
                    schema_case{"contains_itself", schema_of<tree>(), R"({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#"}}
            },
            "required": ["name", "children"],
            "additionalProperties": false})"},
                    schema_case{"contains_what_contains_itself", schema_of<only<std::map<std::string, tree>>>(), R"({
            "type": "object",
            "properties": {
                "it": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "children": {
                                "type": "array",
                                "items": {"$ref": "#/properties/it/additionalProperties"}
                            }
                        },
                        "required": ["name", "children"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["it"],
            "additionalProperties": false})"},
                    schema_case{"defaults", schema_of<defaults>(), R"({
            "type": "object",
            "properties": {
                "on": {"type": "boolean", "default": true},
                "off": {"type": "boolean"},
                "answer": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647, "default": 42},
                "zero": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647, "default": 0},
                "limit": {"type": "number"},
                "in": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "fahrenheit"},
                "unset": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "corner": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0E0}},
                    "required": ["x"],
                    "additionalProperties": false,
                    "default": {"x": 1E0, "y": 2E0}
                },
                "origin": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0E0}},
                    "required": ["x"],
                    "additionalProperties": false,
                    "default": {"x": 0E0, "y": 0E0}
                },
                "some": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647},
                    "default": [1, 2]
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string"}, "default": {"a": "b"}},
                "perhaps": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647, "default": 7},
                "grace": {"type": "integer", "description": "milliseconds", "default": 2000},
                "any": {"default": "x"}
            },
            "required": ["off", "unset"],
            "additionalProperties": false})"}),
    by_name());

template <class M>
boost::json::object schema_in() {
    return schema_of<only<M>>().at("properties").at("it").as_object();
}

INSTANTIATE_TEST_SUITE_P(
    of_members, schema,
    testing::Values(
        schema_case{"boolean", schema_in<bool>(), R"({"type": "boolean"})"},
        schema_case{"int8", schema_in<std::int8_t>(), R"({"type": "integer", "minimum": -128, "maximum": 127})"},
        schema_case{"uint16", schema_in<std::uint16_t>(), R"({"type": "integer", "minimum": 0, "maximum": 65535})"},
        schema_case{"int64", schema_in<std::int64_t>(), R"({"type": "integer"})"},
        schema_case{"uint64", schema_in<std::uint64_t>(), R"({"type": "integer", "minimum": 0})"},
        schema_case{"long_long", schema_in<long long>(), R"({"type": "integer"})"},
        schema_case{"single", schema_in<float>(), R"({"type": "number"})"},
        schema_case{"optional", schema_in<std::optional<bool>>(), R"({"type": "boolean"})"},
        schema_case{"array_of_optionals", schema_in<std::vector<std::optional<bool>>>(),
                    R"({"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}})"},
        schema_case{"map_of_maps", schema_in<std::map<std::string, std::map<std::string, bool>>>(), R"({
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "boolean"}}})"},
        schema_case{"hours", schema_in<std::chrono::hours>(), R"({"type": "integer", "description": "hours"})"},
        schema_case{"seconds_with_a_fraction", schema_in<std::chrono::duration<double>>(),
                    R"({"type": "number", "description": "seconds"})"},
        schema_case{"narrow_frames", schema_in<std::chrono::duration<std::uint8_t, std::ratio<1, 30>>>(),
                    R"({"type": "integer", "minimum": 0, "maximum": 255, "description": "units of 1/30 s"})"},
        schema_case{"any_value", schema_in<boost::json::value>(), "{}"},
        schema_case{"any_object", schema_in<boost::json::object>(), R"({"type": "object"})"},
        schema_case{"any_array", schema_in<boost::json::array>(), R"({"type": "array"})"}),
    by_name());

// What is refused, and in which words.

struct error_case {
    const char* name;
    std::string error;
    std::string expected;
};

class refused : public testing::TestWithParam<error_case> {};

TEST_P(refused, in_these_words) { EXPECT_EQ(GetParam().error, GetParam().expected); }

const std::string int64_range = "an integer from -9223372036854775808 to 9223372036854775807";

INSTANTIATE_TEST_SUITE_P(
    kinds, refused,
    testing::Values(
        error_case{"not_an_object", error_of<forecast>("[1]"), "arguments: expected an object, got an array"},
        error_case{"nothing_at_all", error_of<forecast>("null"), "arguments: expected an object, got null"},
        error_case{"boolean", error_in<bool>("1"), "arguments.it: expected a boolean, got 1"},
        error_case{"boolean_as_text", error_in<bool>(R"("true")"), "arguments.it: expected a boolean, got a string"},
        error_case{"integer", error_in<std::uint8_t>(R"("3")"),
                   "arguments.it: expected an integer from 0 to 255, got a string"},
        error_case{"integer_from_boolean", error_in<int>("true"),
                   "arguments.it: expected an integer from -2147483648 to 2147483647, got a boolean"},
        error_case{"number", error_in<double>("{}"), "arguments.it: expected a number, got an object"},
        error_case{"string", error_in<std::string>("5"), "arguments.it: expected a string, got 5"},
        error_case{"null_is_no_string", error_in<std::string>("null"), "arguments.it: expected a string, got null"},
        error_case{"optional", error_in<std::optional<bool>>("[]"), "arguments.it: expected a boolean, got an array"},
        error_case{"array", error_in<std::vector<int>>("{}"), "arguments.it: expected an array, got an object"},
        error_case{"map", error_in<std::map<std::string, int>>("[]"), "arguments.it: expected an object, got an array"},
        error_case{"any_object", error_in<boost::json::object>("[]"), "arguments.it: expected an object, got an array"},
        error_case{"any_array", error_in<boost::json::array>("1"), "arguments.it: expected an array, got 1"},
        error_case{"duration", error_in<std::chrono::milliseconds>(R"("1s")"),
                   "arguments.it: expected an integer from -4611686018000 to 4611686018000 (milliseconds), got a "
                   "string"},
        error_case{"enumerator", error_in<unit>(R"("kelvin")"),
                   R"(arguments.it: expected one of "celsius", "fahrenheit", got "kelvin")"},
        error_case{"enumerator_as_number", error_in<unit>("1"),
                   R"(arguments.it: expected one of "celsius", "fahrenheit", got 1)"}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    numbers, refused,
    testing::Values(
        error_case{"too_large", error_in<std::uint8_t>("256"),
                   "arguments.it: expected an integer from 0 to 255, got 256"},
        error_case{"too_small", error_in<std::int8_t>("-129"),
                   "arguments.it: expected an integer from -128 to 127, got -129"},
        error_case{"negative", error_in<std::uint64_t>("-1"),
                   "arguments.it: expected an integer from 0 to 18446744073709551615, got -1"},
        error_case{"fraction", error_in<std::uint8_t>("1.5"),
                   "arguments.it: expected an integer from 0 to 255, got 1.5E0"},
        error_case{"too_large_with_an_exponent", error_in<std::uint8_t>("1e3"),
                   "arguments.it: expected an integer from 0 to 255, got 1E3"},
        error_case{"one_above_int64", error_in<std::int64_t>("9223372036854775808"),
                   "arguments.it: expected " + int64_range + ", got 9223372036854775808"},
        error_case{"one_below_int64", error_in<std::int64_t>("-9223372036854775809"),
                   "arguments.it: expected " + int64_range + ", got -9.223372036854776E18"},
        error_case{"one_above_uint64", error_in<std::uint64_t>("18446744073709551616"),
                   "arguments.it: expected an integer from 0 to 18446744073709551615, got 1.8446744073709552E19"},
        error_case{"not_exact", error_in<std::int64_t>("1e18"),
                   "arguments.it: expected " + int64_range + ", got 1E18, which is exact only when written in digits"},
        error_case{"beyond_float", error_in<float>("1e300"),
                   "arguments.it: expected a number from -3.4028234663852886E38 to 3.4028234663852886E38, got 1E300"},
        error_case{"beyond_double", error_in<double>("1e400"), "arguments.it: expected a number, got Infinity"},
        error_case{"beyond_the_clock", error_in<std::chrono::hours>("9223372036854775807"),
                   "arguments.it: expected an integer from -1281023 to 1281023 (hours), got 9223372036854775807"},
        error_case{"beyond_the_clock_with_a_fraction", error_in<std::chrono::duration<double>>("1e300"),
                   "arguments.it: expected a number from -4.611686018E9 to 4.611686018E9 (seconds), got 1E300"}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    places, refused,
    testing::Values(
        error_case{"missing", error_of<forecast>("{}"), "arguments.city: expected a string, but it is missing"},
        error_case{"missing_inside", error_of<forecast>(R"({"city": "", "area": [{"x": 1}, {"y": 1}]})"),
                   "arguments.area[1].x: expected a number, but it is missing"},
        error_case{"null_for_a_default", error_of<forecast>(R"({"city": "", "days": null})"),
                   "arguments.days: expected an integer from 0 to 255, got null"},
        error_case{"below_a_key", error_in<std::map<std::string, std::vector<int>>>(R"({"a b": [1, "x"]})"),
                   R"(arguments.it["a b"][1]: expected an integer from -2147483648 to 2147483647, got a string)"},
        error_case{"in_a_tree",
                   error_of<tree>(R"({"name": "a", "children": [{"name": "b", "children": [{"name": 1}]}]})"),
                   "arguments.children[0].children[0].name: expected a string, got 1"},
        error_case{"in_an_array_of_optionals", error_in<std::vector<std::optional<bool>>>("[null, 1]"),
                   "arguments.it[1]: expected a boolean, got 1"},
        error_case{"unknown", error_of<point>(R"({"x": 1, "z": 1})"), R"(arguments: there is no "z", only "x", "y")"},
        error_case{"unknown_inside", error_of<forecast>(R"({"city": "", "area": [{"X": 1}]})"),
                   R"(arguments.area[0]: there is no "X", only "x", "y")"},
        error_case{"unknown_before_missing", error_of<only<int>>(R"({"It": 1})"),
                   R"(arguments: there is no "It", only "it")"},
        error_case{"unknown_where_nothing_is_known", error_of<nothing>(R"({"a": 1})"),
                   R"(arguments: there is no "a", nor anything else)"}),
    by_name());

const std::string eighty = std::string(77, 'x') + "…";

INSTANTIATE_TEST_SUITE_P(
    hostile_text, refused,
    testing::Values(error_case{"unknown_member", error_of<only<int>>(R"({"\u001b[2J\n": 1})"),
                               R"(arguments: there is no "\x1b[2J\n", only "it")"},
                    error_case{"enumerator", error_in<unit>(R"("\u202ecelsius")"),
                               R"(arguments.it: expected one of "celsius", "fahrenheit", got "\u{202e}celsius")"},
                    error_case{"key", error_in<std::map<std::string, bool>>(R"({"\u0007": 1})"),
                               R"(arguments.it["\x07"]: expected a boolean, got 1)"},
                    error_case{"long_member", error_of<only<int>>("{\"" + std::string(100'000, 'x') + "\": 1}"),
                               "arguments: there is no \"" + eighty + "\", only \"it\""},
                    error_case{"long_key",
                               error_in<std::map<std::string, bool>>("{\"" + std::string(100'000, 'x') + "\": 1}"),
                               "arguments.it[\"" + eighty + "\"]: expected a boolean, got 1"},
                    error_case{"long_enumerator", error_in<unit>('"' + std::string(100'000, 'x') + '"'),
                               "arguments.it: expected one of \"celsius\", \"fahrenheit\", got \"" + eighty + '"'}),
    by_name());

// What is accepted.

TEST(from_json, fills_in_what_was_left_out) {
    const auto made = from_json<forecast>(parse(R"({"city": "Oslo"})"));
    EXPECT_EQ(made.city, "Oslo");
    EXPECT_EQ(made.days, 3);
    EXPECT_EQ(made.in, unit::celsius);
    EXPECT_EQ(made.language, std::nullopt);
    EXPECT_EQ(made.patience, 30s);
    EXPECT_TRUE(made.area.empty());
}

TEST(from_json, leaves_every_default_as_it_is) {
    const auto made = from_json<defaults>(parse(R"({"off": true, "unset": "celsius"})"));
    defaults expected;
    expected.off = true;
    expected.unset = unit::celsius;
    EXPECT_TRUE(made == expected);
}

TEST(from_json, takes_null_for_an_absent_optional) {
    EXPECT_EQ(from_json<forecast>(parse(R"({"city": "Oslo", "language": null})")).language, std::nullopt);
    EXPECT_EQ(read<std::vector<std::optional<int>>>("[1, null]"), (std::vector<std::optional<int>>{1, std::nullopt}));
}

TEST(from_json, takes_integers_in_any_spelling) {
    EXPECT_EQ(read<int>("1.0"), 1);
    EXPECT_EQ(read<int>("-0.0"), 0);
    EXPECT_EQ(read<std::int8_t>("-128.0"), -128);
    EXPECT_EQ(read<int>("1e2"), 100);
    EXPECT_EQ(read<std::uint64_t>("281474976710656.0"), 281474976710656U);
    EXPECT_EQ(read<std::chrono::milliseconds>("1.5e3"), 1500ms);
}

TEST(from_json, takes_the_ends_of_each_range) {
    EXPECT_EQ(read<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(read<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(read<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(read<std::uint8_t>("255"), 255);
    const only<float> largest{std::numeric_limits<float>::max()};
    EXPECT_EQ(from_json<only<float>>(to_json(largest)).it, largest.it);
    EXPECT_EQ(read<double>("7"), 7.0);
}

TEST(from_json, takes_the_longest_duration_that_can_be_added_to_now) {
    const auto longest = read<std::chrono::nanoseconds>("4611686018000000000");
    EXPECT_GT(std::chrono::system_clock::now() + longest, std::chrono::system_clock::now());
    EXPECT_EQ(read<std::chrono::duration<double>>("0.25"), 250ms);
}

TEST(from_json, takes_whatever_there_is_for_a_json_member) {
    EXPECT_EQ(read<boost::json::value>("null"), nullptr);
    EXPECT_EQ(read<boost::json::object>(R"({"a": [1]})"), parse(R"({"a": [1]})"));
    EXPECT_EQ(read<boost::json::array>(R"([{}, "b"])"), parse(R"([{}, "b"])"));
}

TEST(from_json, reads_what_the_bases_declare) {
    const auto made = from_json<derived>(parse(R"({"above": 1, "below": 2})"));
    EXPECT_EQ(made.above, 1);
    EXPECT_EQ(made.below, 2);
}

// What is written.

TEST(to_json, writes_every_member_but_empty_optionals) {
    forecast result{
        .city = "Oslo", .days = 1, .in = unit::fahrenheit, .language = {}, .patience = 2min, .area = {{1, 2}}};
    const auto expected = R"({"city":"Oslo","days":1,"in":"fahrenheit","patience":120,"area":[{"x":1E0,"y":2E0}]})";
    EXPECT_EQ(boost::json::serialize(to_json(result)), expected);
    result.language = "no";
    EXPECT_EQ(to_json(result).at("language"), "no");
}

template <class M>
std::string error_writing(M value) {
    try {
        static_cast<void>(to_json(only<std::vector<M>>{.it = {value}}));
    } catch (const std::domain_error& error) {
        return error.what();
    }
    return "no error";
}

TEST(to_json, says_where_something_has_no_json) {
    EXPECT_EQ(error_writing(std::numeric_limits<double>::infinity()), "result.it[0]: JSON has no number for inf");
    EXPECT_EQ(error_writing(std::numeric_limits<float>::quiet_NaN()), "result.it[0]: JSON has no number for nan");
    EXPECT_EQ(error_writing(unit{}), R"(result.it[0]: the value is none of "celsius", "fahrenheit")");
}

}  // namespace
}  // namespace andon
