#include "andon/wire/message.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

#include "andon/wire/envelope.hpp"
#include "core/named_case.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

using namespace std::string_literals;

struct quoted_case {
    const char* name;
    std::string text;
    std::string json;
};

class text_quoted : public testing::TestWithParam<quoted_case> {};

TEST_P(text_quoted, is_a_json_string) { EXPECT_EQ(andon::json_quoted(GetParam().text), GetParam().json); }

const std::string replaced = "\xEF\xBF\xBD";

INSTANTIATE_TEST_SUITE_P(
    message, text_quoted,
    testing::ValuesIn(std::vector<quoted_case>{
        quoted_case{"empty", "", R"("")"}, quoted_case{"plain", "a b/c", R"("a b/c")"},
        quoted_case{"quote_and_backslash", R"(a"b\c)", R"("a\"b\\c")"},
        quoted_case{"newline", "a\nb\r", R"("a\nb\u000d")"},
        quoted_case{"control_characters", "\0\x01\x1b\x1f\x7f"s, "\"\\u0000\\u0001\\u001b\\u001f\x7f\""},
        quoted_case{"utf8", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        quoted_case{"no_utf8", "a\xFFz", "\"a" + replaced + "z\""},
        quoted_case{"cut_off", "a\xE2\x82", "\"a" + replaced + replaced + "\""},
        quoted_case{"cut_off_by_a_quote", "\xE2\x82\"", "\"" + replaced + replaced + "\\\"\""},
        quoted_case{"overlong", "\xC0\xAF", "\"" + replaced + replaced + "\""},
        quoted_case{"surrogate", "\xED\xA0\x80", "\"" + replaced + replaced + replaced + "\""},
        quoted_case{"beyond_unicode", "\xF4\x90\x80\x80", "\"" + replaced + replaced + replaced + replaced + "\""},
        quoted_case{"the_last_of_unicode", "\xF4\x8F\xBF\xBF", "\"\xF4\x8F\xBF\xBF\""}}),
    by_name());

RC_GTEST_PROP(message, any_bytes_quoted_are_json_on_one_line, (const std::vector<std::uint8_t>& bytes)) {
    const std::string text(bytes.begin(), bytes.end());
    const std::string json = andon::json_quoted(text);
    boost::system::error_code failed;
    const json::value parsed = json::parse(json, failed);
    RC_ASSERT(!failed);
    RC_ASSERT(json.find_first_of("\n\r"s + '\0') == std::string::npos);
    RC_ASSERT(andon::json_quoted(std::string_view(parsed.get_string())) == json);
}

struct written_case {
    const char* name;
    std::string message;
    std::string expected;
};

class message_written : public testing::TestWithParam<written_case> {};

TEST_P(message_written, as_one_line_that_can_be_read) {
    const auto& [name, message, expected] = GetParam();
    EXPECT_EQ(message, expected);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    envelope_reader reader;
    EXPECT_NE(reader.read(padded(message)), nullptr) << reader.fault().message;
}

const revision_policy& oldest = policy_of(revision::v2024_11_05);
const revision_policy& newest = policy_of(newest_modern);
const json::object hostile{{"a\nb", "c\nd\"\\"}};

INSTANTIATE_TEST_SUITE_P(
    message, message_written,
    testing::ValuesIn(std::vector<written_case>{
        written_case{"result", result_message("1.0", R"({"a":1})"), R"({"jsonrpc":"2.0","id":1.0,"result":{"a":1}})"},
        written_case{"error", error_message("\"x\"", -32600, "no\n\"\xFF"),
                     R"({"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"no\n\")" + replaced + R"("}})"},
        written_case{"error_with_data", error_message("1", 5, "m", hostile),
                     R"({"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"m","data":{"a\nb":"c\nd\"\\"}}})"},
        written_case{"error_without_id_is_null_at_first", error_without_id(-32700, "m", oldest),
                     R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}})"},
        written_case{"error_without_id_has_none_today", error_without_id(-32700, "m", newest),
                     R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}})"},
        written_case{"request", request_message(-5, "a\nb", hostile),
                     R"({"jsonrpc":"2.0","id":-5,"method":"a\nb","params":{"a\nb":"c\nd\"\\"}})"},
        written_case{"notification", notification_message("n", {{"x", 1}}),
                     R"({"jsonrpc":"2.0","method":"n","params":{"x":1}})"},
        written_case{"notification_without_params", notification_message("n", {}), R"({"jsonrpc":"2.0","method":"n"})"},
        written_case{
            "MSG_1_cancelled", cancelled_message("7", "why\n"),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"why\n"}})"},
        written_case{"MSG_1_cancelled_without_reason", cancelled_message(R"("a")", ""),
                     R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})"},
        written_case{"progress", progress_message("\"t\"", {.progress = 3, .total = 10.5, .message = "m\n"}, newest),
                     R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t",)"
                     R"("progress":3,"total":1.05E1,"message":"m\n"}})"},
        written_case{
            "progress_without_words_at_first", progress_message("5", {.progress = -2, .message = "m"}, oldest),
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":-2}})"}}),
    by_name());

RC_GTEST_PROP(message, progress_of_any_number_is_json, (double progress, double total)) {
    const padded line(progress_message("1", {.progress = progress, .total = total}, newest));
    envelope_reader reader;
    const envelope* const message = reader.read(line);
    RC_ASSERT(message != nullptr);
    const json::value params = json::parse(message->raw_params);
    RC_ASSERT(params.at("progress").is_number());
    RC_ASSERT(params.at("total").is_number());
}

TEST(message, progress_that_is_no_number_is_still_json) {
    for (const double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::denorm_min(), 9007199254740993.0, -0.0}) {
        envelope_reader reader;
        EXPECT_NE(reader.read(padded(progress_message("1", {.progress = odd}, newest))), nullptr) << odd;
    }
}

}  // namespace
}  // namespace andon
