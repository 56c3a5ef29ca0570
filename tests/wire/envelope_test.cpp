#include "andon/wire/envelope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

using namespace std::string_literals;

struct good_case {
    const char* name;
    std::string line;
    message_kind kind;
    request_id id = 0;
    bool has_id = true;
    std::string method{};
    std::string raw_params{};
    std::string raw_result{};
    std::string raw_error{};
};

class message_read : public testing::TestWithParam<good_case> {};

TEST_P(message_read, is_what_was_written) {
    const good_case& given = GetParam();
    envelope_reader reader;
    const padded line(given.line);
    const envelope* const message = reader.read(line);
    ASSERT_NE(message, nullptr) << reader.fault().message;
    EXPECT_EQ(message->kind, given.kind);
    EXPECT_EQ(message->has_id, given.has_id);
    if (given.has_id) {
        EXPECT_EQ(request_id(message->id), given.id);
    }
    EXPECT_EQ(message->method, given.method);
    EXPECT_EQ(message->raw_params, given.raw_params);
    EXPECT_EQ(message->raw_result, given.raw_result);
    EXPECT_EQ(message->raw_error, given.raw_error);
}

good_case request(const char* name, const std::string& raw_id, request_id id) {
    return {
        name, R"({"jsonrpc":"2.0","id":)" + raw_id + R"(,"method":"m"})", message_kind::request, std::move(id), true,
        "m"};
}

good_case params(const char* name, const std::string& raw) {
    return {name, R"({"jsonrpc":"2.0","method":"m","params":)" + raw + " }", message_kind::notification, 0, false, "m",
            raw};
}

INSTANTIATE_TEST_SUITE_P(
    kinds, message_read,
    testing::ValuesIn(std::vector<good_case>{
        good_case{"request", R"({"jsonrpc":"2.0","id":1,"method":"a/b","params":{}})", message_kind::request, 1, true,
                  "a/b", "{}"},
        good_case{"notification", R"({"jsonrpc":"2.0","method":"n"})", message_kind::notification, 0, false, "n"},
        good_case{"result", R"({"jsonrpc":"2.0","id":"x","result":{"a":[1,2]}})", message_kind::result, "x", true, "",
                  "", R"({"a":[1,2]})"},
        good_case{"result_null", R"({"jsonrpc":"2.0","id":2,"result":null})", message_kind::result, 2, true, "", "",
                  "null"},
        good_case{"result_string", R"({"jsonrpc":"2.0","id":2,"result":"\"}"})", message_kind::result, 2, true, "", "",
                  R"("\"}")"},
        good_case{"error", R"({"jsonrpc":"2.0","id":2,"error":{"code":1}})", message_kind::error, 2, true, "", "", "",
                  R"({"code":1})"},
        good_case{"error_with_null", R"({"jsonrpc":"2.0","id":null,"error":{}})", message_kind::error, 0, false, "", "",
                  "", "{}"},
        good_case{"error_without_id", R"({"jsonrpc":"2.0","error":{}})", message_kind::error, 0, false, "", "", "",
                  "{}"},
        good_case{"in_another_order", R"({"params":{"x":1},"method":"m","id":-1,"jsonrpc":"2.0"})",
                  message_kind::request, -1, true, "m", R"({"x":1})"},
        good_case{"with_space_everywhere",
                  " { \"jsonrpc\" :\t\"2.0\" , \"id\" : 7 , \"method\" : \"m\" , \"params\" "
                  ": { \"a\" : [ ] } } \r",
                  message_kind::request, 7, true, "m", R"({ "a" : [ ] })"},
        good_case{"with_members_that_nobody_knows", R"({"x":[{}],"jsonrpc":"2.0","id":7,"method":"m","y":null})",
                  message_kind::request, 7, true, "m"},
        good_case{"with_escapes_in_keys", R"({"jsonrp\u0063":"2.0","\u0069d":3,"m\u0065thod":"m"})",
                  message_kind::request, 3, true, "m"},
        good_case{"with_escapes_in_the_method", R"({"jsonrpc":"2.0","method":"a\/\u0062\ud83d\ude00"})",
                  message_kind::notification, 0, false, "a/b\xF0\x9F\x98\x80"},
        good_case{"a_key_that_only_looks_alike", R"({"jsonrpc":"2.0","ID":1,"id ":2,"method":"m"})",
                  message_kind::notification, 0, false, "m"}}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    ids, message_read,
    testing::ValuesIn(std::vector<good_case>{
        request("MSG_3_zero", "0", 0), request("MSG_3_negative", "-1", -1), request("MSG_3_empty", R"("")", ""),
        request("MSG_3_a_text_that_is_a_number", R"("1")", "1"),
        request("MSG_3_beyond_doubles", "9007199254740993", 9007199254740993),
        request("MSG_3_the_largest", "9223372036854775807", std::numeric_limits<std::int64_t>::max()),
        request("MSG_3_the_smallest", "-9223372036854775808", std::numeric_limits<std::int64_t>::min()),
        request("MSG_3_zero_fraction", "1.0", 1), request("MSG_3_exponent", "1e2", 100),
        request("MSG_3_escapes", R"("a\n\u0041\\\"")", "a\nA\\\""),
        request("MSG_3_nul_inside", R"("a\u0000b")", "a\0b"s), request("MSG_3_utf8", "\"\xC3\xA9\"", "\xC3\xA9"),
        request("MSG_3_as_long_as_allowed", '"' + std::string(1'024, 'x') + '"', std::string(1'024, 'x')),
        request(
            "MSG_3_as_long_as_allowed_when_unescaped",
            [] {
                std::string raw = "\"";
                for (int i = 0; i < 1'024; ++i) raw += "\\u0061";
                return raw + '"';
            }(),
            std::string(1'024, 'a'))}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    values, message_read,
    testing::ValuesIn(std::vector<good_case>{
        params("numbers_beyond_64_bits", R"({"n":[123456789012345678901234567890,-9223372036854775809,1e999]})"),
        params("numbers_of_every_form", R"({"n":[0,-0,0.5,-1.25E+10,1e-7,12]})"),
        params("literals", R"({"n":[true,false,null]})"), params("empty_ones", R"({"":[],"o":{},"s":""})"),
        params("the_same_key_twice_inside", R"({"a":1,"a":2})"),
        params("strings_that_look_like_structure", R"({"s":"}],{[\"\\"})"),
        params("names_of_the_envelope_inside", R"({"id":1,"method":2,"result":{},"params":[]})"),
        params("every_escape", R"({"s":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"})")}),
    by_name());

struct fault_case {
    const char* name;
    std::string line;
    int code;
    std::string message;  ///< a part of it
    std::string raw_id{};
    bool silent = false;
};

class line_refused : public testing::TestWithParam<fault_case> {};

TEST_P(line_refused, with_code_words_and_id) {
    const fault_case& given = GetParam();
    envelope_reader reader({.depth = 8, .longest_id = 16});
    EXPECT_EQ(reader.read(padded(given.line)), nullptr);
    EXPECT_EQ(reader.fault().code, given.code);
    EXPECT_THAT(reader.fault().message, testing::HasSubstr(given.message));
    EXPECT_FALSE(reader.fault().message.empty());
    EXPECT_EQ(reader.fault().raw_id, given.raw_id);
    EXPECT_EQ(reader.fault().silent, given.silent);
    // It leaves nothing behind.
    EXPECT_NE(reader.read(padded(R"({"jsonrpc":"2.0","method":"m"})")), nullptr) << reader.fault().message;
}

fault_case broken(const char* name, std::string line) { return {name, std::move(line), error_code::parse_error, ""}; }

fault_case broken_inside(const char* name, const std::string& value) {
    return broken(name, R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + value + "}}");
}

INSTANTIATE_TEST_SUITE_P(no_json, line_refused,
                         testing::ValuesIn(std::vector<fault_case>{
                             broken("empty", ""),
                             broken("a_word", "hello"),
                             broken("a_brace", "{"),
                             broken("closing", "}"),
                             broken("cut_off", R"({"jsonrpc":"2.0","id":1,"method":"m")"),
                             broken("cut_off_in_a_string", R"({"jsonrpc":"2.0","id":1,"method":"m)"),
                             broken("trailing_comma", R"({"jsonrpc":"2.0","id":1,"method":"m",})"),
                             broken("no_colon", R"({"jsonrpc" "2.0"})"),
                             broken("no_comma", R"({"a":1 "b":2})"),
                             broken("key_is_no_string", R"({1:2})"),
                             broken("key_is_missing", R"({:2})"),
                             fault_case{"two_messages", R"({"jsonrpc":"2.0","method":"m"}{"a":1})",
                                        error_code::parse_error, "something follows the message"},
                             broken("trailing_garbage", R"({"jsonrpc":"2.0","method":"m"} x)"),
                             broken("a_nul_byte_behind_it", R"({"jsonrpc":"2.0","method":"m"})"s + '\0'),
                             broken("no_utf8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}"),
                             broken("utf8_cut_off", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xE2\x82\"}"),
                             broken("utf8_overlong", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xC0\xAF\"}"),
                             broken("utf8_surrogate", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xED\xA0\x80\"}"),
                             broken("control_character_in_a_string",
                                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}"),
                             broken_inside("leading_zero", "01"),
                             broken_inside("leading_plus", "+1"),
                             broken_inside("no_digits_behind_the_point", "1."),
                             broken_inside("nothing_before_it", ".5"),
                             broken_inside("no_digits_in_the_exponent", "1e"),
                             broken_inside("hexadecimal", "0x1"),
                             broken_inside("only_a_sign", "-"),
                             broken_inside("not_a_number", "NaN"),
                             broken_inside("infinite", "-Infinity"),
                             broken_inside("a_longer_literal", "trueish"),
                             broken_inside("a_capital_literal", "True"),
                             broken_inside("a_cut_literal", "nul"),
                             broken_inside("an_unknown_escape", R"("\x")"),
                             broken_inside("a_short_escape", R"("\u12")"),
                             broken_inside("an_escape_in_a_key", R"({"\x":1})"),
                             broken_inside("a_single_quote", "'a'"),
                             broken_inside("a_comment", "1/**/"),
                             broken_inside("brackets_crossed", "[{]}"),
                             broken_inside("nothing", ""),
                             broken_inside("only_a_comma", "[,]"),
                             broken_inside("comma_at_the_end", "[1,]"),
                             broken_inside("comma_at_the_beginning", "[,1]")}),
                         by_name());

fault_case invalid(const char* name, std::string line, std::string message, std::string raw_id = "",
                   bool silent = false) {
    return {name, std::move(line), error_code::invalid_request, std::move(message), std::move(raw_id), silent};
}

const std::string deep = std::string(20, '[') + std::string(20, ']');

INSTANTIATE_TEST_SUITE_P(
    no_message, line_refused,
    testing::ValuesIn(std::vector<fault_case>{
        invalid("half_a_surrogate_pair", R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d"}})",
                "half of a surrogate pair", "1"),
        invalid("the_other_half", R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d\ud83d\ude00"}})",
                "half of a surrogate pair", "1"),
        invalid("a_number", "5", "must be an object"),
        invalid("a_string", R"("x")", "must be an object"),
        invalid("null", "null", "must be an object"),
        invalid("an_array", "[]", "must be an object"),
        invalid("empty", "{}", "jsonrpc"),
        invalid("no_jsonrpc", R"({"id":1,"method":"m"})", "jsonrpc", "1"),
        invalid("jsonrpc_1", R"({"jsonrpc":"1.0","id":1,"method":"m"})", "jsonrpc", "1"),
        invalid("jsonrpc_a_number", R"({"jsonrpc":2.0,"id":1,"method":"m"})", "jsonrpc", "1"),
        invalid("neither_method_nor_result", R"({"jsonrpc":"2.0","id":1})", "neither a method", "1"),
        invalid("method_and_result", R"({"jsonrpc":"2.0","id":1,"method":"m","result":{}})", "both a method", "1"),
        invalid("method_and_error", R"({"jsonrpc":"2.0","id":1,"method":"m","error":{}})", "both a method", "1"),
        invalid("method_is_no_string", R"({"jsonrpc":"2.0","id":"\u0061","method":1})", "no string", R"("\u0061")"),
        invalid("method_is_no_string_in_a_notification", R"({"jsonrpc":"2.0","method":1})", "no string", "", true),
        invalid("params_an_array", R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})", "params must be", "1"),
        invalid("params_null", R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", "params must be", "1"),
        invalid("RCV_6_params_of_a_notification", R"({"jsonrpc":"2.0","method":"m","params":7})", "params must be", "",
                true),
        invalid("result_and_error", R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})", "both a result", "", true),
        invalid("result_without_id", R"({"jsonrpc":"2.0","result":{}})", "without an id", "", true),
        invalid("an_answer_without_jsonrpc_is_not_answered", R"({"id":16,"result":{}})", "jsonrpc", "", true)}),
    by_name());

const std::string no_id = "neither a string nor an integer";

INSTANTIATE_TEST_SUITE_P(
    no_id, line_refused,
    testing::ValuesIn(std::vector<fault_case>{
        invalid("MSG_3_null", R"({"jsonrpc":"2.0","id":null,"method":"m"})", no_id),
        invalid("MSG_3_fraction", R"({"jsonrpc":"2.0","id":1.9,"method":"m"})", no_id),
        invalid("MSG_3_beyond_64_bits", R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"m"})", no_id),
        invalid("MSG_3_true", R"({"jsonrpc":"2.0","id":true,"method":"m"})", no_id),
        invalid("MSG_3_object", R"({"jsonrpc":"2.0","id":{"a":1},"method":"m"})", no_id),
        invalid("MSG_3_array", R"({"jsonrpc":"2.0","id":[1],"method":"m"})", no_id),
        invalid("MSG_3_too_long", R"({"jsonrpc":"2.0","id":"12345678901234567","method":"m"})", "too long"),
        invalid("MSG_3_a_megabyte", R"({"jsonrpc":"2.0","id":")" + std::string(1U << 20U, 'x') + R"(","method":"m"})",
                "too long"),
        invalid("MSG_3_a_megabyte_of_digits",
                R"({"jsonrpc":"2.0","id":1)" + std::string(1U << 20U, '0') + R"(,"method":"m"})", "too long")}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    found_on_the_way, line_refused,
    testing::ValuesIn(std::vector<fault_case>{
        invalid("method_twice_id_last", R"({"jsonrpc":"2.0","method":"a","method":"b","id":5})", "comes twice", "5"),
        invalid("method_twice_id_first", R"({"id":5,"jsonrpc":"2.0","method":"a","method":"b"})", "comes twice", "5"),
        invalid("params_twice", R"({"jsonrpc":"2.0","id":5,"method":"a","params":{},"params":{}})", "comes twice", "5"),
        invalid("jsonrpc_twice", R"({"jsonrpc":"2.0","jsonrpc":"2.0","id":5,"method":"a"})", "comes twice", "5"),
        invalid("twice_with_an_escape", R"({"jsonrpc":"2.0","id":5,"method":"a","\u006dethod":"a"})", "comes twice",
                "5"),
        invalid("twice_in_a_notification", R"({"jsonrpc":"2.0","method":"a","method":"a"})", "comes twice", "", true),
        invalid("id_twice_is_none", R"({"jsonrpc":"2.0","id":5,"id":6,"method":"a"})", "comes twice"),
        invalid("id_twice_the_same", R"({"jsonrpc":"2.0","id":5,"id":5,"method":"a"})", "comes twice"),
        invalid("result_twice", R"({"jsonrpc":"2.0","id":5,"result":1,"result":2})", "comes twice", "", true),
        invalid("too_deep_id_first", R"({"jsonrpc":"2.0","id":5,"method":"a","params":{"x":)" + deep + "}}",
                "too deeply", "5"),
        invalid("too_deep_id_last", R"({"method":"a","params":{"x":)" + deep + R"(},"jsonrpc":"2.0","id":5})",
                "too deeply", "5"),
        invalid("too_deep_notification", R"({"jsonrpc":"2.0","method":"a","params":{"x":)" + deep + "}}", "too deeply",
                "", true),
        invalid("too_deep_answer", R"({"jsonrpc":"2.0","id":5,"result":)" + deep + "}", "too deeply", "", true),
        broken("too_deep_and_then_broken", R"({"jsonrpc":"2.0","id":5,"result":)" + deep + ",}")}),
    by_name());

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(envelope_reader, depth_counts_the_message_as_the_first_level) {
    for (const std::size_t limit : {1U, 2U, 8U, 128U, 500U}) {
        envelope_reader reader({.depth = limit});
        const auto line = [](std::size_t levels) {
            return padded(R"({"jsonrpc":"2.0","id":1,"result":)" + (levels == 0 ? "0" : nested(levels)) + "}");
        };
        EXPECT_NE(reader.read(line(limit - 1)), nullptr) << limit << ": " << reader.fault().message;
        EXPECT_EQ(reader.read(line(limit)), nullptr) << limit;
        EXPECT_EQ(reader.fault().message, "nested too deeply");
    }
}

TEST(envelope_reader, a_million_levels_are_refused_and_cost_no_stack) {
    envelope_reader reader;
    EXPECT_EQ(reader.read(padded(R"({"jsonrpc":"2.0","id":1,"result":)" + nested(1'000'000) + "}")), nullptr);
    EXPECT_EQ(reader.fault().code, error_code::invalid_request);
    EXPECT_EQ(reader.read(padded(std::string(1'000'000, '['))), nullptr);
    EXPECT_EQ(reader.read(padded(std::string(1'000'000, '{'))), nullptr);
    EXPECT_FALSE(reader.split_batch(padded(nested(1'000'000))));
    EXPECT_FALSE(reader.split_batch(padded(std::string(1'000'000, '['))));
}

TEST(lone_surrogates, are_passed_on_where_that_is_asked_for_and_pairs_always) {
    const padded line(R"({"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d","b":"\ude00x","c":"\ud83d\ude00"}})");
    envelope_reader strict;
    EXPECT_EQ(strict.read(line), nullptr);
    EXPECT_TRUE(strict.fault().answer);
    EXPECT_EQ(strict.fault().answered, 1);
    envelope_reader relays(envelope_limits{.lone_surrogates = true});
    const envelope* const found = relays.read(line);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->raw_result, R"({"a":"\ud83d","b":"\ude00x","c":"\ud83d\ude00"})");
    const padded wrong(R"({"jsonrpc":"2.0","id":1,"result":"\ud8"})");
    EXPECT_EQ(relays.read(wrong), nullptr);
    const padded pair(R"({"jsonrpc":"2.0","id":1,"result":"\ud83d\ude00"})");
    EXPECT_NE(strict.read(pair), nullptr);
}

TEST(unreadable_answers, say_whose_they_are_where_that_can_be_seen) {
    envelope_reader reader;
    const auto answered = [&](const std::string& text) {
        const padded line(text);
        EXPECT_EQ(reader.read(line), nullptr) << text;
        return reader.fault().answer ? reader.fault().answered : std::optional<std::int64_t>(-1);
    };
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":7,"result":{"a":NaN}})"), 7);
    EXPECT_EQ(answered(R"({"result":{"id":"x","a":[1,]},"jsonrpc":"2.0","id": 8})"), 8);
    EXPECT_EQ(answered("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":\"\xFF\"}"), 9);
    EXPECT_EQ(answered(R"({"id":10,"result":{}})"), 10);
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":12})"), 12) << "neither";
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":13,"result":{"id":1},"error":{}})"), 13) << "both";
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":14,"id":14,"result":{"id":1}})"), 14);
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":15,"result":{"a":NaN,"id":1}})"), 15);
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","result":{"a":"b},"id":16})"), 16) << "by the looks of it";
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":1,"id":2,"result":{}})"), std::nullopt);
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","result":{"id":1}})"), std::nullopt);
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":"x","result":{},"error":{}})"), -1) << "no number, so to none of ours";
    EXPECT_EQ(answered(R"({"jsonrpc":"1.0","id":null,"error":{}})"), -1) << "to no request";
    EXPECT_EQ(answered(R"({"jsonrpc":"2.0","id":11,"method":"m","params":{"result":NaN}})"), -1) << "a request";
    EXPECT_EQ(answered("Listening on port 80"), -1);
}

}  // namespace
}  // namespace andon
