// 2026-07-28: every request speaks for itself; and both eras on one stream.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr revision modern = revision::v2026_07_28;
constexpr revision legacy = revision::v2025_11_25;

struct modern_server : testing::Test {
    server_process server{modern};
};

TEST_F(modern_server, discover_tells_what_it_speaks) {
    server.send(request_line(modern, "1", "server/discover", ""));
    const json::object result = server.answer("1").at("result").as_object();
    EXPECT_EQ(result.at("resultType").as_string(), "complete");
    const json::array& versions = result.at("supportedVersions").as_array();
    for (const revision each : all_revisions) {
        EXPECT_NE(std::find(versions.begin(), versions.end(), json::value(to_string(each))), versions.end());
    }
    EXPECT_TRUE(result.at("capabilities").at("tools").is_object());
}

TEST_F(modern_server, a_request_without_meta_is_refused) {
    server.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}})");
    EXPECT_EQ(code_of(server.answer("1")), error_code::invalid_params);
    server.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
    EXPECT_EQ(code_of(server.answer("2")), error_code::invalid_params);
    server.send(R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":)"
                R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    EXPECT_EQ(code_of(server.answer("3")), error_code::invalid_params) << "clientCapabilities are missing";
    server.fence();
}

TEST_F(modern_server, a_version_that_it_does_not_speak_is_refused_with_those_that_it_does) {
    for (const std::string_view raw : {R"("2031-01-01")", "\"\"", "7", "null"}) {
        server.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":)"
                    R"({"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":)" +
                    std::string(raw) + "}}}");
        const json::object refusal = server.answer("1");
        EXPECT_EQ(code_of(refusal), error_code::unsupported_version) << raw;
        EXPECT_THAT(json::serialize(refusal.at("error").at("data").at("supported")), HasSubstr("2026-07-28"));
    }
}

TEST_F(modern_server, every_result_says_that_it_is_complete) {
    server.call("1", "echo", R"({"text":"x"})");
    server.send(request_line(modern, "2", "tools/list", ""));
    server.call("3", "echo", R"({"wrong":"x"})");  // the error of a tool is a result too
    for (const std::string_view id : {"1", "2", "3"}) {
        EXPECT_EQ(server.answer(id).at("result").at("resultType").as_string(), "complete") << id;
    }
    server.send(request_line(modern, "4", "ping", ""));
    EXPECT_EQ(code_of(server.answer("4")), error_code::method_not_found);
}

TEST_F(modern_server, log_messages_are_asked_for_by_each_request) {
    const auto wait = [&](std::string_view id, std::string_view level) {
        const std::string meta =
            level.empty() ? std::string() : R"("io.modelcontextprotocol/logLevel":")" + std::string(level) + '"';
        server.call(id, "wait_ignore", R"({"ms":10,"tick_ms":2})", meta);
        EXPECT_EQ(code_of(server.answer(id)), 0);
        return server.heard("notifications/message");
    };
    EXPECT_EQ(wait("1", ""), 0);
    EXPECT_EQ(wait("2", "error"), 0) << "the tool has warnings";
    EXPECT_EQ(wait("3", "warning"), 5);
    EXPECT_EQ(wait("4", ""), 5) << "it held for that request alone";
    server.call("5", "echo", R"({"text":"x"})", R"("io.modelcontextprotocol/logLevel":"loud")");
    EXPECT_EQ(code_of(server.answer("5")), error_code::invalid_params);
}

TEST_F(modern_server, DIR_1_a_question_is_an_answer_and_no_request) {
    server.call("1", "ask", with_key("asks"));
    const json::object first = server.answer("1").at("result").as_object();
    EXPECT_EQ(first.at("resultType").as_string(), "input_required");
    const json::object& questions = first.at("inputRequests").as_object();
    ASSERT_EQ(questions.size(), 1U);
    const std::string members =
        R"("name":"ask","arguments":{"key":"asks"},"inputResponses":{")" + std::string(questions.begin()->key()) +
        R"(":{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}},"requestState":)" +
        json::serialize(first.at("requestState"));
    server.send(request_line(modern, "2", "tools/call", members));
    const json::object second = server.answer("2");
    EXPECT_EQ(text_of(second), "hi");
    server.fence();
    EXPECT_EQ(server.heard(R"("method":)"), 1) << "the question inside of the answer";
}

TEST_F(modern_server, DIR_2_a_server_sends_no_cancel) {
    server.call("1", "ask", with_key("asks"));
    server.answer("1");
    server.call("2", "park", with_key("parked"));
    server.mark("start", "parked");
    server.cancel("2");
    server.mark("cancel", "parked");
    server.fence();
    EXPECT_EQ(server.heard("notifications/cancelled"), 0);
}

/// One stream: a session begun with initialize, and requests that need none.
struct both_eras : testing::Test {
    both_eras() { server.open(); }
    server_process server{legacy};
};

TEST_F(both_eras, each_request_is_answered_in_its_own) {
    server.send(call_line(legacy, "1", "echo", R"({"text":"old"})"));
    server.send(call_line(modern, "2", "echo", R"({"text":"new"})"));
    EXPECT_EQ(server.answer("1").at("result").as_object().if_contains("resultType"), nullptr);
    EXPECT_EQ(server.answer("2").at("result").at("resultType").as_string(), "complete");
    server.send(request_line(modern, "3", "server/discover", ""));
    EXPECT_EQ(code_of(server.answer("3")), 0);
    server.send(R"({"jsonrpc":"2.0","id":4,"method":"ping"})");
    EXPECT_EQ(code_of(server.answer("4")), 0);
}

TEST_F(both_eras, RCV_3_a_cancel_finds_the_request_of_either) {
    server.send(call_line(modern, "1", "park", with_key("new")));
    server.send(call_line(legacy, "2", "park", with_key("old")));
    server.mark("start", "old");
    server.cancel("1");
    server.mark("cancel", "new");
    EXPECT_FALSE(server.marked("cancel", "old"));
    server.cancel("2");
    server.mark("cancel", "old");
    server.fence();
    EXPECT_EQ(server.answers("1") + server.answers("2"), 0);
}

TEST_F(both_eras, RCV_10_an_id_in_flight_in_one_is_taken_in_the_other) {
    server.send(call_line(modern, "1", "park", with_key("new")));
    server.send(call_line(legacy, "1", "park", with_key("old")));
    EXPECT_EQ(code_of(server.answer("1")), error_code::invalid_request);
    EXPECT_FALSE(server.marked("start", "old"));
}

}  // namespace
}  // namespace andon
