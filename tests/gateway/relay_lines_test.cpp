// What stands on the lines between hosts and servers: its order is kept, and what is no message is told to whom it is
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/recording.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto batches = revision::v2025_03_26;
constexpr auto legacy = revision::v2025_11_25;
constexpr auto modern = revision::v2026_07_28;

std::string to_say(const std::vector<std::string>& lines, bool quiet = false) {
    json::array all(lines.begin(), lines.end());
    return json::serialize(json::object{{"lines", std::move(all)}, {"quiet", quiet}});
}

std::size_t place_of(const std::vector<std::string>& lines, std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::find_if(lines, [&](const std::string& each) { return each.find(text) != std::string::npos; }) -
        lines.begin());
}

class relay_lines : public testing::Test {
protected:
    own_folder folder;
    recording recorded{folder};
};

// The order of the wire.

TEST_F(relay_lines, SND_3_a_cancel_reaches_the_server_before_what_the_host_wrote_behind_it) {
    for (const revision speaks : {legacy, modern}) {
        const own_folder own;
        const recording heard(own);
        wrap_host host(speaks, own, heard.server(era_of(speaks)));
        host.process().write(call_line(speaks, "1", "hold", with_key("first")) + '\n' + cancel_line("1") + '\n' +
                             call_line(speaks, "2", "echo", with_key("second")) + '\n');
        static_cast<void>(host.answer("2"));
        std::vector<std::string> lines;
        for (const auto& each : heard.lines()) lines.push_back(each.text);
        const std::size_t cancel = place_of(lines, "notifications/cancelled");
        EXPECT_LT(place_of(lines, "first"), cancel);
        EXPECT_LT(cancel, place_of(lines, "second")) << heard.all();
    }
}

TEST_F(relay_lines, SND_3_a_cancel_of_a_question_reaches_the_host_before_what_the_server_wrote_behind_it) {
    wrap_host host(legacy, folder, recorded.server());
    host.call(
        "1", "say",
        to_say({R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"maxTokens":1}})"
                "\n" +
                cancel_line("\"q\"") + "\n" +
                R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"behind"}})"}));
    static_cast<void>(host.answer("1"));
    const auto& lines = host.process().lines();
    const std::size_t cancel = place_of(lines, "notifications/cancelled");
    EXPECT_LT(place_of(lines, "sampling/createMessage"), cancel);
    EXPECT_LT(cancel, place_of(lines, "behind"));
}

// What is no message.

TEST_F(relay_lines, what_is_no_message_is_remarked_upon_a_few_times_and_then_counted) {
    wrap_host host(legacy, folder, recorded.server(), {"--name", "files"});
    std::string junk;
    for (int i = 0; i < 1'000; ++i) junk += "no message\n";
    junk.pop_back();
    host.call("1", "say", to_say({junk}));
    static_cast<void>(host.answer("1"));
    host.process().write(junk + '\n');
    host.fence();
    host.process().close_input();
    EXPECT_EQ(host.process().exit().code, 0);
    EXPECT_EQ(host.process().times_logged("files: from the server: not a message"), 20);
    EXPECT_EQ(host.process().times_logged("files: from the host: not a message"), 20);
    EXPECT_EQ(host.process().times_logged("files: from the server: 980 more like that"), 1);
    EXPECT_EQ(host.process().times_logged("files: from the host: 980 more like that"), 1);
}

struct bad_line {
    const char* name;
    const char* line;  // $A and $B are the ids of two calls, $LONG is more than a line may have
    const char* why;
};

void PrintTo(const bad_line& which, std::ostream* to) { *to << which.name; }

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}

class bad_answers : public testing::TestWithParam<bad_line> {
protected:
    /// The id that the server knows a call by that it holds.
    [[nodiscard]] static std::string held(relay_host& host, const recording& recorded, const char* id) {
        host.call(id, "hold", with_key("call " + std::string(id)));
        return json::serialize(recorded.await("call " + std::string(id)).at(0).message().at("id"));
    }
};
class answers_of_one : public bad_answers {};
class lines_of_nobody : public bad_answers {};

TEST_P(answers_of_one, are_told_to_whoever_waits_for_them_and_to_nobody_else) {
    for (const front_door by : {front_door::wrap, front_door::gateway}) {
        const own_folder folder;
        const recording recorded(folder);
        const relayed with = relayed::through(by, legacy, folder, recorded.server());
        const std::string first = held(*with.host, recorded, "1");
        const std::string second = held(*with.host, recorded, "2");
        with.host->call("3", "say", to_say({replaced(replaced(GetParam().line, "$A", first), "$B", second)}));
        EXPECT_THAT(with.host->answer("1"),
                    AllOf(HasSubstr("-32603"), HasSubstr("the answer could not be read"), HasSubstr(GetParam().why)));
        EXPECT_THAT(with.host->answer("3"), HasSubstr("said"));
        EXPECT_THAT(with.host->unheard("2"), testing::IsEmpty());
        EXPECT_THAT(recorded.with("@start"), testing::SizeIs(1));
    }
}

INSTANTIATE_TEST_SUITE_P(
    gateway, answers_of_one,
    testing::Values(bad_line{"too_long", R"({"jsonrpc":"2.0","id":$A,"result":{"a":"$LONG"}})", "longer than 16777216"},
                    bad_line{"too_long_with_the_id_last", R"({"result":{"id":$B,"a":"$LONG"},"jsonrpc":"2.0","id":$A})",
                             "longer than 16777216"},
                    bad_line{"neither", R"({"jsonrpc":"2.0","id":$A})", "neither"},
                    bad_line{"both", R"({"jsonrpc":"2.0","id":$A,"result":{"id":$B},"error":{}})", "both"},
                    bad_line{"the_id_twice", R"({"jsonrpc":"2.0","id":$A,"id":$A,"result":{}})", "twice"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_P(lines_of_nobody, are_told_to_none_of_two_that_wait) {
    for (const front_door by : {front_door::wrap, front_door::gateway}) {
        const own_folder folder;
        const recording recorded(folder);
        const relayed with = relayed::through(by, legacy, folder, recorded.server());
        const std::string first = held(*with.host, recorded, "1");
        with.host->call("2", "say", to_say({replaced(GetParam().line, "$A", first)}));
        EXPECT_THAT(with.host->answer("2"), HasSubstr("said"));
        EXPECT_THAT(with.host->unheard("1"), testing::IsEmpty());
        static_cast<void>(with.andon->logged(GetParam().why));
    }
}

INSTANTIATE_TEST_SUITE_P(gateway, lines_of_nobody,
                         testing::Values(bad_line{"two_ids", R"({"jsonrpc":"2.0","id":$A,"id":$ID,"result":{}})",
                                                  "a member of the message comes twice"},
                                         bad_line{"no_id", R"({"jsonrpc":"2.0","result":"$LONG"})",
                                                  "the answer is too long"}),
                         [](const auto& each) { return std::string(each.param.name); });

/// The only call in flight, of which a long line was taken to be the answer.
TEST_F(relay_lines, a_notification_that_is_too_long_is_skipped_and_no_call_fails) {
    for (const front_door by : {front_door::wrap, front_door::gateway}) {
        const own_folder own;
        const recording heard(own);
        const relayed with = relayed::through(by, legacy, own, heard.server());
        with.host->call(
            "1", "say",
            to_say({R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"$LONG"}})"}));
        EXPECT_THAT(with.host->answer("1"), HasSubstr("said"));
        static_cast<void>(with.andon->logged("the notification is too long: it has more than 16777216 bytes"));
    }
}

TEST_F(relay_lines, requests_that_are_too_long_are_answered_to_their_ids_on_both_sides) {
    wrap_host host(legacy, folder, recorded.server());
    host.call("1", "say",
              to_say({R"({"jsonrpc":"2.0","params":{"a":"$LONG"},"method":"sampling/createMessage","id":"q"})"}));
    EXPECT_THAT(host.answer("1"), HasSubstr("said"));
    EXPECT_THAT(recorded.await(R"("id":"q","error")").at(0).text,
                AllOf(HasSubstr("-32600"), HasSubstr("the request is too long")));
    const std::string too_much(std::size_t{16} << 20U, 'x');
    host.process().send(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":")" + too_much + R"("},"id":7})");
    EXPECT_THAT(host.answer("7"), AllOf(HasSubstr("-32600"), HasSubstr("the request is too long")));
}

TEST_F(relay_lines, an_answer_of_the_host_that_cannot_be_read_is_told_to_the_server_that_asked) {
    wrap_host host(legacy, folder, recorded.server());
    const std::string too_much(std::size_t{16} << 20U, 'x');
    int asked = 0;
    for (const std::string& answer :
         {R"({"jsonrpc":"2.0","result":")" + too_much + R"(","id":$Q})", std::string(R"({"jsonrpc":"2.0","id":$Q})"),
          std::string(R"({"jsonrpc":"2.0","id":$Q,"result":{},"error":{}})")}) {
        const std::string question = "\"q" + std::to_string(++asked) + '"';
        host.call(
            std::to_string(asked), "say",
            to_say({R"({"jsonrpc":"2.0","id":)" + question + R"(,"method":"sampling/createMessage","params":{}})"}));
        const json::value passed_on = json::parse(host.message_with({}, "sampling/createMessage"));
        host.process().send(replaced(answer, "$Q", json::serialize(passed_on.at("id"))));
        EXPECT_THAT(recorded.await(R"("id":)" + question + R"(,"error")").at(0).text,
                    HasSubstr("the answer could not be read"));
    }
}

// Batches of answers.

struct broken_batch {
    const char* name;
    const char* broken;  // $A and $B are ids
    bool rest_is_heard = true;
};

void PrintTo(const broken_batch& which, std::ostream* to) { *to << which.name; }

class broken_batches : public testing::TestWithParam<broken_batch> {};

TEST_P(broken_batches, answer_whoever_waits_for_what_cannot_be_read_and_the_others) {
    const own_folder folder;
    const recording recorded(folder);
    wrap_host host(batches, folder, recorded.server());
    for (const char* const id : {"1", "2", "3"}) host.call(id, "hold", with_key("call " + std::string(id)));
    const auto ours = [&](const char* id) {
        return json::serialize(recorded.await("call " + std::string(id)).at(0).message().at("id"));
    };
    const auto good = [&](const char* id) {
        return R"({"jsonrpc":"2.0","id":)" + ours(id) + R"(,"result":{"said":"here"}})";
    };
    std::string broken = GetParam().broken;
    broken.replace(broken.find("$ID"), 3, ours("2"));
    host.call("4", "say", to_say({"[" + good("1") + ", " + broken + "," + good("3") + "]"}));
    EXPECT_THAT(host.answer("1"), HasSubstr("here"));
    EXPECT_THAT(host.answer("2"), AllOf(HasSubstr("-32603"), HasSubstr("the answer could not be read")));
    EXPECT_THAT(host.answer("3"), HasSubstr(GetParam().rest_is_heard ? "here" : "the answer could not be read"));
    EXPECT_THAT(host.answer("4"), HasSubstr("said"));
}

INSTANTIATE_TEST_SUITE_P(
    gateway, broken_batches,
    testing::Values(broken_batch{"no_value", R"({"jsonrpc":"2.0","id":$ID,"result":{"said":NaN}})"},
                    broken_batch{"a_bracket_in_a_text", R"({"jsonrpc":"2.0","id":$ID,"result":{"said":"\"]{\q"}})"},
                    broken_batch{"a_comma", R"({"jsonrpc":"2.0","result":{"said":1,},"id":$ID})"},
                    broken_batch{"no_end", R"({"jsonrpc":"2.0","id":$ID,"result":{"said":1})", false},
                    broken_batch{"no_end_of_text", R"({"jsonrpc":"2.0","id":$ID,"result":{"said":"1}})", false},
                    broken_batch{"no_message", R"({"id":$ID,"result":{}})"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(relay_lines, a_batch_in_a_revision_that_has_none_is_told_to_whoever_waits_for_it) {
    wrap_host host(legacy, folder, recorded.server());
    host.call("1", "hold", with_key("held"));
    const std::string held = json::serialize(recorded.await("held").at(0).message().at("id"));
    host.call("2", "say", to_say({R"([{"jsonrpc":"2.0","id":)" + held + R"(,"result":{}}])"}));
    EXPECT_THAT(host.answer("1"), HasSubstr("the answer could not be read"));
    EXPECT_THAT(host.answer("2"), HasSubstr("said"));
}

// Batches of requests, over HTTP.

TEST_F(relay_lines, HTTP_3_a_batch_whose_requests_were_all_cancelled_ends_as_one_request_does) {
    gateway_in_front gateway(folder, recorded.server());
    http_caller client = gateway.caller(batches);
    client.open();
    const auto batch_of = [&](const std::string& first, const std::string& second) {
        return '[' + call_line(batches, first, "hold", with_key("held " + first)) + ',' +
               R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"},)" +
               call_line(batches, second, "hold", with_key("held " + second)) + ']';
    };
    int id = 0;
    for (const std::string_view accept : {takes_both, takes_json, takes_events}) {
        client.how().accept = accept;
        const std::string first = std::to_string(++id);
        const std::string second = std::to_string(++id);
        http_client stream = client.send(client.post(batch_of(first, second)));
        static_cast<void>(recorded.await("held " + second));
        client.cancel(first);
        client.cancel(second);
        const http_answer head = stream.head();
        EXPECT_EQ(head.status, 200);
        const std::string body = head.in_events() ? stream.event()->data : stream.body();
        std::vector<std::string> said;
        const json::value all = json::parse(body);
        for (const json::value& each : all.as_array()) {
            said.push_back(json::serialize(each.at("id")) + ' ' + json::serialize(each.at("error").at("code")));
        }
        EXPECT_THAT(said, ElementsAre(first + " -32800", second + " -32800"));
    }
}

}  // namespace
}  // namespace andon
