// What `andon check --client` makes of what a client does, with every moment in the test's hand.
#include "check/client_watch.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <variant>

namespace andon::check {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string call(int id, const std::string& tool, const std::string& arguments = "{}", bool modern = false) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" + tool +
           R"(","arguments":)" + arguments +
           (modern ? "," + std::string(modern_meta) : R"(,"_meta":{"progressToken":1})") + "}}";
}

std::string cancel(const std::string& params) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)" + params + "}";
}

/// One thing after another: a message, a time that passes, or a stream that the client leaves.
struct leaves {
    std::size_t stream;
};
using event = std::variant<std::string, milliseconds, leaves>;

struct watched {
    std::string name;
    bool http;
    std::vector<event> events;
    std::string rule;
    result expected;
    friend void PrintTo(const watched& what, std::ostream* out) { *out << what.name; }
};

class client_rules : public testing::TestWithParam<watched> {};

TEST_P(client_rules, are_judged) {
    client_watch watch(GetParam().http);
    time_point now{1h};
    std::size_t streams = 0;
    for (const event& each : GetParam().events) {
        if (const auto* const time = std::get_if<milliseconds>(&each)) {
            for (const time_point until = now + *time; now < until; now += 10ms) watch.tick(now);
        } else if (const auto* const gone = std::get_if<leaves>(&each)) {
            watch.left(gone->stream, now);
        } else {
            const json::object message = json::parse(std::get<std::string>(each)).as_object();
            watch.take(message, message.contains("id") ? ++streams : 0, now);
        }
    }
    bool seen = false;
    for (const checked_rule& rule : watch.findings(now)) {
        const std::string words = rule.id + ": " + std::string(to_string(rule.found.what)) + ", " + rule.found.evidence;
        if (rule.id == GetParam().rule) {
            seen = true;
            EXPECT_EQ(rule.found.what, GetParam().expected) << words;
        } else {
            EXPECT_NE(rule.found.what, result::fail) << "blamed: " << words;
        }
    }
    EXPECT_TRUE(seen);
}

const std::string initialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"}}})";
const std::string as_task =
    R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"make_task","arguments":{},"task":{}}})";

INSTANTIATE_TEST_SUITE_P(
    check, client_rules,
    testing::Values(
        watched{"MSG_1_a_good_cancel",
                false,
                {initialize, call(2, "slow"), cancel(R"({"requestId":2,"reason":"x"})")},
                "MSG-1",
                result::pass},
        watched{"MSG_1_no_id", false, {initialize, call(2, "slow"), cancel("{}")}, "MSG-1", result::fail},
        watched{"MSG_1_an_id_that_is_none",
                false,
                {initialize, call(2, "slow"), cancel(R"({"requestId":2.5})")},
                "MSG-1",
                result::fail},
        watched{"MSG_1_a_reason_that_is_none",
                false,
                {initialize, call(2, "slow"), cancel(R"({"requestId":2,"reason":7})")},
                "MSG-1",
                result::fail},
        watched{"MSG_1_nothing_was_cancelled", false, {initialize, call(2, "slow")}, "MSG-1", result::not_observable},
        watched{"DIR_3_never_sent", false, {initialize, cancel(R"({"requestId":77})")}, "DIR-3", result::fail},
        watched{"DIR_3_the_id_in_another_type",
                false,
                {initialize, call(2, "slow"), cancel(R"({"requestId":"2"})")},
                "DIR-3",
                result::fail},
        watched{"DIR_3_long_answered",
                false,
                {initialize, call(2, "hello"), 2000ms, cancel(R"({"requestId":2})")},
                "DIR-3",
                result::fail},
        watched{"DIR_3_answered_at_that_moment",
                false,
                {initialize, call(2, "hello"), 50ms, cancel(R"({"requestId":2})")},
                "DIR-3",
                result::pass},
        watched{"DIR_4_initialize", false, {initialize, cancel(R"({"requestId":1})")}, "DIR-4", result::fail},
        watched{"DIR_5_a_notification_for_a_task",
                false,
                {initialize, as_task, cancel(R"({"requestId":5})")},
                "DIR-5",
                result::fail},
        watched{"SND_1_goes_on",
                false,
                {initialize, call(2, "answers_late"), cancel(R"({"requestId":2})"), 500ms, call(3, "hello")},
                "SND-1",
                result::pass},
        watched{"SND_1_says_nothing_more",
                false,
                {initialize, call(2, "answers_late"), cancel(R"({"requestId":2})"), 500ms},
                "SND-1",
                result::not_observable},
        watched{"SND_3_cancelled",
                false,
                {initialize, call(2, "slow"), cancel(R"({"requestId":2})")},
                "SND-3",
                result::pass},
        watched{"SND_4_closes", true, {call(2, "slow", "{}", true), leaves{1}}, "SND-4", result::pass},
        watched{"SND_4_posts_instead",
                true,
                {call(2, "slow", "{}", true), cancel(R"({"requestId":2})")},
                "SND-4",
                result::fail},
        watched{
            "SND_5_posts", true, {initialize, call(2, "slow"), cancel(R"({"requestId":2})")}, "SND-5", result::pass},
        watched{"SND_5_closes_and_then_posts",
                true,
                {initialize, call(2, "slow"), leaves{2}, cancel(R"({"requestId":2})")},
                "SND-5",
                result::pass},
        watched{"SND_5_only_closes", true, {initialize, call(2, "slow"), leaves{2}, 2000ms}, "SND-5", result::fail},
        watched{"TIME_2_cancelled",
                false,
                {initialize, call(2, "never_answers", R"({"timeout_ms":500})"), 500ms, cancel(R"({"requestId":2})")},
                "TIME-2",
                result::pass},
        watched{"TIME_2_forgotten",
                false,
                {initialize, call(2, "never_answers", R"({"timeout_ms":500})"), 4000ms},
                "TIME-2",
                result::fail},
        watched{"TIME_4_forgotten",
                false,
                {initialize, call(2, "endless_progress", R"({"timeout_ms":500})"), 4000ms},
                "TIME-4",
                result::fail},
        watched{"TIME_4_left_before_its_time",
                false,
                {initialize, call(2, "endless_progress", R"({"timeout_ms":5000})"), 100ms},
                "TIME-4",
                result::not_observable}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace andon::check
