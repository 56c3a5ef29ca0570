// Ids are exact, and a cancel may stand anywhere beside its request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

const std::string longest_id = '"' + std::string(1'024, 'x') + '"';

class server_ids : public served {
protected:
    /// Parks one request per id; a string tells them apart.
    void park(const std::vector<std::string>& raw_ids) {
        for (std::size_t i = 0; i < raw_ids.size(); ++i) server.call(raw_ids[i], "park", with_key(std::to_string(i)));
        for (std::size_t i = 0; i < raw_ids.size(); ++i) server.mark("start", std::to_string(i));
    }
};

TEST_P(server_ids, MSG_3_each_of_many_alike_is_cancelled_alone) {
    const std::vector<std::string> ids{"0",
                                       "-1",
                                       "\"\"",
                                       "1",
                                       "\"1\"",
                                       "\"0\"",
                                       "\"-1\"",
                                       "9007199254740993",
                                       "9007199254740994",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "\"9007199254740993\"",
                                       "\"\\u0000\"",
                                       "\"\xC3\xA9\"",
                                       "\"e\xCC\x81\"",
                                       longest_id};
    park(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        SCOPED_TRACE(ids[i].substr(0, 40));
        server.cancel(ids[i]);
        server.mark("cancel", std::to_string(i));
        server.fence();
        for (std::size_t other = i + 1; other < ids.size(); ++other) {
            EXPECT_FALSE(server.marked("cancel", std::to_string(other))) << ids[other];
        }
    }
    for (const std::string& id : ids) EXPECT_EQ(server.answers(id), 0) << id;
}

TEST_P(server_ids, MSG_3_what_is_no_exact_match_cancels_nothing) {
    park({"1", "\"1\"", "9007199254740992", "0"});
    for (const std::string_view stranger :
         {"1.9", "\"1.0\"", "1e400", "9007199254740993", "9007199254740992.5", "18446744073709551617", "-1e-400",
          "\"01\"", "\" 1\"", "true", "null", "[1]", "{\"id\":1}"}) {
        server.cancel(stranger);
    }
    server.fence();
    EXPECT_EQ(server.times_logged("cancelled: peer"), 0);
}

TEST_P(server_ids, MSG_3_every_spelling_of_an_integer_is_that_integer) {
    park({"1.0", "2", "30e-1", "\"\\u0041\"", "-0"});
    server.cancel("1");
    server.cancel("2.000");
    server.cancel("3");
    server.cancel("\"A\"");
    server.cancel("0");
    for (int i = 0; i < 5; ++i) server.mark("cancel", std::to_string(i));
}

TEST_P(server_ids, MSG_3_ids_come_back_in_the_bytes_in_which_they_came) {
    const std::vector<std::string> ids{"0",
                                       "-0",
                                       "-1",
                                       "1.0",
                                       "1e0",
                                       "10e-1",
                                       "\"\"",
                                       "\"1\"",
                                       "\"\\u0041\"",
                                       "\"\\/\"",
                                       "\"a\\nb\"",
                                       "9007199254740993",
                                       "\"\xE2\x82\xAC\"",
                                       longest_id};
    for (const std::string& id : ids) {
        server.call(id, "echo", R"({"text":"here"})");
        EXPECT_EQ(text_of(server.answer(id)), "here") << id;
    }
}

TEST_P(server_ids, MSG_3_what_can_be_no_id_is_refused) {
    const std::string megabyte = '"' + std::string(1'000'000, 'x') + '"';
    const std::string one_too_long = '"' + std::string(1'025, 'x') + '"';
    for (const std::string& raw : {std::string("1.9"), std::string("true"), std::string("null"), std::string("[1]"),
                                   std::string("9223372036854775808"), one_too_long, megabyte}) {
        SCOPED_TRACE(raw.substr(0, 40));
        const std::size_t from = server.lines().size();
        server.call(raw, "park", with_key("refused"));
        const std::string refusal = server.line_with("-32600");
        EXPECT_LT(refusal.size(), 400U);
        EXPECT_THAT(refusal, HasSubstr(raw.size() > 100 ? "the id is too long" : "the id is neither a string nor"));
        server.fence();
        EXPECT_EQ(server.lines().size(), from + 2);
    }
    EXPECT_FALSE(server.marked("start", "refused"));
    // And in a cancel it is one of nobody.
    server.cancel(megabyte);
    server.fence();
}

/// Where the cancel stands.
TEST_P(server_ids, RCV_1_a_cancel_in_the_same_write_as_its_request) {
    server.write(call_line(GetParam(), "71", "park", with_key("parked")) + '\n' + cancel_line("71") + '\n' +
                 call_line(GetParam(), "72", "block", with_key("blocked", R"("ms":0)")) + '\n' + cancel_line("72") +
                 '\n');
    server.mark("cancel", "parked");
    const int used = server.until_free("71");
    server.fence();
    EXPECT_EQ(server.answers("71"), used);
    // The other had a thread to run on; whether it was quicker than its cancel is settled one way.
    server.wait_until([&] { return server.answers("72") + server.times_logged("request 72 (") > 0; }, "its end");
    server.fence();
    EXPECT_EQ(server.answers("72") + server.times_logged("request 72 ("), 1);
}

TEST_P(server_ids, RCV_5_a_cancel_before_its_request_is_forgotten) {
    server.write(cancel_line("71") + '\n' + call_line(GetParam(), "71", "echo", R"({"text":"after"})") + '\n');
    EXPECT_EQ(text_of(server.answer("71")), "after");
}

TEST_P(server_ids, RCV_5_a_cancel_after_its_answer_changes_nothing) {
    server.write(call_line(GetParam(), "71", "echo", R"({"text":"once"})") + '\n' + cancel_line("71") + '\n' +
                 call_line(GetParam(), "71", "echo", R"({"text":"again"})") + '\n');
    EXPECT_EQ(text_of(server.answer("71")), "once");
    EXPECT_EQ(text_of(server.answer("71")), "again");
}

INSTANTIATE_TEST_SUITE_P(stdio, server_ids, testing::ValuesIn(all_revisions), revision_name());

/// The handshake itself.
class server_handshake : public testing::TestWithParam<revision> {};

TEST_P(server_handshake, DIR_4_a_cancel_of_initialize_is_ignored) {
    server_process server(GetParam());
    const std::string hello =
        request_line(GetParam(), "1", "initialize",
                     R"("protocolVersion":")" + std::string(to_string(GetParam())) +
                         R"(","capabilities":{},"clientInfo":{"name":"impatient","version":"1"})");
    server.write(cancel_line("1") + '\n' + hello + '\n' + cancel_line("1", R"("changed my mind")") + '\n');
    EXPECT_EQ(server.answer("1").at("result").at("protocolVersion").as_string(), to_string(GetParam()));
    server.cancel("1");
    server.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    server.fence();
    EXPECT_EQ(server.answers("1"), 1);
    EXPECT_EQ(server.times_logged("cancelled: peer"), 0);
}

INSTANTIATE_TEST_SUITE_P(stdio, server_handshake,
                         testing::Values(revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18,
                                         revision::v2025_11_25),
                         revision_name());

}  // namespace
}  // namespace andon
