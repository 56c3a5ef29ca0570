// Work that goes on after its cancel, and the policy `drop`: the host hears nothing more, everybody else hears of it.
#include <gmock/gmock.h>

#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ignoring_case {
    const char* name;
    hosted how;
    const char* tool;
    bool ends;  // by an answer, which comes late
};

void PrintTo(const ignoring_case& which, std::ostream* to) { *to << which.name; }

class ignored : public testing::TestWithParam<ignoring_case> {
protected:
    in_front front{GetParam().how, {.keys = "grace = \"200ms\""}};
};

std::string figure(const std::string& name, const std::string& value) { return "\n" + name + ' ' + value + '\n'; }

TEST_P(ignored, RCV_4_drop_says_so_everywhere_and_nothing_to_the_host) {
    front.open();
    const std::string tool = GetParam().tool;
    front.call("1", tool, with_key("k", GetParam().ends ? R"("ms":900)" : ""), R"("progressToken":"t")");
    const auto begun = front.began("k");
    front.cancel("1", "\"enough\"");
    front.expect_silence("1");
    EXPECT_THAT(front.andon().mark("cancelled", begun.id), HasSubstr(front.modern() ? "" : "enough"));

    const json::object line = front.event("cancel_ignored", tool);
    EXPECT_EQ(line.at("doing").as_string(), "its answer will be dropped");
    EXPECT_EQ(line.at("cause").as_string(), front.modern() ? "disconnect" : "peer");

    if (GetParam().ends) {
        const json::object entry = front.entry(tool);
        EXPECT_TRUE(entry.at("ignored").as_bool());
        EXPECT_EQ(entry.at("evidence").as_string(), "answered late");
        EXPECT_GE(entry.at("late_messages").as_int64(), 1);
        EXPECT_GE(entry.at("time_to_stop_ms").to_number<double>(), 200);
        EXPECT_EQ(entry.at("killed").as_int64(), 0);
        EXPECT_EQ(front.event("cancel_over", tool).at("evidence").as_string(), "answered late");
    } else {
        EXPECT_EQ(front.shown(tool, "ignoring").at("pid").as_int64(), begun.pid);
    }
    if (front.how() != hosted::wrap) {
        const std::string figures = front.figures();
        EXPECT_THAT(figures, HasSubstr(figure(R"(andon_cancels_ignored_total{server="s"})", "1")));
        EXPECT_THAT(figures, HasSubstr(figure(R"(andon_restarts_total{server="s"})", "0")));
        EXPECT_THAT(figures, HasSubstr(figure(R"(andon_requests_in_flight{server="s"})", "0")));
        EXPECT_THAT(figures, HasSubstr(figure(R"(andon_requests_stopping{server="s"})", GetParam().ends ? "0" : "1")));
        if (tool == "tick" || GetParam().ends) {
            EXPECT_THAT(figures, Not(HasSubstr(figure(R"(andon_late_messages_dropped_total{server="s"})", "0"))));
        }
    }
    // It is still there, and others can be called.
    EXPECT_EQ(front.asked("pid"), std::to_string(begun.pid));
    if (front.how() == hosted::wrap) {
        EXPECT_EQ(front.andon().answers("1"), 0);
        const std::size_t cancelled_at = front.andon().lines().size();
        EXPECT_EQ(front.asked("echo"), "done");
        EXPECT_EQ(front.andon().heard("notifications/progress", cancelled_at), 0);
    }
}

constexpr ignoring_case all_ways[] = {
    {"wrap_progress", hosted::wrap, "tick", false},
    {"wrap_progress_and_a_late_answer", hosted::wrap, "tick", true},
    {"wrap_processor", hosted::wrap, "burn", false},
    {"wrap_processor_and_a_late_answer", hosted::wrap, "burn", true},
    {"wrap_children", hosted::wrap, "fork", false},
    {"legacy_progress", hosted::legacy_gateway, "tick", false},
    {"legacy_processor_and_a_late_answer", hosted::legacy_gateway, "burn", true},
    {"legacy_children", hosted::legacy_gateway, "fork", false},
    {"modern_progress", hosted::modern_gateway, "tick", false},
    {"modern_processor_and_a_late_answer", hosted::modern_gateway, "burn", true},
    {"modern_children", hosted::modern_gateway, "fork", false},
};
INSTANTIATE_TEST_SUITE_P(gateway, ignored, testing::ValuesIn(all_ways),
                         [](const auto& each) { return each.param.name; });

class silent : public testing::TestWithParam<hosted> {};

TEST_P(silent, SND_1_a_silent_one_is_taken_for_stopped_until_it_answers) {
    in_front front(GetParam(), {.keys = "grace = \"100ms\""});
    front.open();
    front.call("1", "sleep", with_key("k", R"("ms":800)"));
    static_cast<void>(front.began("k"));
    front.cancel("1");
    EXPECT_EQ(front.entry("sleep").at("evidence").as_string(), "quiet");
    front.andon().mark("answered", "k");
    const json::object entry =
        front.entry("sleep", [](const json::object& each) { return each.at("ignored").as_bool(); });
    EXPECT_EQ(entry.at("evidence").as_string(), "answered late");
    EXPECT_EQ(entry.at("late_messages").as_int64(), 1);
    EXPECT_THAT(front.entries("sleep"), testing::SizeIs(1)) << "what it was taken for first is corrected";
    EXPECT_EQ(front.event("cancel_ignored", "sleep").at("doing").as_string(),
              "its answer, which came late, is dropped");
    front.expect_silence("1");
    if (front.how() == hosted::wrap) return;
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_cancels_ignored_total{server="s"})", "1")));
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_late_messages_dropped_total{server="s"})", "1")));
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_requests_in_flight{server="s"})", "0")));
}

TEST_P(silent, RCV_1_one_that_obeys_is_quiet_at_once) {
    in_front front(GetParam(), {});
    front.open();
    front.call("1", "obey", with_key("k"));
    static_cast<void>(front.began("k"));
    front.cancel("1");
    front.andon().mark("obeyed", "k");
    const json::object entry = front.entry("obey");
    EXPECT_EQ(entry.at("evidence").as_string(), "quiet");
    EXPECT_FALSE(entry.at("ignored").as_bool());
    EXPECT_LT(entry.at("time_to_stop_ms").to_number<double>(), sanitized ? 2'000 : 1'000);
}

/// Its ticks are farther apart than the looks: between two of them it seems to have stopped.
TEST_P(silent, progress_after_it_was_taken_for_stopped_opens_the_case_again) {
    in_front front(GetParam(), {.keys = "grace = \"300ms\""});
    front.open();
    // Never heard of before its cancel, so that nothing tells how often it will be.
    front.call("1", "tick", with_key("k", R"("every":400,"ms":60000,"first":400)"), R"("progressToken":1)");
    static_cast<void>(front.began("k"));
    front.cancel("1");
    EXPECT_EQ(front.entry("tick").at("evidence").as_string(), "quiet");
    static_cast<void>(front.shown("tick", "ignoring"));
    static_cast<void>(front.event("cancel_ignored", "tick"));
    front.expect_silence("1");
    if (front.how() == hosted::wrap) return;
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_cancels_ignored_total{server="s"})", "1")));
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_requests_in_flight{server="s"})", "0")));
    EXPECT_THAT(front.figures(), HasSubstr(figure(R"(andon_requests_stopping{server="s"})", "1")));
}

/// In flight, asked to stop, taken for stopped, heard of again, and over.
TEST_P(silent, figures_follow_a_call_to_its_last_end) {
    if (GetParam() == hosted::wrap) GTEST_SKIP() << "it has none";
    in_front front(GetParam(), {.keys = "grace = \"100ms\""});
    front.open();
    const auto shows = [&](const std::string& in_flight, const std::string& stopping) {
        const std::string figures = front.figures();
        return figures.find(figure(R"(andon_requests_in_flight{server="s"})", in_flight)) != std::string::npos &&
               figures.find(figure(R"(andon_requests_stopping{server="s"})", stopping)) != std::string::npos;
    };
    front.call("1", "tick", with_key("k", R"("every":400,"ms":2400,"first":800)"), R"("progressToken":1)");
    static_cast<void>(front.began("k"));
    EXPECT_TRUE(shows("1", "0"));
    front.cancel("1");
    EXPECT_EQ(front.entry("tick").at("evidence").as_string(), "quiet");
    static_cast<void>(front.shown("tick", "ignoring"));
    EXPECT_TRUE(shows("0", "1"));
    front.andon().mark("answered", "k");
    EXPECT_TRUE(eventually([&] { return shows("0", "0"); })) << front.figures();
}

TEST_P(silent, work_of_a_call_that_ignores_is_not_held_against_another) {
    in_front front(GetParam(), {.keys = "grace = \"200ms\""});
    front.open();
    front.call("1", "burn", with_key("burns"));
    static_cast<void>(front.began("burns"));
    front.cancel("1");
    static_cast<void>(front.shown("burn", "ignoring"));
    front.call("2", "obey", with_key("obeys"));
    static_cast<void>(front.began("obeys"));
    // One that is in flight beside it tells nothing of the first.
    static_cast<void>(front.shown("obey", "running"));
    static_cast<void>(front.shown("burn", "ignoring"));
    front.cancel("2");
    const json::object entry = front.entry("obey");
    EXPECT_EQ(entry.at("evidence").as_string(), "unseen");
    EXPECT_FALSE(entry.at("ignored").as_bool());
    static_cast<void>(front.shown("burn", "ignoring"));
}

INSTANTIATE_TEST_SUITE_P(gateway, silent, testing::ValuesIn(all_hosts), hosted_name());

/// A call that was cancelled is remembered, for an answer that comes late; what it weighs is not.
TEST(wrapped, RCV_2_what_a_cancelled_call_brought_is_given_back) {
    in_front front(hosted::wrap, {});
    front.open();
    const std::string token = R"("progressToken":")" + std::string(6'000'000, 'z') + '"';
    const auto cancelled = [&](int count) {
        for (int i = 0; i < count; ++i) {
            const std::string key = 'k' + std::to_string(count) + '.' + std::to_string(i);
            front.call("1", "obey", with_key(key), token);
            static_cast<void>(front.began(key));
            front.cancel("1");
            front.andon().mark("obeyed", key);
            EXPECT_TRUE(eventually([&] { return front.in_flight().empty(); }));
        }
    };
    cancelled(2);
    const long before = front.andon().status("VmRSS");
    cancelled(12);
    EXPECT_LT(front.andon().status("VmRSS") - before, kibibytes(48 * 1'024));
}

TEST(wrapped, standard_error_that_floods_holds_up_nothing) {
    in_front front(hosted::wrap, {});
    front.open();
    front.call("1", "flood", R"({"kib":4096})");
    EXPECT_EQ(text_of(front.answer("1")), "done");
}

}  // namespace
}  // namespace andon
