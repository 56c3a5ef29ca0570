#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/http_headers.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using kind = param_header::kind;
using path = std::vector<std::string>;
using testing::HasSubstr;
using testing::IsEmpty;

param_headers read(const std::string& schema) { return read_param_headers(json::parse(schema).as_object()); }

TEST(param_headers, are_those_that_the_schema_asks_for) {
    const param_headers found = read(R"({"type": "object", "properties": {
        "region": {"type": "string", "description": "where", "x-mcp-header": "Region"},
        "query": {"type": "string"},
        "limits": {"type": "object", "properties": {
            "count": {"type": "integer", "x-mcp-header": "Max-Count"},
            "deeper": {"properties": {"dry": {"type": "boolean", "x-mcp-header": "dry.run!"}}}}}},
        "required": ["region"]})");
    EXPECT_EQ(found.error, "");
    ASSERT_EQ(found.all.size(), 3U);
    EXPECT_EQ(found.all[0].name, "Region");
    EXPECT_EQ(found.all[0].header(), "Mcp-Param-Region");
    EXPECT_EQ(found.all[0].path, path{"region"});
    EXPECT_EQ(found.all[0].type, kind::string);
    EXPECT_EQ(found.all[1].name, "Max-Count");
    EXPECT_EQ(found.all[1].path, (path{"limits", "count"}));
    EXPECT_EQ(found.all[1].type, kind::integer);
    EXPECT_EQ(found.all[2].name, "dry.run!");
    EXPECT_EQ(found.all[2].path, (path{"limits", "deeper", "dry"}));
    EXPECT_EQ(found.all[2].type, kind::boolean);
}

struct schema_case {
    const char* name;
    std::string schema;
};

class without_headers : public testing::TestWithParam<schema_case> {};

TEST_P(without_headers, a_tool_is_fine) {
    const param_headers found = read(GetParam().schema);
    EXPECT_EQ(found.error, "");
    EXPECT_THAT(found.all, IsEmpty());
}

// A property, a definition or a value may be called so: that is no annotation.
INSTANTIATE_TEST_SUITE_P(
    cases, without_headers,
    testing::Values(
        schema_case{"nothing", "{}"}, schema_case{"no_properties", R"({"type": "object", "properties": {}})"},
        schema_case{"properties_of_another_kind", R"({"properties": [1, "x-mcp-header", null]})"},
        schema_case{"property_that_is_true", R"({"properties": {"a": true, "b": false, "c": null, "d": 5}})"},
        schema_case{"property_of_that_name", R"({"properties": {"x-mcp-header": {"type": "string"}}})"},
        schema_case{"definition_of_that_name", R"({"$defs": {"x-mcp-header": {"type": "string"}}})"},
        schema_case{"pattern_of_that_name", R"({"patternProperties": {"x-mcp-header": {"type": "string"}}})"},
        schema_case{"property_of_that_name_in_items",
                    R"({"items": {"properties": {"x-mcp-header": {"type": "string"}}}})"},
        schema_case{"dependency_of_that_name", R"({"dependentRequired": {"x-mcp-header": ["a"]}})"},
        schema_case{"required_name", R"({"required": ["x-mcp-header"]})"},
        schema_case{"default_value", R"({"properties": {"a": {"default": {"x-mcp-header": "A"}}}})"},
        schema_case{"examples", R"({"properties": {"a": {"examples": [{"x-mcp-header": "A"}]}}})"},
        schema_case{"constant", R"({"const": {"x-mcp-header": "A"}})"},
        schema_case{"enumeration", R"({"items": {"enum": [{"x-mcp-header": "A"}]}})"},
        schema_case{"in_a_text", R"({"description": "x-mcp-header", "title": "{\"x-mcp-header\": 5}"})"},
        schema_case{"reference", R"({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}})"},
        schema_case{"reference_to_itself", R"({"$ref": "#", "properties": {"a": {"$ref": "#"}}})"}),
    by_name());

class wrong_headers : public testing::TestWithParam<schema_case> {};

TEST_P(wrong_headers, make_the_tool_invalid) {
    const param_headers found = read(GetParam().schema);
    EXPECT_THAT(found.error, HasSubstr("x-mcp-header"));
    EXPECT_THAT(found.all, IsEmpty()) << "not even those that are right";
}

/// The property `a` with this annotation and type, after one that is right.
std::string property(const std::string& annotation, const std::string& more = R"("type": "string")") {
    return R"({"properties": {"ok": {"type": "string", "x-mcp-header": "Ok"}, "a": {"x-mcp-header": )" + annotation +
           (more.empty() ? "" : ", ") + more + "}}}";
}

/// A right one, and one in a place where none may be.
std::string elsewhere(const std::string& keyword, bool in_list = false, bool named = false) {
    std::string inside = R"({"type": "string", "x-mcp-header": "A"})";
    if (in_list) inside = "[true, " + inside + "]";
    if (named) inside = R"({"some": )" + inside + "}";
    return R"({"properties": {"ok": {"type": "string", "x-mcp-header": "Ok"}, "a": {")" + keyword + "\": " + inside +
           "}}}";
}

std::string nested(const std::string& outer) {
    return R"({"type": "object", ")" + outer + R"(": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}})";
}

INSTANTIATE_TEST_SUITE_P(
    names, wrong_headers,
    testing::Values(schema_case{"empty", property(R"("")")}, schema_case{"no_text", property("5")},
                    schema_case{"null", property("null")}, schema_case{"list", property(R"(["A"])")},
                    schema_case{"with_space", property(R"("a b")")}, schema_case{"with_colon", property(R"("a:b")")},
                    schema_case{"with_return", property(R"("a\rb")")},
                    schema_case{"with_newline", property(R"("a\nX: y")")},
                    schema_case{"with_nul", property(R"("a\u0000")")},
                    schema_case{"with_delete", property(R"("a\u007f")")},
                    schema_case{"with_quote", property(R"("\"")")}, schema_case{"with_slash", property(R"("a/b")")},
                    schema_case{"not_ascii", property(R"("Größe")")}, schema_case{"twice", property(R"("Ok")")},
                    schema_case{"twice_but_for_the_case", property(R"("oK")")}),
    by_name());

INSTANTIATE_TEST_SUITE_P(types, wrong_headers,
                         testing::Values(schema_case{"number", property(R"("A")", R"("type": "number")")},
                                         schema_case{"object", property(R"("A")", R"("type": "object")")},
                                         schema_case{"array", property(R"("A")", R"("type": "array")")},
                                         schema_case{"null", property(R"("A")", R"("type": "null")")},
                                         schema_case{"several", property(R"("A")", R"("type": ["string", "null"])")},
                                         schema_case{"none", property(R"("A")", "")},
                                         schema_case{"unknown", property(R"("A")", R"("type": "String")")}),
                         by_name());

INSTANTIATE_TEST_SUITE_P(
    places, wrong_headers,
    testing::Values(
        schema_case{"the_schema_itself", R"({"type": "string", "x-mcp-header": "A"})"},
        schema_case{"items", elsewhere("items")}, schema_case{"list_of_items", elsewhere("items", true)},
        schema_case{"prefix_items", elsewhere("prefixItems", true)}, schema_case{"contains", elsewhere("contains")},
        schema_case{"one_of", elsewhere("oneOf", true)}, schema_case{"any_of", elsewhere("anyOf", true)},
        schema_case{"all_of", elsewhere("allOf", true)}, schema_case{"not_", elsewhere("not")},
        schema_case{"if_", elsewhere("if")}, schema_case{"then_", elsewhere("then")},
        schema_case{"else_", elsewhere("else")}, schema_case{"definitions", elsewhere("$defs", false, true)},
        schema_case{"old_definitions", elsewhere("definitions", false, true)},
        schema_case{"patterns", elsewhere("patternProperties", false, true)},
        schema_case{"dependent_schemas", elsewhere("dependentSchemas", false, true)},
        schema_case{"additional_properties", elsewhere("additionalProperties")},
        schema_case{"unevaluated_properties", elsewhere("unevaluatedProperties")},
        schema_case{"property_names", elsewhere("propertyNames")},
        schema_case{"a_keyword_that_nobody_knows", elsewhere("x-mine")},
        schema_case{"a_list_of_properties", R"({"properties": [{"type": "string", "x-mcp-header": "A"}]})"},
        schema_case{"a_property_that_is_a_list", R"({"properties": {"a": [{"type": "string", "x-mcp-header": "A"}]}})"},
        schema_case{"properties_within_items", nested("items")},
        schema_case{"properties_within_all_of", nested("allOf")},
        schema_case{"properties_within_definitions", nested("$defs")},
        schema_case{"beside_a_reference", property(R"("A")", R"("type": "string", "$ref": "#/$defs/a")")},
        schema_case{
            "below_a_reference",
            R"({"properties": {"o": {"$ref": "#/$defs/o", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}}})"},
        schema_case{"beside_a_dynamic_reference", property(R"("A")", R"("type": "string", "$dynamicRef": "#x")")}),
    by_name());

std::string deep(std::size_t levels) {
    std::string schema = R"({"type": "string", "x-mcp-header": "A"})";
    for (std::size_t i = 0; i < levels; ++i) schema = R"({"properties": {"p": )" + schema + "}}";
    return schema;
}

json::object parsed_deep(const std::string& text) {
    json::parse_options options;
    options.max_depth = 1'000'000;
    return json::parse(text, {}, options).as_object();
}

TEST(param_headers, reach_to_a_certain_depth) {
    const param_headers deepest = read_param_headers(parsed_deep(deep(deepest_param)));
    ASSERT_EQ(deepest.all.size(), 1U);
    EXPECT_EQ(deepest.all[0].path.size(), deepest_param);
    EXPECT_THAT(read_param_headers(parsed_deep(deep(deepest_param + 1))).error, HasSubstr("too deep"));
    EXPECT_THAT(read_param_headers(parsed_deep(deep(20'000))).error, HasSubstr("too deep"));
}

TEST(param_headers, are_found_however_deep_a_stranger_hides_them) {
    std::string schema = R"({"x-mcp-header": "A"})";
    for (int i = 0; i < 20'000; ++i) schema = R"({"not": [)" + schema + "]}";
    EXPECT_THAT(read_param_headers(parsed_deep(schema)).error, HasSubstr("not in `not`"));
}

TEST(param_headers, errors_are_fit_for_a_log) {
    const param_headers found = read(R"({"properties": {"\u001b[31m)" + std::string(10'000, 'x') +
                                     R"(": {"type": "number", "x-mcp-header": "A"}}})");
    EXPECT_THAT(found.error, HasSubstr("\\x1b[31mxxx"));
    EXPECT_LT(found.error.size(), 400U);
}

}  // namespace
}  // namespace andon
