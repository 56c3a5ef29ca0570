// What the envelope says of the inside of a message, and the messages inside a batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "andon/wire/envelope.hpp"
#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;

struct inside_case {
    const char* name;
    std::string params;
    std::string_view envelope::*part;
    std::string in_request;
    std::string in_notification;
};

class inside_of_params : public testing::TestWithParam<inside_case> {};

TEST_P(inside_of_params, is_found) {
    const inside_case& given = GetParam();
    envelope_reader reader;
    const padded request(R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + given.params + "}");
    const envelope* message = reader.read(request);
    ASSERT_NE(message, nullptr) << reader.fault().message;
    EXPECT_EQ(message->*given.part, given.in_request);
    const padded notification(R"({"params":)" + given.params + R"(,"method":"m","jsonrpc":"2.0"})");
    message = reader.read(notification);
    ASSERT_NE(message, nullptr) << reader.fault().message;
    EXPECT_EQ(message->*given.part, given.in_notification);
    EXPECT_EQ(message->raw_params, given.params);
    // Nothing of it is left for the next.
    const padded plain(R"({"jsonrpc":"2.0","method":"m"})");
    message = reader.read(plain);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->*given.part, "");
}

inside_case both(const char* name, std::string params, std::string_view envelope::*part, const std::string& found) {
    return {name, std::move(params), part, found, found};
}

INSTANTIATE_TEST_SUITE_P(
    envelope, inside_of_params,
    testing::ValuesIn(std::vector<inside_case>{
        both("MSG_1_request_id", R"({"requestId":7,"reason":"r"})", &envelope::raw_request_id, "7"),
        both("MSG_1_request_id_text", R"({"requestId" : "7" })", &envelope::raw_request_id, R"("7")"),
        both("MSG_1_request_id_exact", R"({"requestId":9007199254740993})", &envelope::raw_request_id,
             "9007199254740993"),
        both("MSG_1_reason", R"({"requestId":7,"reason":"a\"b"})", &envelope::raw_reason, R"("a\"b")"),
        both("RCV_6_reason_of_another_kind", R"({"requestId":7,"reason":{"a":[1]} })", &envelope::raw_reason,
             R"({"a":[1]})"),
        both("MSG_2_no_request_id", R"({"reason":"r"})", &envelope::raw_request_id, ""),
        both("not_one_that_lies_deeper", R"({"x":{"requestId":7},"y":[{"requestId":8}]})", &envelope::raw_request_id,
             ""),
        both("key_with_escapes", R"({"request\u0049d":7})", &envelope::raw_request_id, "7"),
        both("name", R"({"name":"echo","arguments":{"name":"other"}})", &envelope::raw_name, R"("echo")"),
        both("meta", R"({"_meta": {"a":1} ,"x":2})", &envelope::raw_meta, R"({"a":1})"),
        both("meta_of_another_kind", R"({"_meta":5})", &envelope::raw_meta, "5"),
        both("version", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})", &envelope::raw_version,
             R"("2026-07-28")"),
        both("version_only_in_meta", R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})",
             &envelope::raw_version, ""),
        inside_case{"token_of_a_request", R"({"_meta":{"progressToken":"t"}})", &envelope::raw_progress_token, R"("t")",
                    ""},
        inside_case{"null_is_no_token", R"({"_meta":{"progressToken":null}})", &envelope::raw_progress_token, "", ""},
        inside_case{"token_of_a_notification", R"({"progressToken":5})", &envelope::raw_progress_token, "", "5"},
        inside_case{"each_its_own_token", R"({"_meta":{"progressToken":1},"progressToken":2})",
                    &envelope::raw_progress_token, "1", "2"},
        inside_case{"each_its_own_token_in_the_other_order", R"({"progressToken":2,"_meta":{"progressToken":1}})",
                    &envelope::raw_progress_token, "1", "2"}}),
    by_name());

// Somebody in between, who takes the first of two, must not let pass what we would take the last of.
TEST(envelope, what_decides_comes_once) {
    envelope_reader reader;
    for (const std::string member :
         {R"("name":"a")", R"("arguments":{})", R"("uri":"a://b")", R"("requestId":1)", R"("_meta":{})"}) {
        const padded line(R"({"jsonrpc":"2.0","id":5,"method":"m","params":{)" + member + "," + member + "}}");
        EXPECT_EQ(reader.read(line), nullptr) << member;
        EXPECT_EQ(reader.fault().code, error_code::invalid_request) << member;
        EXPECT_EQ(reader.fault().raw_id, "5") << member;
    }
    const std::string version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
    const padded line(R"({"jsonrpc":"2.0","id":5,"method":"m","params":{"_meta":{)" + version + "," + version + "}}}");
    EXPECT_EQ(reader.read(line), nullptr);
    const padded elsewhere(R"({"jsonrpc":"2.0","id":5,"method":"m","params":{"a":{"name":1,"name":2}}})");
    EXPECT_NE(reader.read(elsewhere), nullptr);
}

TEST(envelope, result_and_error_have_no_inside) {
    envelope_reader reader;
    const padded line(R"({"jsonrpc":"2.0","id":1,"result":{"_meta":{"progressToken":1},"name":"x","requestId":5}})");
    const envelope* const message = reader.read(line);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->raw_meta, "");
    EXPECT_EQ(message->raw_progress_token, "");
    EXPECT_EQ(message->raw_name, "");
    EXPECT_EQ(message->raw_request_id, "");
}

TEST(envelope, an_answer_has_no_params_whatever_is_called_so) {
    envelope_reader reader;
    const padded line(R"({"jsonrpc":"2.0","id":1,"params":"no object","result":{}})");
    const envelope* const message = reader.read(line);
    ASSERT_NE(message, nullptr) << reader.fault().message;
    EXPECT_EQ(message->kind, message_kind::result);
    EXPECT_EQ(message->raw_params, "");
}

TEST(envelope, MSG_3_an_id_is_kept_in_the_bytes_in_which_it_came) {
    envelope_reader reader;
    for (const std::string raw : {"1.0", "10e-1", R"("\u0061")", "-0", "9223372036854775807"}) {
        const padded line(R"({"jsonrpc":"2.0","id": )" + raw + R"( ,"method":"m"})");
        const envelope* const message = reader.read(line);
        ASSERT_NE(message, nullptr) << raw;
        EXPECT_EQ(message->raw_id, raw);
    }
}

struct batch_case {
    const char* name;
    std::string line;
    std::vector<std::string> messages{};
    int code = 0;
    std::string fault{};
};

class batch_split : public testing::TestWithParam<batch_case> {};

TEST_P(batch_split, gives_each_message_or_a_fault) {
    const batch_case& given = GetParam();
    ASSERT_TRUE(envelope_reader::looks_like_batch(given.line));
    envelope_reader reader({.depth = 8});
    const padded line(given.line);
    const auto messages = reader.split_batch(line);
    ASSERT_EQ(messages.has_value(), given.code == 0) << reader.fault().message;
    if (messages) {
        EXPECT_EQ(std::vector<std::string>(messages->begin(), messages->end()), given.messages);
    } else {
        EXPECT_EQ(reader.fault().code, given.code);
        EXPECT_THAT(reader.fault().message, testing::HasSubstr(given.fault));
        EXPECT_FALSE(reader.fault().silent);
        EXPECT_EQ(reader.fault().raw_id, "");
    }
}

constexpr int parse_error = error_code::parse_error;
constexpr int invalid_request = error_code::invalid_request;

INSTANTIATE_TEST_SUITE_P(
    envelope, batch_split,
    testing::ValuesIn(std::vector<batch_case>{
        batch_case{"one", R"([{"a":1}])", {R"({"a":1})"}},
        batch_case{"two", R"( [ {"a":[1,2]} , {"b":"],["} ] )", {R"({"a":[1,2]})", R"({"b":"],["})"}},
        batch_case{"what_is_no_message_is_left_to_the_reader",
                   R"([1 , "x", null ,[], {}])",
                   {"1", R"("x")", "null", "[]", "{}"}},
        batch_case{"empty", "[ ]", {}, invalid_request, "an empty batch"},
        batch_case{"cut_off", R"([{"a":1})", {}, parse_error},
        batch_case{"trailing_comma", R"([{"a":1},])", {}, parse_error},
        batch_case{"something_behind", R"([{"a":1}] 1)", {}, parse_error},
        batch_case{"two_on_a_line", R"([{"a":1}][])", {}, parse_error, "something follows"},
        batch_case{"broken_inside", R"([{"a":01}])", {}, parse_error},
        batch_case{
            "too_deep", "[" + std::string(9, '[') + std::string(9, ']') + "]", {}, invalid_request, "too deeply"}}),
    by_name());

TEST(envelope, the_messages_of_a_batch_can_be_read_one_after_the_other) {
    envelope_reader reader;
    const padded line(R"([{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},7,)"
                      R"({"jsonrpc":"2.0","id":12,"result":12}])");
    const auto messages = reader.split_batch(line);
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 4U);
    EXPECT_EQ(reader.read((*messages)[0])->method, "a");
    EXPECT_EQ(reader.read((*messages)[1])->method, "b");
    EXPECT_EQ(reader.read((*messages)[2]), nullptr);
    EXPECT_EQ(reader.fault().message, "a message must be an object");
    EXPECT_EQ(reader.read((*messages)[3])->raw_result, "12");
}

TEST(envelope, only_an_array_looks_like_a_batch) {
    EXPECT_TRUE(envelope_reader::looks_like_batch("\t \r["));
    for (const std::string_view line : {"", " ", "{}", "\"[\"", "{[", "5 ["}) {
        EXPECT_FALSE(envelope_reader::looks_like_batch(line)) << line;
    }
}

TEST(id_from_json, MSG_3_strings_and_exact_integers_and_nothing_else) {
    std::string storage;
    EXPECT_EQ(id_from_json("7", storage), request_id_view(7));
    EXPECT_EQ(id_from_json("1.0", storage), request_id_view(1));
    EXPECT_EQ(id_from_json(R"("7")", storage), request_id_view("7"));
    EXPECT_EQ(id_from_json(R"("")", storage), request_id_view(""));
    EXPECT_EQ(id_from_json(R"("\u0037\n")", storage), request_id_view("7\n"));
    for (const std::string_view raw : {"", "1.5", "null", "true", "{}", "[1]", "9223372036854775808"}) {
        EXPECT_FALSE(id_from_json(raw, storage)) << raw;
    }
}

TEST(string_from_json, is_the_text_of_a_string_and_nothing_for_other_values) {
    EXPECT_EQ(string_from_json(R"("a b")"), "a b");
    EXPECT_EQ(string_from_json(R"("")"), "");
    EXPECT_EQ(string_from_json(R"("\ud83d\ude00\u0000\\")"), "\xF0\x9F\x98\x80\0\\"s);
    for (const std::string_view raw : {"", "1", "null", "{}", "[]", "\""}) EXPECT_FALSE(string_from_json(raw)) << raw;
}

}  // namespace
}  // namespace andon
