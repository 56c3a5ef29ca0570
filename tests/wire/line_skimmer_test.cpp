#include "andon/wire/line_skimmer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "andon/wire/envelope.hpp"
#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

std::string described(const skimmed_message& seen) {
    std::string text = seen.whole ? "whole" : "cut";
    if (seen.method) text += " method";
    if (seen.result) text += " result";
    if (seen.error) text += " error";
    if (seen.has_id) text += " id=" + seen.raw_id;
    if (seen.id_twice) text += " twice";
    return text;
}

std::string described(const skimmed_line& line) {
    std::string text = line.batch ? "batch" : "";
    for (const skimmed_message& each : line.messages) text += (text.empty() ? "" : "; ") + described(each);
    return text;
}

skimmed_line skimmed(std::string_view text, std::size_t chunk) {
    line_skimmer skimmer;
    for (; text.size() > chunk; text.remove_prefix(chunk)) skimmer.follow(text.substr(0, chunk));
    skimmer.follow(text);
    return skimmer.end();
}

struct skim_case {
    const char* name;
    std::string text;
    std::string seen;
};

class skim : public testing::TestWithParam<skim_case> {};

TEST_P(skim, sees_the_same_wherever_the_pieces_end) {
    const skim_case& given = GetParam();
    for (std::size_t chunk = 1; chunk <= given.text.size() + 1; ++chunk) {
        ASSERT_EQ(described(skimmed(given.text, chunk)), given.seen) << "in pieces of " << chunk;
    }
}

INSTANTIATE_TEST_SUITE_P(
    line_skimmer, skim,
    testing::ValuesIn(std::vector<skim_case>{
        {"a_request", R"({"jsonrpc":"2.0","id":5,"method":"m","params":{"id":6}})", "whole method id=5"},
        {"a_notification", R"({"jsonrpc":"2.0","method":"m","params":{"id":6,"result":1}})", "whole method"},
        {"a_result", R"({"jsonrpc":"2.0","id":5,"result":{"id":6,"method":"m"}})", "whole result id=5"},
        {"an_error", R"({"jsonrpc":"2.0","id":null,"error":{}})", "whole error id=null"},
        {"the_id_last", R"({"result":[{"id":6},[["id",7]]],"jsonrpc":"2.0","id":5})", "whole result id=5"},
        {"blanks", "\t{ \"id\" :\r5 , \"result\" : 1 } ", "whole result id=5"},
        {"MSG_3_a_text_as_it_came", R"({"id":"\u0041\"}{\\","result":1})", R"(whole result id="\u0041\"}{\\")"},
        {"MSG_3_a_number_as_it_came", R"({"id":-9007199254740993.0,"result":1})",
         "whole result id=-9007199254740993.0"},
        {"keys_with_escapes", R"({"\u0069d":5,"r\u0065sult":1,"\"id":6})", "whole result id=5"},
        {"a_text_that_looks_like_more", R"({"result":"\"},\"id\":6,{","id":5})", "whole result id=5"},
        {"a_backslash_at_the_end_of_a_text", R"({"result":"\\","id":5})", "whole result id=5"},
        {"no_id_but_below", R"({"result":{"id":6}})", "whole result"},
        {"neither", R"({"jsonrpc":"2.0","id":5})", "whole id=5"},
        {"both", R"({"id":5,"result":1,"error":{}})", "whole result error id=5"},
        {"nothing_in_it", "{}", "whole"},
        {"the_same_id_twice", R"({"id":5,"id":5,"result":1})", "whole result id=5 twice"},
        {"two_ids", R"({"id":5,"id":6,"result":1})", "whole result id= twice"},
        {"two_ids_and_one_of_them_again", R"({"id":5,"id":6,"id":5,"result":1})", "whole result id= twice"},
        {"an_id_that_is_an_object", R"({"id":{"id":5},"result":1})", "whole result id="},
        {"what_is_no_JSON_inside", R"({"id":5,"result":{"a":NaN,"b":[1,],"c":"\q"}})", "whole result id=5"},
        {"cut_off", R"({"id":5,"result":{"a":[)", "cut result id=5"},
        {"cut_off_in_a_text", R"({"result":{"a":"b},"id":5})", "cut result"},
        {"cut_off_in_an_id", R"({"result":1,"id":5)", "cut result"},
        {"a_bracket_too_many", R"({"id":5,"result":[]],"error":1})", "cut result id=5"},
        {"no_comma", R"({"id":5 "result":1})", "cut id=5"},
        {"no_colon", R"({"id",5,"result":1})", "cut"},
        {"no_value", R"({"id":,"result":1})", "cut"},
        {"something_behind_it", R"({"id":5,"result":1} and more)", "whole result id=5"},
        {"no_message", "Listening on port 80", "cut"},
        {"a_text_alone", R"("{")", "cut"},
        {"nothing", "", "cut"},
        {"a_batch", R"([{"id":5,"result":1}, {"method":"m"},{"id":"a","method":"m"}])",
         R"(batch; whole result id=5; whole method; whole method id="a")"},
        {"an_empty_batch", "[ ]", "batch; cut"},
        {"a_batch_with_what_is_no_message", R"([1,"]",{"id":5,"result":[]}])", "batch; whole result id=5"},
        {"a_batch_that_is_cut_off", R"([{"id":5,"result":1},{"id":6,"result":{)",
         "batch; whole result id=5; cut result id=6; cut"},
        {"a_batch_in_a_batch", R"([[{"id":5,"result":1}]])", "batch; cut"}}),
    by_name());

TEST(line_skimmer, MSG_3_keeps_ids_up_to_a_limit_and_says_of_longer_ones_only_that_they_are_there) {
    const auto with_id = [](std::size_t size) {
        return R"({"result":1,"id":")" + std::string(size - 2, 'x') + R"("})";
    };
    EXPECT_EQ(skimmed(with_id(line_skimmer::longest_raw_id), 100).messages.front().raw_id.size(),
              line_skimmer::longest_raw_id);
    EXPECT_EQ(described(skimmed(with_id(line_skimmer::longest_raw_id + 1), 100)), "whole result id=");
    EXPECT_EQ(described(skimmed(with_id(1U << 20U), 1'000)), "whole result id=");
    EXPECT_EQ(described(skimmed(R"({"id":1)" + std::string(1U << 20U, '0') + "}", 1'000)), "whole id=");
}

TEST(line_skimmer, keeps_the_first_messages_of_a_batch_and_says_that_there_are_more) {
    const auto batch_of = [](std::size_t count) {
        std::string text = "[";
        for (std::size_t i = 0; i < count; ++i) text += R"({"id":)" + std::to_string(i) + R"(,"result":1},)";
        text.back() = ']';
        return text;
    };
    const auto all = skimmed(batch_of(line_skimmer::most_messages), 7).messages;
    ASSERT_EQ(all.size(), line_skimmer::most_messages);
    EXPECT_EQ(described(all.back()), "whole result id=63");
    const auto some = skimmed(batch_of(100 * line_skimmer::most_messages), 7).messages;
    ASSERT_EQ(some.size(), line_skimmer::most_messages + 1);
    EXPECT_EQ(described(some.back()), "cut");
}

TEST(line_skimmer, begins_anew_with_each_line) {
    line_skimmer skimmer;
    skimmer.follow(R"([{"id":5,"result":{"a":"\)");
    EXPECT_EQ(described(skimmer.end()), "batch; cut result id=5; cut");
    skimmer.follow(R"({"method":"m"})");
    EXPECT_EQ(described(skimmer.end()), "whole method");
}

/// Members in any order, any of them missing or there twice, and keys and values that look like something else.
std::string any_message() {
    static const std::vector<std::string> keys{R"("jsonrpc")", R"("id")",     R"("id")",    R"("\u0069\u0064")",
                                               R"("method")",  R"("result")", R"("error")", R"("params")",
                                               R"("ID")",      R"("i\"d")"};
    static const std::vector<std::string> values{"7",
                                                 "1.0",
                                                 "-0",
                                                 "9007199254740993",
                                                 "1e2",
                                                 "1.5",
                                                 "null",
                                                 "true",
                                                 R"("m")",
                                                 R"("a\"}b\\")",
                                                 R"("\u00e9\ud83d\ude00")",
                                                 "{}",
                                                 "[]",
                                                 R"({"id":8,"method":"x","result":{"id":[9,"]}"]}})",
                                                 R"([{"id":"]"},"{",[[]]])"};
    static const std::vector<std::string> blanks{"", "", "", " ", "\t \r"};
    const auto blank = [] { return *rc::gen::elementOf(blanks); };
    std::string text = R"({"jsonrpc":"2.0")";
    const auto members = *rc::gen::inRange(0, 6);
    for (int i = 0; i < members; ++i) {
        text +=
            blank() + ',' + blank() + *rc::gen::elementOf(keys) + blank() + ':' + blank() + *rc::gen::elementOf(values);
    }
    return text + blank() + '}';
}

RC_GTEST_PROP(line_skimmer, sees_in_any_pieces_what_the_reader_reads, ()) {
    const std::string text = any_message();
    line_skimmer skimmer;
    for (std::string_view rest = text; !rest.empty();) {
        const auto size = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
        skimmer.follow(rest.substr(0, size));
        rest.remove_prefix(size);
    }
    const skimmed_line line = skimmer.end();
    RC_ASSERT(line.messages.size() == 1U);
    const skimmed_message& seen = line.messages.front();
    RC_ASSERT(seen.whole);
    envelope_reader reader;
    const padded whole(text);
    const envelope* const message = reader.read(whole);
    if (message == nullptr) {
        RC_ASSERT(reader.fault().code == error_code::invalid_request);
        RC_ASSERT(reader.fault().raw_id.empty() || reader.fault().raw_id == seen.raw_id);
        return;
    }
    const bool called = message->kind == message_kind::request || message->kind == message_kind::notification;
    RC_ASSERT(seen.method == called);
    RC_ASSERT(seen.result == (message->kind == message_kind::result));
    RC_ASSERT(seen.error == (message->kind == message_kind::error));
    RC_ASSERT(seen.raw_id == message->raw_id);
    RC_ASSERT(!seen.id_twice);
}

}  // namespace
}  // namespace andon
