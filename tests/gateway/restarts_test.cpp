// The policy `restart`: a server that ignores a cancel is killed with all that it started, and started again.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr auto grace = 300ms;
const auto and_a_half_second = sanitized ? 5'000ms : 500ms;

struct restart_case {
    const char* name;
    hosted how;
    const char* tool;
};

void PrintTo(const restart_case& which, std::ostream* to) { *to << which.name; }

class restarted : public testing::TestWithParam<restart_case> {
protected:
    in_front front{GetParam().how,
                   {.arguments = {"--trap", "--stay"}, .keys = "grace = \"300ms\"\non_ignored = \"restart\""}};
};

TEST_P(restarted, RCV_2_everything_is_dead_within_the_grace_time_and_half_a_second) {
    front.open();
    const std::string tool = GetParam().tool;
    front.call("1", tool, with_key("k"), R"("progressToken":1)");
    const auto begun = front.began("k");
    std::vector<process_watch> all;
    if (tool == "fork") all = front.children("k");
    all.emplace_back(begun.pid);
    front.call("2", "sleep", with_key("beside"));
    static_cast<void>(front.began("beside"));
    // Alone in flight, or its process's doings could be the other's: that one is cancelled, too.
    const bool seen_beside_others = tool == "tick";
    if (!seen_beside_others) front.cancel("2");
    const auto asked = std::chrono::steady_clock::now();
    front.cancel("1");
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_LT(std::chrono::steady_clock::now() - asked, grace + and_a_half_second);

    if (seen_beside_others) {
        const json::object other = front.answer("2");
        EXPECT_EQ(code_of(other), -32603);
        EXPECT_THAT(message_of(other), HasSubstr("the server was killed: it ignored the cancel of " + tool));
    }
    EXPECT_NE(front.asked("pid"), std::to_string(begun.pid));
    const json::object entry = front.entry(tool);
    EXPECT_EQ(entry.at("evidence").as_string(), "killed");
    EXPECT_TRUE(entry.at("ignored").as_bool());
    EXPECT_EQ(entry.at("killed").as_int64(), static_cast<std::int64_t>(all.size()));
    EXPECT_EQ(front.event("cancel_ignored", tool).at("doing").as_string(), "its process is killed");
    front.expect_silence("1");
    if (front.how() == hosted::wrap) return;
    EXPECT_THAT(front.figures(), HasSubstr("\nandon_restarts_total{server=\"s\"} 1\n"));
    // Each process once, also where two calls went with it.
    EXPECT_THAT(front.figures(),
                HasSubstr("\nandon_processes_killed_total{server=\"s\"} " + std::to_string(all.size()) + '\n'));
}

constexpr restart_case all_ways[] = {
    {"wrap_progress", hosted::wrap, "tick"},
    {"wrap_processor", hosted::wrap, "burn"},
    {"wrap_children", hosted::wrap, "fork"},
    {"legacy_progress", hosted::legacy_gateway, "tick"},
    {"legacy_children", hosted::legacy_gateway, "fork"},
    {"modern_progress", hosted::modern_gateway, "tick"},
    {"modern_children", hosted::modern_gateway, "fork"},
};
INSTANTIATE_TEST_SUITE_P(gateway, restarted, testing::ValuesIn(all_ways),
                         [](const auto& each) { return each.param.name; });

/// The methods, and what is said with those that carry something.
std::vector<std::string> told(in_front& front) {
    std::vector<std::string> all;
    const json::object said = json::parse(front.asked("told")).as_object();
    for (const json::value& each : said.at("told").as_array()) {
        const auto& params = each.at("params").as_object();
        std::string words(each.at("method").as_string());
        for (const char* const key : {"protocolVersion", "level", "uri"}) {
            if (const auto* value = params.if_contains(key)) words += ' ' + std::string(value->as_string());
        }
        all.push_back(std::move(words));
    }
    return all;
}

class repeated : public testing::TestWithParam<hosted> {
protected:
    void prepare(in_front& front) {
        front.open();
        front.request("11", "logging/setLevel", R"("level":"warning")");
        EXPECT_EQ(code_of(front.answer("11")), 0);
        for (const char* const uri : {"a:1", "a:2", "a:3"}) {
            front.request("12", "resources/subscribe", R"("uri":")" + std::string(uri) + '"');
            EXPECT_EQ(code_of(front.answer("12")), 0);
        }
        front.request("13", "resources/unsubscribe", R"("uri":"a:2")");
        EXPECT_EQ(code_of(front.answer("13")), 0);
    }
};

TEST_P(repeated, after_a_kill_the_new_process_is_told_what_the_old_one_was) {
    in_front front(GetParam(), {.keys = "grace = \"100ms\"\non_ignored = \"restart\""});
    prepare(front);
    front.call("1", "burn", with_key("k"));
    static_cast<void>(front.began("k"));
    front.cancel("1");
    static_cast<void>(front.event("cancel_over", "burn"));
    EXPECT_THAT(told(front),
                ElementsAre("initialize 2025-11-25", "notifications/initialized", "logging/setLevel warning",
                            "resources/subscribe a:1", "resources/subscribe a:3"));
}

TEST_P(repeated, after_a_crash_too) {
    in_front front(GetParam(), {.keys = "restart_first = \"10ms\""});
    prepare(front);
    front.call("1", "crash");
    EXPECT_EQ(code_of(front.answer("1")), -32603);
    EXPECT_THAT(told(front),
                ElementsAre("initialize 2025-11-25", "notifications/initialized", "logging/setLevel warning",
                            "resources/subscribe a:1", "resources/subscribe a:3"));
}

/// One subscription for one resource, however it was asked for: a list of what was asked would keep the second.
TEST_P(repeated, a_resource_is_subscribed_to_once_and_not_after_it_was_unsubscribed) {
    in_front front(GetParam(), {.keys = "restart_first = \"10ms\""});
    front.open();
    const auto ask = [&](std::string_view method, std::string_view raw_members) {
        front.request("12", method, raw_members);
        EXPECT_EQ(code_of(front.answer("12")), 0);
    };
    ask("resources/subscribe", R"("uri":"twice:1")");
    ask("resources/subscribe", R"("uri":"twice:1","_meta":{"of":"another part of the host"})");
    ask("resources/subscribe", R"("uri":"gone:1")");
    ask("resources/subscribe", R"("_meta":{},"uri":"gone:1")");
    ask("resources/subscribe", R"("uri":"kept:1")");
    ask("resources/unsubscribe", R"("uri":"gone\u003a1")");
    for (int crash = 0; crash < 2; ++crash) {
        front.call("1", "crash");
        EXPECT_EQ(code_of(front.answer("1")), -32603);
        EXPECT_THAT(told(front), ElementsAre("initialize 2025-11-25", "notifications/initialized",
                                             "resources/subscribe twice:1", "resources/subscribe kept:1"));
    }
}

TEST_P(repeated, isolated_processes_are_told_too_whenever_they_were_started) {
    in_front front(GetParam(), {.keys = "on_ignored = \"isolate\"\nwarm = 2"});
    prepare(front);  // two have been started at its beginning, and are told of each change
    const auto first = told(front);
    EXPECT_THAT(first, testing::Contains("notifications/initialized"));
    EXPECT_THAT(first, testing::Contains("logging/setLevel warning"));
    EXPECT_THAT(first, testing::Contains("resources/subscribe a:3"));
    EXPECT_EQ(std::ranges::count(first, "initialize 2025-11-25"), 1);
    EXPECT_EQ(std::ranges::count(first, "notifications/initialized"), 1);
}

INSTANTIATE_TEST_SUITE_P(gateway, repeated, testing::Values(hosted::wrap, hosted::legacy_gateway), hosted_name());

TEST(restarts, a_policy_of_one_tool_is_for_that_tool) {
    in_front front(hosted::wrap, {.keys = "grace = \"100ms\"",
                                  .tables = "[servers.s.tools.burn]\non_ignored = \"restart\"\n"
                                            "[servers.s.tools.tick]\ngrace = \"50ms\"\n"});
    front.open();
    const std::string first = front.asked("pid");
    front.call("1", "tick", with_key("ticks", R"("ms":400)"), R"("progressToken":1)");
    static_cast<void>(front.began("ticks"));
    front.cancel("1");
    EXPECT_EQ(front.entry("tick").at("evidence").as_string(), "answered late");
    EXPECT_EQ(front.asked("pid"), first);
    front.call("2", "burn", with_key("burns"));
    static_cast<void>(front.began("burns"));
    front.cancel("2");
    EXPECT_EQ(front.entry("burn").at("evidence").as_string(), "killed");
    EXPECT_NE(front.asked("pid"), first);
}

}  // namespace
}  // namespace andon
