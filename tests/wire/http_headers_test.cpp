#include "andon/wire/http_headers.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace andon {
namespace {

using namespace std::string_literals;
using kind = param_header::kind;
using testing::HasSubstr;

json::object object(const char* text) { return json::parse(text).as_object(); }

// The table of the transport page.
TEST(header_value, is_plain_where_that_is_safe_and_base64_elsewhere) {
    const std::pair<std::string, std::string> known[] = {
        {"us-west1", "us-west1"},
        {"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
        {" padded ", "=?base64?IHBhZGRlZCA=?="},
        {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
        {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
        {"a b~!", "a b~!"},
        {"file:///a?b=c", "file:///a?b=c"},
        {"",
         "=?base64?"
         "?="},
        {"a\tb", "=?base64?YQli?="},
        {"\x7F", "=?base64?fw==?="},
        {"a\0b"s, "=?base64?YQBi?="},
        {"=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="},
        {"=?BASE64?YQ==?=", "=?BASE64?YQ==?="},
        {"=?base64?YQ==", "=?base64?YQ=="},
        {"YQ==?=", "YQ==?="},
    };
    for (const auto& [value, header] : known) {
        EXPECT_EQ(encoded_header_value(value), header);
        EXPECT_EQ(decoded_header_value(header), value) << header;
    }
}

TEST(header_value, that_nobody_may_send_is_nothing) {
    for (const std::string& header : {"a\nb"s,
                                      "a\rb"s,
                                      "a\0b"s,
                                      "\x7F"s,
                                      "\x1B[0m"s,
                                      "caf\xC3\xA9"s,
                                      "\xFF"s,
                                      "=?base64?YQ?="s,
                                      "=?base64?YQ=?="s,
                                      "=?base64?YQ===?="s,
                                      "=?base64?YR==?="s,
                                      "=?base64?Y Q=?="s,
                                      "=?base64?!!!!?="s,
                                      "=?base64?-_--?="s,
                                      "=?base64?/w==?="s,
                                      "=?base64?7aCA?="s,
                                      "=?base64?wIA=?="s,
                                      "=?base64?=YQ=?="s,
                                      "=?base64?="s,
                                      "=?base64?YQ==\0?="s}) {
        EXPECT_EQ(decoded_header_value(header), std::nullopt) << header;
    }
}

TEST(header_value, does_not_count_the_spaces_around_it) {
    EXPECT_EQ(decoded_header_value(" \t us-west1\t "), "us-west1");
    EXPECT_EQ(decoded_header_value(" =?base64?IHBhZGRlZCA=?= "), " padded ");
    EXPECT_EQ(decoded_header_value("  "), "");
    EXPECT_EQ(decoded_header_value("a \t b"), "a \t b");
}

RC_GTEST_PROP(header_value, comes_back_as_it_went, ()) {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element(
        " "s, "\t"s, "a"s, "="s, "?"s, "=?base64?"s, "?="s, "é"s, "世"s, "\n"s, "\0"s, "😀"s, "~"s, "\x7F"s));
    std::string value;
    for (const std::string& piece : pieces) value += piece;
    const std::string header = encoded_header_value(value);
    for (const char c : header) RC_ASSERT(c >= ' ' && c <= '~');
    RC_ASSERT(header.front() != ' ' && header.back() != ' ');
    RC_ASSERT(decoded_header_value(header) == value);
}

const param_header region{"Region", {"region"}, kind::string};
const param_header count{"Count", {"limits", "count"}, kind::integer};
const param_header dry{"Dry", {"dry"}, kind::boolean};

TEST(param_value, is_the_text_of_the_argument) {
    EXPECT_EQ(param_value(region, object(R"({"region": "eu"})")).text, "eu");
    EXPECT_EQ(param_value(region, object(R"({"region": ""})")).text, "");
    EXPECT_EQ(param_value(dry, object(R"({"dry": true})")).text, "true");
    EXPECT_EQ(param_value(dry, object(R"({"dry": false})")).text, "false");
    const std::pair<const char*, const char*> numbers[] = {{"42", "42"},
                                                           {"-7", "-7"},
                                                           {"0", "0"},
                                                           {"-0", "0"},
                                                           {"-0.0", "0"},
                                                           {"42.0", "42"},
                                                           {"4.2e1", "42"},
                                                           {"9007199254740991", "9007199254740991"},
                                                           {"-9007199254740991", "-9007199254740991"}};
    for (const auto& [given, text] : numbers) {
        EXPECT_EQ(param_value(count, {{"limits", json::object{{"count", json::parse(given)}}}}).text, text) << given;
    }
    EXPECT_EQ(param_value(count, {{"limits", json::object{{"count", std::uint64_t{42}}}}}).text, "42");
}

TEST(param_value, is_nothing_where_there_is_none) {
    for (const char* const arguments :
         {"{}", R"({"count": 5})", R"({"limits": null})", R"({"limits": {}})", R"({"limits": {"count": null}})",
          R"({"limits": [{"count": 5}]})", R"({"limits": 5})", R"({"limits.count": 5})"}) {
        const param_text found = param_value(count, object(arguments));
        EXPECT_EQ(found.text, std::nullopt) << arguments;
        EXPECT_EQ(found.error, "") << arguments;
        EXPECT_EQ(mismatch(count, std::nullopt, object(arguments)), "");
        EXPECT_THAT(mismatch(count, "5", object(arguments)),
                    HasSubstr("Mcp-Param-Count header value '5' has no value"));
    }
}

TEST(param_value, of_another_type_is_an_error) {
    for (const char* const wrong : {"42.5", "\"42\"", "true", "[]", "{}", "9007199254740992", "-9007199254740992",
                                    "1e300", "1e18", "18446744073709551615", "1e400"}) {
        const json::object arguments{{"limits", json::object{{"count", json::parse(wrong)}}}};
        const param_text found = param_value(count, arguments);
        EXPECT_EQ(found.text, std::nullopt) << wrong;
        EXPECT_THAT(found.error, HasSubstr("'limits.count' is not an integer")) << wrong;
        EXPECT_NE(mismatch(count, wrong, arguments), "") << wrong;
        EXPECT_NE(mismatch(count, std::nullopt, arguments), "") << wrong;
    }
    EXPECT_THAT(param_value(region, object(R"({"region": 5})")).error, HasSubstr("not a string"));
    EXPECT_THAT(param_value(dry, object(R"({"dry": "true"})")).error, HasSubstr("not a boolean"));
}

TEST(mismatch, is_empty_where_header_and_body_agree) {
    EXPECT_EQ(mismatch(region, "us-west1", object(R"({"region": "us-west1"})")), "");
    EXPECT_EQ(mismatch(region, " us-west1 ", object(R"({"region": "us-west1"})")), "");
    EXPECT_EQ(mismatch(region, "=?base64?dXMtd2VzdDE=?=", object(R"({"region": "us-west1"})")), "");
    EXPECT_EQ(mismatch(region, "=?base64?SGVsbG8sIOS4lueVjA==?=", object(R"({"region": "Hello, 世界"})")), "");
    EXPECT_EQ(mismatch(region, "", object(R"({"region": ""})")), "");
    EXPECT_EQ(mismatch(dry, "true", object(R"({"dry": true})")), "");
    EXPECT_EQ(mismatch(region, "42", object(R"({"region": "42"})")), "");
}

TEST(mismatch, compares_integers_by_their_value) {
    const auto agree = [](const char* header, const char* body) {
        return mismatch(count, header, {{"limits", json::object{{"count", json::parse(body)}}}}).empty();
    };
    EXPECT_TRUE(agree("42", "42"));
    EXPECT_TRUE(agree("42.0", "42"));
    EXPECT_TRUE(agree("42.000", "42"));
    EXPECT_TRUE(agree("42", "42.0"));
    EXPECT_TRUE(agree("-7", "-7"));
    EXPECT_TRUE(agree("-0", "0"));
    EXPECT_TRUE(agree("9007199254740991", "9007199254740991"));
    EXPECT_TRUE(agree("=?base64?NDI=?=", "42"));
    for (const char* const header : {"43", "42.5", "42.", ".42", "042", "+42", "0x2a", "4 2", "42a", "a", "", "-",
                                     "4.2e1", "42,0", "1e400", "nan", "42.0.0", "--42", "99999999999999999999"}) {
        EXPECT_FALSE(agree(header, "42")) << header;
    }
    // As doubles they would be the same.
    EXPECT_FALSE(agree("9007199254740990.9999999", "9007199254740991"));
    EXPECT_FALSE(agree("9007199254740990", "9007199254740991"));
    // As strings these are not.
    EXPECT_NE(mismatch(region, "42.0", object(R"({"region": "42"})")), "");
}

TEST(mismatch, says_what_is_wrong) {
    const json::object arguments = object(R"({"region": "eu"})");
    EXPECT_EQ(mismatch(region, "us", arguments),
              "Header mismatch: Mcp-Param-Region header value 'us' does not match body value 'eu'");
    EXPECT_EQ(mismatch(region, std::nullopt, arguments),
              "Header mismatch: Mcp-Param-Region header is missing: the body has 'eu'");
    EXPECT_EQ(mismatch(region, "=?base64?YQ?=", arguments),
              "Header mismatch: Mcp-Param-Region header value '=?base64?YQ?=' is malformed");
    EXPECT_THAT(mismatch(region, "a\x1B[0m", arguments), HasSubstr("'a\\x1b[0m' is malformed"));
    EXPECT_LT(mismatch(region, std::string(100'000, 'x'), arguments).size(), 400U);
    EXPECT_NE(mismatch(region, "EU", arguments), "") << "values have cases";
    EXPECT_NE(mismatch(dry, "True", object(R"({"dry": true})")), "");
    EXPECT_NE(mismatch(dry, "1", object(R"({"dry": true})")), "");
}

TEST(mismatch, of_a_standard_header) {
    EXPECT_EQ(mismatch("Mcp-Method", "tools/call", "tools/call", false), "");
    EXPECT_EQ(mismatch("Mcp-Method", " tools/call\t", "tools/call", false), "");
    EXPECT_EQ(mismatch("Mcp-Name", "=?base64?Zm9v?=", "foo", true), "");
    EXPECT_EQ(mismatch("Mcp-Name", "foo", "bar", true),
              "Header mismatch: Mcp-Name header value 'foo' does not match body value 'bar'");
    EXPECT_NE(mismatch("Mcp-Method", "Tools/call", "tools/call", false), "");
    EXPECT_NE(mismatch("Mcp-Method", "=?base64?Zm9v?=", "foo", false), "") << "only names are encoded";
    EXPECT_NE(mismatch("Mcp-Method", std::nullopt, "foo", false), "");
    EXPECT_NE(mismatch("Mcp-Name", std::nullopt, "", true), "");
}

}  // namespace
}  // namespace andon
