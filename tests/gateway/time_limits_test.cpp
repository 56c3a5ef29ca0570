// Limits that andon sets for a host that set none: the host gets an error, and the server the cancel.
#include <gmock/gmock.h>

#include "gateway/in_front.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

struct limit_case {
    const char* name;
    hosted how;
    const char* keys;
    const char* tables;
    const char* tool;
    const char* arguments;
    std::chrono::milliseconds after;  // at the earliest
};

void PrintTo(const limit_case& which, std::ostream* to) { *to << which.name; }

class limited : public testing::TestWithParam<limit_case> {
protected:
    in_front front{GetParam().how, {.keys = GetParam().keys, .tables = GetParam().tables}};
};

TEST_P(limited, TIME_2_the_host_is_answered_and_the_server_told_with_the_right_id) {
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");  // within every limit
    front.call("7", GetParam().tool, with_key("k", GetParam().arguments), R"("progressToken":"t")");
    const auto begun = front.began("k");
    const auto since = std::chrono::steady_clock::now();
    const json::object said = front.answer("7");
    EXPECT_GE(std::chrono::steady_clock::now() - since, GetParam().after - 50ms);
    EXPECT_EQ(code_of(said), -32001);
    EXPECT_THAT(message_of(said), HasSubstr("longer than its time limit"));
    front.andon().mark("cancelled", begun.id);
    const json::object entry = front.entry(GetParam().tool);
    EXPECT_EQ(entry.at("end").as_string(), "timed out");
    EXPECT_EQ(entry.at("cause").as_string(), "timeout");
    EXPECT_EQ(entry.at("asked_by").as_string(), "time limit");
    EXPECT_EQ(front.asked("echo"), "done");
}

constexpr limit_case all_limits[] = {
    {"wrap_timeout", hosted::wrap, "timeout = \"200ms\"", "", "obey", "", 200ms},
    {"legacy_timeout", hosted::legacy_gateway, "timeout = \"200ms\"", "", "obey", "", 200ms},
    {"modern_timeout", hosted::modern_gateway, "timeout = \"200ms\"", "", "obey", "", 200ms},
    {"wrap_TIME_4_maximum_whatever_progress", hosted::wrap,
     "timeout = \"200ms\"\nmax_timeout = \"600ms\"\ngrace = \"100ms\"", "", "tick", R"("ms":1000)", 600ms},
    {"modern_TIME_4_maximum_whatever_progress", hosted::modern_gateway,
     "timeout = \"200ms\"\nmax_timeout = \"600ms\"\ngrace = \"100ms\"", "", "tick", R"("ms":1000)", 600ms},
    {"wrap_maximum_without_progress", hosted::wrap, "max_timeout = \"300ms\"", "", "obey", "", 300ms},
    {"wrap_progress_that_does_not_count", hosted::wrap,
     "timeout = \"200ms\"\nprogress_restarts_timeout = false\ngrace = \"100ms\"", "", "tick", R"("ms":1000)", 200ms},
    {"wrap_TIME_5_of_one_tool", hosted::wrap, "timeout = \"1m\"", "[servers.s.tools.obey]\ntimeout = \"200ms\"\n",
     "obey", "", 200ms},
    {"legacy_TIME_5_of_one_tool", hosted::legacy_gateway, "timeout = \"1m\"",
     "[servers.s.tools.obey]\ntimeout = \"200ms\"\n", "obey", "", 200ms},
};
INSTANTIATE_TEST_SUITE_P(gateway, limited, testing::ValuesIn(all_limits),
                         [](const auto& each) { return each.param.name; });

class in_time : public testing::TestWithParam<hosted> {};

TEST_P(in_time, TIME_3_progress_restarts_the_clock) {
    in_front front(GetParam(), {.keys = "timeout = \"400ms\""});
    front.open();
    front.call("1", "tick", with_key("k", R"("ms":1200,"every":50)"), R"("progressToken":"t")");
    EXPECT_EQ(text_of(front.answer("1")), "done");
    EXPECT_EQ(front.andon().times_logged("notifications/cancelled"), 0);
}

TEST_P(in_time, SND_1_the_late_answer_of_a_call_that_timed_out_is_dropped) {
    in_front front(GetParam(), {.keys = "timeout = \"100ms\"\ngrace = \"100ms\""});
    front.open();
    front.call("1", "sleep", with_key("k", R"("ms":500,"text":"late")"));
    EXPECT_EQ(code_of(front.answer("1")), -32001);
    front.andon().mark("answered", "k");
    const json::object entry =
        front.entry("sleep", [](const json::object& each) { return each.at("ignored").as_bool(); });
    EXPECT_EQ(entry.at("evidence").as_string(), "answered late");
    EXPECT_EQ(entry.at("late_messages").as_int64(), 1);
    EXPECT_EQ(front.asked("echo"), "done");
    if (front.how() == hosted::wrap) {
        EXPECT_EQ(front.andon().heard("late"), 0);
    }
}

// tasks/result waits for the end of a task, which gives signs of life of its own (2025-11-25).

struct task_case {
    const char* name;
    hosted how;
    const char* keys;
    const char* way;
    bool in_time;
};

void PrintTo(const task_case& which, std::ostream* to) { *to << which.name; }

class of_task : public testing::TestWithParam<task_case> {};

TEST_P(of_task, TIME_3_signs_of_life_restart_the_clock_of_its_result) {
    in_front front(GetParam().how, {.keys = GetParam().keys});
    front.open();
    front.request("1", "tools/call",
                  R"("name":"t","task":{},"_meta":{"progressToken":"p"},"arguments":)" +
                      with_key("k", R"("ms":1000,"way":")" + std::string(GetParam().way) + '"'));
    EXPECT_EQ(front.answer("1").at("result").at("task").at("taskId"), "k");
    front.request("2", "tasks/result", R"("taskId":"k")");
    const json::object said = front.answer("2");
    if (GetParam().in_time) {
        EXPECT_EQ(text_of(said), "the task's");
    } else {
        EXPECT_EQ(code_of(said), -32001);
    }
}

constexpr task_case all_tasks[] = {
    {"wrap_progress", hosted::wrap, "timeout = \"400ms\"", "progress", true},
    {"wrap_status", hosted::wrap, "timeout = \"400ms\"", "status", true},
    {"legacy_progress", hosted::legacy_gateway, "timeout = \"400ms\"", "progress", true},
    {"legacy_status", hosted::legacy_gateway, "timeout = \"400ms\"", "status", true},
    {"wrap_none", hosted::wrap, "timeout = \"400ms\"", "", false},
    {"wrap_TIME_4_maximum", hosted::wrap, "timeout = \"400ms\"\nmax_timeout = \"700ms\"", "status", false},
    {"wrap_that_do_not_count", hosted::wrap, "timeout = \"400ms\"\nprogress_restarts_timeout = false", "status", false},
};
INSTANTIATE_TEST_SUITE_P(gateway, of_task, testing::ValuesIn(all_tasks),
                         [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(gateway, in_time, testing::ValuesIn(all_hosts), hosted_name());

}  // namespace
}  // namespace andon
