// Lines that no honest client writes: each is answered or ignored as it must be, and the next line is served.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>

#include "andon/wire/error.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string repeated(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::string cancelled_with(std::string_view raw_params) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled")" +
           (raw_params.empty() ? std::string() : R"(,"params":)" + std::string(raw_params)) + '}';
}

struct line_case {
    std::string name;
    std::string line;
    int code = 0;  // of the error that answers it; 0: nobody answers
};

class with_line : public testing::TestWithParam<std::tuple<revision, line_case>> {
protected:
    void SetUp() override {
        server.open();
        server.call("71", "park", with_key("bystander"));
        server.mark("start", "bystander");
    }
    [[nodiscard]] static const line_case& given() { return std::get<1>(GetParam()); }
    /// The one that was in flight all the time is so still, and can be cancelled.
    void expect_bystander_untouched() {
        EXPECT_FALSE(server.marked("cancel", "bystander"));
        server.cancel("71");
        server.mark("cancel", "bystander");
        const int used = server.until_free("71");
        server.fence();
        EXPECT_EQ(server.answers("71"), used);
    }

    server_process server{std::get<0>(GetParam())};
};
const auto name_of_line = [](const auto& each) {
    return name_of(std::get<0>(each.param)) + '_' + std::get<1>(each.param).name;
};

class malformed_cancel : public with_line {};

TEST_P(malformed_cancel, RCV_6_is_ignored_and_logged) {
    const std::size_t from = server.lines().size();
    const int logged = server.times_logged("andon: warning: ");
    server.send(given().line);
    server.wait_until([&] { return server.times_logged("andon: warning: ") > logged; }, "a line in the log");
    server.fence();
    EXPECT_EQ(server.lines().size(), from + 1) << "the fence, and nothing else";
    expect_bystander_untouched();
}

INSTANTIATE_TEST_SUITE_P(
    stdio, malformed_cancel,
    testing::Combine(testing::ValuesIn(all_revisions),
                     testing::Values(line_case{"no_params", cancelled_with("")},
                                     line_case{"params_null", cancelled_with("null")},
                                     line_case{"params_an_array", cancelled_with("[71]")},
                                     line_case{"params_a_string", cancelled_with("\"71\"")},
                                     line_case{"params_the_id", cancelled_with("71")},
                                     line_case{"no_id", cancelled_with("{}")},
                                     line_case{"id_null", cancelled_with(R"({"requestId":null})")},
                                     line_case{"id_true", cancelled_with(R"({"requestId":true})")},
                                     line_case{"id_an_array", cancelled_with(R"({"requestId":[71]})")},
                                     line_case{"id_an_object", cancelled_with(R"({"requestId":{"id":71}})")},
                                     line_case{"id_with_a_fraction", cancelled_with(R"({"requestId":71.5})")},
                                     line_case{"id_in_another_case", cancelled_with(R"({"requestid":71})")},
                                     line_case{"reason_a_number", cancelled_with(R"({"requestId":71,"reason":1})")},
                                     line_case{"reason_null", cancelled_with(R"({"requestId":71,"reason":null})")},
                                     line_case{"reason_an_object", cancelled_with(R"({"requestId":71,"reason":{}})")})),
    name_of_line);

class garbage : public with_line {};

TEST_P(garbage, RCV_6_is_answered_with_an_error_and_the_next_line_is_served) {
    const std::size_t from = server.lines().size();
    server.send(given().line);
    server.fence();
    ASSERT_EQ(server.lines().size(), from + 2) << "one error, and the fence";
    const json::object refusal = json::parse(server.lines()[from]).as_object();
    EXPECT_EQ(code_of(refusal), given().code);
    EXPECT_FALSE(message_of(refusal).empty());
    expect_bystander_untouched();
}

const std::vector<line_case> garbage_lines{
    {"truncated", R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo")", error_code::parse_error},
    {"truncated_string", R"({"jsonrpc":"2.0","id":5,"method":"too)", error_code::parse_error},
    {"no_json", "Hello, server!", error_code::parse_error},
    {"zero_bytes", std::string("{\"jsonrpc\":\"2.0\",\"id\":5,\0\"method\":\"ping\"}", 38), error_code::parse_error},
    {"zero_byte_in_a_string", std::string("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"pi\0ng\"}", 38),
     error_code::parse_error},
    {"only_zero_bytes", std::string(100, '\0'), error_code::parse_error},
    {"invalid_utf_8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xFF\xFE\"}", error_code::parse_error},
    {"overlong_utf_8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xC0\xAF\"}", error_code::parse_error},
    {"half_a_surrogate_pair", R"({"jsonrpc":"2.0","id":5,"method":"\ud800"})", error_code::invalid_request},
    {"two_messages", R"({"jsonrpc":"2.0","id":5,"method":"ping"}{"jsonrpc":"2.0","id":6,"method":"ping"})",
     error_code::parse_error},
    {"deep",
     R"({"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":)" + repeated("[", 100'000) + repeated("]", 100'000) +
         "}}",
     error_code::invalid_request},
    {"deep_and_open", R"({"jsonrpc":"2.0","id":5,"method":"ping","params":)" + repeated("{\"a\":", 100'000),
     error_code::parse_error},
    {"a_number", "71", error_code::invalid_request},
    {"null", "null", error_code::invalid_request},
    {"empty", "{}", error_code::invalid_request},
    {"no_version", R"({"id":5,"method":"ping"})", error_code::invalid_request},
    {"another_version", R"({"jsonrpc":"1.0","id":5,"method":"ping"})", error_code::invalid_request},
    {"method_a_number", R"({"jsonrpc":"2.0","id":5,"method":7})", error_code::invalid_request},
    {"two_ids", R"({"jsonrpc":"2.0","id":5,"id":71,"method":"ping"})", error_code::invalid_request},
    {"request_and_answer", R"({"jsonrpc":"2.0","id":5,"method":"ping","result":{}})", error_code::invalid_request},
    {"params_an_array", R"({"jsonrpc":"2.0","id":5,"method":"ping","params":[1]})", error_code::invalid_request},
};
INSTANTIATE_TEST_SUITE_P(stdio, garbage,
                         testing::Combine(testing::ValuesIn(all_revisions), testing::ValuesIn(garbage_lines)),
                         name_of_line);

class server_hostile : public served {};

TEST_P(server_hostile, RCV_6_the_method_sent_as_a_request_is_not_found) {
    server.call("71", "park", with_key("parked"));
    server.send(request_line(GetParam(), "72", "notifications/cancelled", R"("requestId":71)"));
    EXPECT_EQ(code_of(server.answer("72")), error_code::method_not_found);
    EXPECT_FALSE(server.marked("cancel", "parked"));
    server.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(server_hostile, MSG_4_a_reason_of_a_megabyte_is_capped) {
    server.call("71", "park", with_key("parked"));
    server.cancel("71", '"' + std::string(1'000'000, 'r') + '"');
    server.mark("cancel", "parked");
    const std::string line = server.logged("cancelled: peer, rrrr");
    EXPECT_LT(line.size(), 1'000U);
    EXPECT_THAT(line, HasSubstr("\xE2\x80\xA6")) << "it says that it was cut";
}

TEST_P(server_hostile, MSG_4_control_characters_are_made_visible_and_forge_no_line) {
    server.call("71", "park", with_key("parked"));
    server.cancel("71", R"("a\nandon: info: forged\r\u001b[2J\u0000\u202e\u009b")");
    server.mark("cancel", "parked");
    EXPECT_THAT(server.logged("cancelled: peer"),
                AllOf(HasSubstr(R"(a\nandon: info: forged\r\x1b[2J\x00\u{202e}\x9b)"), Not(HasSubstr("\x1b"))));
    EXPECT_EQ(server.times_logged("forged"), 1);
}

TEST_P(server_hostile, MSG_4_so_are_those_of_an_id_and_of_a_method) {
    server.call("\"\\u001b[2J\\n\"", "park", with_key("parked"));
    server.mark("start", "parked");
    server.cancel("\"\\u001b[2J\\n\"");
    EXPECT_THAT(server.logged("cancelled: peer"), Not(HasSubstr("\x1b")));
    server.send(request_line(GetParam(), "72", "\\u001b[2J", ""));
    EXPECT_EQ(code_of(server.answer("72")), error_code::method_not_found);
    EXPECT_EQ(server.heard("\x1b"), 0);
}

TEST_P(server_hostile, RCV_6_a_line_one_byte_longer_than_the_limit_is_skipped) {
    constexpr std::size_t limit = std::size_t{16} << 20U;
    const std::string head = R"({"jsonrpc":"2.0","id":71,"method":"ping","params":{"a":")";
    const std::string tail = "\"}}";
    server.send(head + std::string(limit - head.size() - tail.size(), 'x') + tail);
    EXPECT_EQ(code_of(server.answer("71")), 0);
    server.send(head + std::string(limit + 1 - head.size() - tail.size(), 'x') + tail);
    const json::object refusal = server.answer("71");
    EXPECT_EQ(code_of(refusal), error_code::invalid_request);
    EXPECT_THAT(json::serialize(refusal), HasSubstr("too long"));
    server.fence();
    EXPECT_EQ(server.answers("71"), 2);
}

TEST_P(server_hostile, RCV_6_an_endless_line_costs_its_limit_and_no_more) {
    const std::string piece(1'000'000, 'x');
    server.call("71", "park", with_key("parked"));
    server.fence();
    const long before = server.status("VmRSS:");
    for (int i = 0; i < 200; ++i) server.write(piece);
    server.send("");
    EXPECT_THAT(server.line_with("-32600"), HasSubstr("too long"));
    EXPECT_LT(server.status("VmHWM:") - before, kibibytes(64 * 1'024));
    server.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(server_hostile, lines_may_come_byte_by_byte_with_blank_ones_between) {
    const std::string lines = "\n\r\n  \t\n" + call_line(GetParam(), "71", "echo", R"({"text":"slowly"})") + "\r\n\n";
    for (const char c : lines) server.write({&c, 1});
    EXPECT_EQ(text_of(server.answer("71")), "slowly");
    server.fence();
    EXPECT_EQ(server.heard("error"), 0);
}

TEST_P(server_hostile, RCV_6_any_bytes_leave_the_server_alive) {
    std::mt19937 random(2026);
    const std::vector<std::string> seeds{
        call_line(GetParam(), "5", "echo", R"({"text":"seed"})", R"("progressToken":5)"),
        call_line(GetParam(), "\"\\u0041\"", "wait", R"({"ms":1})"), cancel_line("71.5", R"("no \" reason")"),
        R"({"jsonrpc":"2.0","id":1.5e3,"result":{"a":[1,2,{"b":null}]}})"};
    server.call("71", "park", with_key("parked"));
    std::uniform_int_distribution<int> byte(0, 255);
    std::uniform_int_distribution<int> times(1, 4);
    for (int i = 0; i < 2'000; ++i) {
        std::string line = seeds[static_cast<std::size_t>(i) % seeds.size()];
        for (int change = times(random); change > 0; --change) {
            const std::size_t at = random() % line.size();
            if (change % 2 == 0) line.erase(at, random() % 8);
            if (line.empty()) line = "x";
            line[at % line.size()] = static_cast<char>(byte(random));
        }
        server.send(line);
    }
    server.fence();
    server.fence();
    server.cancel("71");
    server.mark("cancel", "parked");
}

TEST_P(server_hostile, RCV_3_the_answers_of_a_batch_are_one_array_without_the_cancelled) {
    const auto call = [&](std::string_view id, std::string_view tool, const std::string& arguments) {
        return call_line(GetParam(), id, tool, arguments);
    };
    const std::string batch = '[' + call("71", "park", with_key("parked")) + ',' +
                              call("72", "echo", R"({"text":"two"})") + ", 1 ," +
                              R"({"jsonrpc":"2.0","id":73,"method":"ping"},)" + cancel_line("\"nobody\"") + ']';
    server.send(batch);
    if (GetParam() != revision::v2025_03_26) {
        EXPECT_THAT(server.line_with("-32600"), HasSubstr("a batch"));
        server.fence();
        EXPECT_FALSE(server.marked("start", "parked"));
        return;
    }
    server.mark("start", "parked");
    server.fence();
    EXPECT_EQ(server.heard(R"("id":72)"), 0) << "the batch is not complete";
    server.cancel("71");
    const json::array answers = json::parse(server.line_with("[")).as_array();
    ASSERT_EQ(answers.size(), 3U);
    int refused = 0;
    std::set<std::int64_t> ids;
    for (const json::value& each : answers) {  // in any order
        const json::value& id = each.at("id");
        if (id.is_int64()) ids.insert(id.get_int64());
        if (id.is_null() && each.at("error").at("code") == error_code::invalid_request) ++refused;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_THAT(ids, testing::ElementsAre(72, 73));
    // The cancel inside of it, and nothing left to say.
    const std::size_t from = server.lines().size();
    server.send('[' + call("74", "park", with_key("inside")) + ',' + cancel_line("74") + ']');
    server.send('[' + cancel_line("75") + ']');
    server.mark("cancel", "inside");
    server.until_free("74");
    server.fence();
    EXPECT_EQ(server.heard("[{", from) - server.heard("content", from), 0) << "no array of answers";
    // A modern request has no place in there.
    server.send('[' + request_line(revision::v2026_07_28, "76", "server/discover", "") + ',' +
                R"({"jsonrpc":"2.0","id":77,"method":"ping"}])");
    const std::string both = server.line_with(R"("id":77)");
    EXPECT_THAT(both, AllOf(HasSubstr(R"("id":76,"error":{"code":-32600)"), HasSubstr(R"("id":77,"result")")));
    server.send("[]");
    EXPECT_THAT(server.line_with("-32600"), HasSubstr("empty batch"));
}

INSTANTIATE_TEST_SUITE_P(stdio, server_hostile, testing::ValuesIn(all_revisions), revision_name());

}  // namespace
}  // namespace andon
