// Answers that are no good: whoever waits for one is told at once, and nobody else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "andon/client/pending_call.hpp"
#include "client/raw_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

constexpr std::size_t longest_line = transport_limits().longest_line;

struct bad_answer {
    const char* name;
    const char* line;  // $A and $B are the ids of two calls, $LONG is more than a line may have
    const char* why;
};

void PrintTo(const bad_answer& which, std::ostream* to) { *to << which.name; }

std::string with(std::string text, std::string_view name, const std::string& instead) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += instead.size()) {
        text.replace(at, name.size(), instead);
    }
    return text;
}

/// Against a server that a test writes by hand.
class unreadable_answers : public testing::TestWithParam<std::tuple<revision, bad_answer>> {
protected:
    struct asked {
        pending_call call;
        std::string id;
    };
    [[nodiscard]] asked ask(client& by) const {
        auto call = by.call_tool("work");
        return {std::move(call), json::serialize(raw_.read().at("id"))};
    }
    void say(const std::string& line, const std::string& first, const std::string& second = {}) const {
        raw_.write_line(with(with(with(line, "$LONG", std::string(longest_line, 'x')), "$A", first), "$B", second));
    }

    raw_server raw_;
};

class told_apart : public unreadable_answers {};
class of_the_only_one : public unreadable_answers {};
class of_nobody : public unreadable_answers {};

const auto every_era = testing::Values(newest_legacy, newest_modern);
const auto by_era_and_name = [](const auto& each) {
    const bool modern = era_of(std::get<0>(each.param)) == era::modern;
    return std::string(std::get<1>(each.param).name) + (modern ? "_modern" : "_legacy");
};

TEST_P(told_apart, MSG_3_by_their_ids) {
    const bad_answer& given = std::get<1>(GetParam());
    auto client = raw_.connect(quiet_client({std::get<0>(GetParam())}));
    const asked first = ask(client);
    const asked second = ask(client);
    say(given.line, first.id, second.id);
    EXPECT_EQ(first.call.get().status, call_status::disconnected);
    EXPECT_THAT(first.call.get().message, HasSubstr("the answer could not be read: "));
    EXPECT_THAT(first.call.get().message, HasSubstr(given.why));
    EXPECT_FALSE(second.call.done());
    raw_.answer_text(json::parse(second.id), "here");
    EXPECT_TRUE(second.call.get().completed()) << "the other call and the connection go on";
}

INSTANTIATE_TEST_SUITE_P(
    client, told_apart,
    testing::Combine(
        every_era,
        testing::Values(
            bad_answer{"too_long", R"({"jsonrpc":"2.0","id":$A,"result":{"a":"$LONG"}})", "longer than 16777216 bytes"},
            bad_answer{"too_long_with_the_id_last", R"({"result":{"id":$B,"a":"\"$LONG"},"jsonrpc":"2.0","id":$A.0})",
                       "longer than 16777216 bytes"},
            bad_answer{"too_long_and_no_JSON", R"({"jsonrpc":"2.0","id":$A,"error":{"$LONG)", "longer than"},
            bad_answer{"a_batch_too_long",
                       R"([{"method":"n"},{"jsonrpc":"2.0","result":{"id":$B,"a":"$LONG"},"id":$A}])", "longer than"},
            bad_answer{"neither", R"({"jsonrpc":"2.0","id":$A})", "neither"},
            bad_answer{"both", R"({"jsonrpc":"2.0","id":$A,"result":{"id":$B},"error":{}})", "both"},
            bad_answer{"the_id_twice", R"({"jsonrpc":"2.0","id":$A,"id":$A,"result":{"id":$B}})", "twice"},
            bad_answer{"no_JSON", R"({"jsonrpc":"2.0","id":$A,"result":{"a":NaN,"id":$B}})", ""})),
    by_era_and_name);

TEST_P(of_the_only_one, are_that_ones_and_nobodys_where_there_are_two) {
    const bad_answer& given = std::get<1>(GetParam());
    auto client = raw_.connect(quiet_client({std::get<0>(GetParam())}));
    const asked first = ask(client);
    const asked second = ask(client);
    say(given.line, first.id, second.id);
    raw_.answer_text(json::parse(second.id), "here");
    EXPECT_TRUE(second.call.get().completed());
    EXPECT_FALSE(first.call.done());
    say(given.line, first.id, second.id);
    EXPECT_THAT(first.call.get().message, HasSubstr(given.why));
}

INSTANTIATE_TEST_SUITE_P(
    client, of_the_only_one,
    testing::Combine(
        every_era,
        testing::Values(bad_answer{"two_ids", R"({"jsonrpc":"2.0","id":$A,"id":$B,"result":{}})", "twice"},
                        bad_answer{"no_id", R"({"jsonrpc":"2.0","result":{"id":$B}})", "without an id"},
                        bad_answer{"no_id_and_too_long", R"({"jsonrpc":"2.0","result":"$LONG"})", "longer than"},
                        bad_answer{"two_ids_and_too_long", R"({"jsonrpc":"2.0","id":$A,"id":$B,"result":"$LONG"})",
                                   "longer than"})),
    by_era_and_name);

TEST_P(of_nobody, are_told_to_nobody) {
    auto client = raw_.connect(quiet_client({std::get<0>(GetParam())}));
    const asked only = ask(client);
    say(std::get<1>(GetParam()).line, only.id);
    raw_.answer_text(json::parse(only.id), "here");
    EXPECT_TRUE(only.call.get().completed());
}

INSTANTIATE_TEST_SUITE_P(
    client, of_nobody,
    testing::Combine(
        every_era,
        testing::Values(
            bad_answer{"a_notification",
                       R"({"jsonrpc":"2.0","method":"notifications/message","params":{"id":$A,"data":"$LONG"}})", ""},
            bad_answer{"another_id", R"({"jsonrpc":"2.0","id":999,"result":"$LONG"})", ""},
            bad_answer{"MSG_3_a_text_is_no_number", R"({"jsonrpc":"2.0","id":"$A","result":"$LONG"})", ""},
            bad_answer{"an_error_for_no_request", R"({"jsonrpc":"2.0","id":null,"error":{"a":"$LONG"}})", ""},
            bad_answer{"noise", R"(result "id":$A $LONG)", ""},
            bad_answer{"a_request_with_a_result", R"({"jsonrpc":"2.0","id":$A,"method":"m","result":{}})", ""})),
    by_era_and_name);

TEST(unreadable_handshake, fails_the_connection_at_once) {
    for (const std::string& line :
         {std::string(R"({"jsonrpc":"2.0","id":2})"),
          R"({"jsonrpc":"2.0","result":")" + std::string(longest_line, 'x') + R"(","id":2})"}) {
        raw_server raw;
        auto hands = std::async(std::launch::async, [&] {
            EXPECT_EQ(raw.read().at("id"), 2);
            raw.write_line(line);
        });
        try {
            static_cast<void>(client::connect(raw.theirs(), quiet_client({newest_legacy})));
            ADD_FAILURE() << "it connected";
        } catch (const std::exception& why) {
            EXPECT_THAT(why.what(), HasSubstr("the answer could not be read"));
        }
        hands.get();
    }
}

TEST(unreadable_question, that_is_too_long_is_answered_to_its_id) {
    raw_server raw;
    auto client = raw.connect(quiet_client({newest_legacy}));
    raw.write_line(R"({"jsonrpc":"2.0","method":"roots/list","params":{"a":")" + std::string(longest_line, 'x') +
                   R"("},"id":"q"})");
    const json::value answer = raw.read();
    EXPECT_EQ(answer.at("id"), "q");
    EXPECT_EQ(answer.at("error").at("code"), -32600);
}

}  // namespace
}  // namespace andon
