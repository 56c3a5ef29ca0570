// A task as its caller has it: followed, left, picked up again, stopped.
#include "andon/client/pending_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/era_case.hpp"
#include "client/raw_server.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Against a server of ours whose tools are tasks.
class pending_task_test : public testing::TestWithParam<era_case> {
protected:
    pending_task_test() {
        tool("park", [this](call& call) -> async<std::string> {
            started_.add(std::string(call.task_id()));
            co_await call.async_cancelled();
            cancelled_.add(std::string(to_string(call.cause())));
            co_return "parked";
        });
        tool("gate", [this](call& call) {
            started_.add(std::string(call.task_id()));
            call.progress(1, 2, "half way");
            while (!gate_.happened()) call.sleep_for(1ms);
            return "through";
        });
        tool("ask", [](call& call) -> async<std::string> {
            const json::object answer = co_await call.async_elicit({});
            co_return std::string(answer.at("said").as_string());
        });
        tool("fail", [](call&) -> std::string { throw std::runtime_error("it went wrong"); });
        tool("break", [](call&) -> std::string { throw rpc_error(-32050, "it broke", {{"n", 1}}); });
    }
    template <class F>
    void tool(std::string name, F f) {
        server_.tool({.name = std::move(name), .task = task_use::optional}, std::move(f));
    }
    static server_options fast() {
        server_options options = quiet_server();
        options.tasks.poll_interval = 10ms;
        return options;
    }
    [[nodiscard]] static client_options options() { return quiet_client({GetParam().speaks}); }
    [[nodiscard]] static bool legacy() { return era_of(GetParam().speaks) == era::legacy; }

    recorded<std::string> started_;
    recorded<std::string> cancelled_;
    event gate_;
    server server_{fast()};  // last: its threads use the rest
};

INSTANTIATE_TEST_SUITE_P(client, pending_task_test,
                         testing::Values(era_case{"legacy", newest_legacy}, era_case{"modern", newest_modern}),
                         by_name());

TEST_P(pending_task_test, is_followed_to_its_result_and_reports_what_becomes_of_it) {
    auto client = connected(server_, options());
    recorded<std::string> reports;
    const auto task =
        client.call_tool_as_task("gate", {}, {.on_status = [&](const task_report& report) {
                                     reports.add(std::string(to_string(report.status)) + ' ' + report.message);
                                 }});
    EXPECT_EQ(task.id().size(), 40U);
    ASSERT_TRUE(started_.reach(1));
    EXPECT_EQ(started_.all().front(), task.id());
    ASSERT_TRUE(reports.reach(2));
    EXPECT_FALSE(task.done());
    gate_.set();
    EXPECT_EQ(text_of(task.get()), "through");
    EXPECT_EQ(task.report().status, task_status::completed);
    EXPECT_THAT(reports.all(), ElementsAre("working ", "working half way", "completed "));
}

TEST_P(pending_task_test, SND_6_TASK_6_a_cancel_is_over_at_once_and_stops_the_task) {
    auto client = connected(server_, options());
    auto task = client.call_tool_as_task("park");
    const std::string id = task.id();
    ASSERT_TRUE(started_.reach(1));
    EXPECT_TRUE(task.cancel("enough"));
    EXPECT_TRUE(task.done());
    EXPECT_EQ(task.get().status, call_status::cancelled);
    EXPECT_EQ(task.get().message, "enough");
    ASSERT_TRUE(cancelled_.reach(1));
    EXPECT_EQ(cancelled_.all().front(), "peer");
    EXPECT_FALSE(task.cancel());
    // And it stays so, for everybody.
    const auto again = client.follow_task(id);
    EXPECT_EQ(again.get().status, call_status::failed);
    EXPECT_EQ(again.get().code, error_code::request_cancelled);
}

TEST_P(pending_task_test, TASK_7_one_that_was_let_go_works_on_and_another_client_picks_it_up) {
    std::string id;
    {
        auto client = connected(server_, options());
        const auto task = client.call_tool_as_task("gate");
        id = task.id();
        ASSERT_TRUE(started_.reach(1));
    }
    auto client = connected(server_, options());
    const auto task = client.follow_task(id);
    gate_.set();
    EXPECT_EQ(text_of(task.get()), "through");
    EXPECT_EQ(task.id(), id);
    EXPECT_THAT(cancelled_.all(), IsEmpty());
}

TEST_P(pending_task_test, TASK_7_one_that_was_picked_up_can_be_cancelled) {
    std::string id;
    {
        auto client = connected(server_, options());
        id = client.call_tool_as_task("park").id();
    }
    ASSERT_TRUE(started_.reach(1));
    auto client = connected(server_, options());
    EXPECT_TRUE(client.follow_task(id).cancel("seen enough"));
    EXPECT_TRUE(cancelled_.reach(1));
}

TEST_P(pending_task_test, TASK_7_a_cancel_against_the_picking_up) {
    constexpr std::size_t rounds = 500;
    auto client = connected(server_, options());
    auto other = connected(server_, options());
    for (std::size_t i = 1; i <= rounds; ++i) {
        const auto task = client.call_tool_as_task("park");
        const std::string id = task.id();
        ASSERT_TRUE(other.follow_task(id).cancel("at once"));
        ASSERT_TRUE(cancelled_.reach(i)) << "in round " << i;
    }
}

TEST_P(pending_task_test, TASK_7_letting_go_of_one_that_was_just_picked_up_leaves_it_alone) {
    auto client = connected(server_, options());
    const std::string id = client.call_tool_as_task("park").id();
    ASSERT_TRUE(started_.reach(1));
    for (int i = 0; i < 100; ++i) static_cast<void>(client.follow_task(id));
    EXPECT_FALSE(client.list_tools().empty());  // answered behind whatever that sent
    EXPECT_THAT(cancelled_.all(), IsEmpty());
}

TEST_P(pending_task_test, a_client_that_was_closed_follows_nothing_and_hears_nothing) {
    auto client = connected(server_, options());
    client.close();
    EXPECT_EQ(client.follow_task("t").get().status, call_status::disconnected);
    EXPECT_EQ(client.listen({.tools = true}).get().who, subscription_end::by::connection);
}

TEST_P(pending_task_test, TASK_2_an_unknown_one_has_failed) {
    auto client = connected(server_, options());
    const auto task = client.follow_task("no such task");
    EXPECT_EQ(task.get().status, call_status::failed);
    EXPECT_EQ(task.get().code, error_code::invalid_params);
    EXPECT_THROW(static_cast<void>(task.value()), rpc_error);
}

TEST_P(pending_task_test, answers_what_it_is_asked) {
    client_options with = options();
    with.on_elicitation = [](const json::object&, const cancel_token&) { return json::object{{"said", "yes"}}; };
    auto client = connected(server_, with);
    const auto task = client.call_tool_as_task("ask");
    EXPECT_EQ(text_of(task.get()), "yes");
    EXPECT_EQ(task.report().status, task_status::completed);
}

TEST_P(pending_task_test, a_question_that_cannot_be_answered_stops_it) {
    client_options with = options();
    with.on_elicitation = [](const json::object&, const cancel_token&) -> json::object {
        throw std::runtime_error("nobody is there");
    };
    auto client = connected(server_, with);
    const auto task = client.call_tool_as_task("ask");
    const call_outcome& outcome = task.get();
    // The error is the question's answer in 2025-11-25, and the tool's then; the extension has no such answers.
    EXPECT_THAT(legacy() ? text_of(outcome) : outcome.message, HasSubstr("nobody is there"));
    EXPECT_TRUE(eventually([&] { return server_.requests().size() == 0; }));
}

TEST_P(pending_task_test, fails_as_the_call_would_have) {
    auto client = connected(server_, options());
    const auto failed = client.call_tool_as_task("fail");
    EXPECT_TRUE(is_error(failed.get()));
    EXPECT_EQ(text_of(failed.get()), "it went wrong");
    EXPECT_EQ(failed.report().status, legacy() ? task_status::failed : task_status::completed);
    const auto broken = client.call_tool_as_task("break");
    EXPECT_EQ(broken.get().status, call_status::failed);
    EXPECT_EQ(broken.get().code, -32050);
    EXPECT_EQ(broken.get().message, "it broke");
    EXPECT_EQ(broken.get().data, json::value({{"n", 1}}));
}

TEST_P(pending_task_test, TIME_4_is_cancelled_when_its_time_is_over) {
    auto client = connected(server_, options());
    const auto task = client.call_tool_as_task("park", {}, {.max_timeout = 50ms});
    EXPECT_EQ(task.get().status, call_status::timed_out);
    EXPECT_TRUE(cancelled_.reach(1));
}

TEST_P(pending_task_test, ends_with_the_client_and_leaves_the_task_alone) {
    auto client = std::make_unique<andon::client>(connected(server_, options()));
    const auto task = client->call_tool_as_task("park");
    ASSERT_TRUE(started_.reach(1));
    client.reset();
    EXPECT_NE(task.get().status, call_status::completed);
    auto other = connected(server_, options());
    EXPECT_TRUE(other.follow_task(started_.all().front()).cancel());
    EXPECT_TRUE(cancelled_.reach(1));
}

TEST_P(pending_task_test, progress_comes_as_long_as_the_revision_has_it) {
    auto client = connected(server_, options());
    recorded<double> progress;
    const auto task = client.call_tool_as_task(
        "gate", {}, {.on_progress = [&](const progress_update& update) { progress.add(update.progress); }});
    if (legacy()) {
        EXPECT_TRUE(progress.reach(1));
    }
    gate_.set();
    EXPECT_EQ(text_of(task.get()), "through");
    EXPECT_EQ(progress.all().size(), legacy() ? 1U : 0U);
}

TEST_P(pending_task_test, a_tool_that_is_no_task_answers_as_usual) {
    server_.tool("plain", "", [](call&) { return "at once"; });
    auto client = connected(server_, options());
    const auto task = client.call_tool_as_task("plain");
    if (legacy()) {
        EXPECT_EQ(task.get().code, error_code::method_not_found);
    } else {
        EXPECT_EQ(text_of(task.get()), "at once");
        EXPECT_EQ(task.id(), "");
    }
}

// A call that the server makes a task of on its own (2026-07-28).

class call_made_task : public pending_task_test {};
INSTANTIATE_TEST_SUITE_P(client, call_made_task, testing::Values(era_case{"modern", newest_modern}), by_name());

TEST_P(call_made_task, is_followed_as_if_it_were_the_call) {
    auto client = connected(server_, options());
    const auto call = client.call_tool("gate");
    ASSERT_TRUE(started_.reach(1));
    EXPECT_NE(started_.all().front(), "");
    gate_.set();
    EXPECT_EQ(text_of(call.get()), "through");
}

TEST_P(call_made_task, SND_6_is_stopped_by_its_cancel_its_drop_its_maximum_and_the_end_of_the_client) {
    auto client = std::make_unique<andon::client>(connected(server_, options()));
    auto first = client->call_tool("park");
    ASSERT_TRUE(started_.reach(1));
    EXPECT_TRUE(first.cancel("enough"));
    EXPECT_TRUE(cancelled_.reach(1));
    {
        const auto dropped = client->call_tool("park");
        ASSERT_TRUE(started_.reach(2));
    }
    EXPECT_TRUE(cancelled_.reach(2));
    const auto late = client->call_tool("park", {}, {.max_timeout = 50ms});
    EXPECT_EQ(late.get().status, call_status::timed_out);
    EXPECT_TRUE(cancelled_.reach(3));
    const auto last = client->call_tool("park");
    ASSERT_TRUE(started_.reach(4));
    // As soon as we know that it is a task: before, the end of the client is the end of the call.
    ASSERT_TRUE(eventually([&] {
        const auto all = client->requests().list();
        return all.size() == 1 && all.front().label == "following a task";
    }));
    client.reset();
    EXPECT_TRUE(cancelled_.reach(4));
    EXPECT_EQ(last.get().status, call_status::cancelled);
}

TEST_P(call_made_task, a_client_that_does_not_want_tasks_gets_none) {
    client_options without = options();
    without.tasks = false;
    auto client = connected(server_, without);
    gate_.set();
    EXPECT_EQ(text_of(client.call_tool("gate").get()), "through");
    EXPECT_THAT(started_.all(), ElementsAre(""));
}

TEST_P(call_made_task, becomes_one_when_its_handler_says_so_and_only_where_the_client_knows_tasks) {
    const auto begin = [this](bool is_task, std::string_view id) {
        EXPECT_EQ(is_task, !id.empty());
        started_.add(is_task ? "task" : "call");
    };
    server_.tool({.name = "later", .task = task_use::optional, .task_on_demand = true}, [begin](call& call) {
        EXPECT_EQ(call.task_id(), "");
        const bool is_task = call.become_task();
        begin(is_task, call.task_id());
        EXPECT_EQ(call.become_task(), !call.task_id().empty());
        return "done";
    });
    server_.tool({.name = "later_too", .task = task_use::optional, .task_on_demand = true},
                 [begin](call& call) -> async<std::string> {
                     const bool is_task = co_await call.async_become_task();
                     begin(is_task, call.task_id());
                     co_return "done";
                 });
    client_options without = options();
    without.tasks = false;
    auto knows = connected(server_, options());
    auto knows_not = connected(server_, without);
    for (const char* const tool : {"later", "later_too"}) {
        EXPECT_EQ(text_of(knows.call_tool(tool).get()), "done");
        EXPECT_EQ(text_of(knows_not.call_tool(tool).get()), "done");
    }
    EXPECT_THAT(started_.all(), ElementsAre("task", "call", "task", "call"));
}

// Servers that are not ours.

class odd_server : public testing::TestWithParam<era_case> {
protected:
    [[nodiscard]] client_options options() const { return quiet_client({GetParam().speaks}); }
    [[nodiscard]] bool legacy() const { return era_of(GetParam().speaks) == era::legacy; }
    [[nodiscard]] json::object next() const { return raw_.read().as_object(); }
    [[nodiscard]] json::object task(std::string_view status) const {
        return {{"taskId", "t"}, {"status", status}, {legacy() ? "pollInterval" : "pollIntervalMs", 1}};
    }
    void create(const json::value& id) const {
        json::object made = task("working");
        made["resultType"] = "task";
        raw_.answer(id, legacy() ? json::object{{"task", std::move(made)}} : std::move(made));
    }
    void refuse(const json::value& id, int code) const {
        raw_.write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", "not now"}}}});
    }

    raw_server raw_;
};

INSTANTIATE_TEST_SUITE_P(client, odd_server,
                         testing::Values(era_case{"legacy", newest_legacy}, era_case{"modern", newest_modern}),
                         by_name());

TEST_P(odd_server, SND_6_a_task_that_was_made_although_its_call_was_cancelled_is_cancelled) {
    auto client = raw_.connect(options());
    auto call = client.call_tool("work");
    const json::object request = next();
    EXPECT_TRUE(call.cancel());
    EXPECT_EQ(next().at("method"), "notifications/cancelled");
    create(request.at("id"));
    const json::object cancel = next();
    EXPECT_EQ(cancel.at("method"), "tasks/cancel");
    EXPECT_EQ(cancel.at("params").at("taskId"), "t");
    // Once: what comes again is nobody's.
    create(request.at("id"));
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_P(odd_server, a_request_that_is_refused_for_now_is_made_again) {
    auto client = raw_.connect(options());
    const auto followed = client.follow_task("t");
    for (int i = 0; i < 4; ++i) {
        const json::object look = next();
        EXPECT_EQ(look.at("method"), "tasks/get");
        refuse(look.at("id"), error_code::internal_error);
    }
    json::object done = task("completed");
    done["result"] = json::object{{"content", {{{"type", "text"}, {"text", "done"}}}}};
    done["resultType"] = "complete";
    raw_.answer(next().at("id"), std::move(done));
    if (legacy()) {
        const json::object fetch = next();
        EXPECT_EQ(fetch.at("method"), "tasks/result");
        raw_.answer_text(fetch.at("id"), "done");
    }
    EXPECT_EQ(text_of(followed.get()), "done");
}

/// The official TypeScript SDK answers so: it has no result of a cancelled task, and an error says that.
TEST_P(odd_server, one_that_somebody_cancels_while_it_asks_is_told_apart_from_one_that_broke) {
    if (!legacy()) GTEST_SKIP() << "the extension says how a task ended together with its result";
    for (const std::string_view ended : {"cancelled", "failed"}) {
        raw_server raw;
        auto client = raw.connect(options());
        const auto followed = client.follow_task("t");
        raw.answer(raw.read().at("id"), task("input_required"));
        const json::value fetch = raw.read();
        EXPECT_EQ(fetch.at("method"), "tasks/result");
        raw.write({{"jsonrpc", "2.0"}, {"id", fetch.at("id")}, {"error", {{"code", -32603}, {"message", "none"}}}});
        const json::value look = raw.read();
        EXPECT_EQ(look.at("method"), "tasks/get");
        raw.answer(look.at("id"), task(ended));
        EXPECT_EQ(followed.get().status, call_status::failed);
        EXPECT_EQ(followed.get().code, ended == "cancelled" ? error_code::request_cancelled : -32603);
        EXPECT_EQ(to_string(followed.report().status), ended);
    }
}

/// What 2025-11-25 says of tools and tasks, which only a client that has listed the tools can know.
class listed_tools : public testing::Test {
protected:
    listed_tools() {
        for (const auto& [name, use] : {std::pair{"never", task_use::never}, std::pair{"optional", task_use::optional},
                                        std::pair{"required", task_use::required}}) {
            server_.tool({.name = name, .task = use}, [](call& call) { return std::string(call.task_id()); });
        }
    }
    server server_{quiet_server()};
};

TEST_F(listed_tools, one_that_must_be_a_task_is_one_whichever_way_it_is_called) {
    auto client = connected(server_, quiet_client({newest_legacy}));
    EXPECT_EQ(client.call_tool("required").get().code, error_code::method_not_found) << "who could know";
    EXPECT_EQ(client.list_tools().size(), 3U);
    const auto done = client.call_tool("required").get();
    EXPECT_EQ(text_of(done).size(), 40U) << "its id";
    EXPECT_EQ(text_of(client.call_tool("optional").get()), "");
}

TEST_F(listed_tools, one_that_cannot_be_a_task_is_never_asked_to) {
    auto client = connected(server_, quiet_client({newest_legacy}));
    EXPECT_EQ(client.call_tool_as_task("never").get().code, error_code::method_not_found) << "who could know";
    EXPECT_EQ(client.list_tools().size(), 3U);
    const auto called = client.call_tool_as_task("never");
    EXPECT_EQ(text_of(called.get()), "");
    EXPECT_EQ(text_of(client.call_tool_as_task("optional").get()).size(), 40U);
}

TEST(listed_capabilities, a_server_that_makes_no_tasks_of_calls_is_not_asked_to) {
    raw_server raw;
    raw.can = {{"tasks", {{"list", json::object()}, {"cancel", json::object()}}}};
    auto client = raw.connect(quiet_client({newest_legacy}));
    const auto called = client.call_tool_as_task("any");
    const json::value request = raw.read();
    EXPECT_FALSE(request.at("params").as_object().contains("task"));
    raw.answer_text(request.at("id"), "at once");
    EXPECT_EQ(text_of(called.get()), "at once");
}

TEST_P(odd_server, one_that_is_refused_for_good_is_given_up) {
    auto client = raw_.connect(options());
    const auto followed = client.follow_task("t");
    refuse(next().at("id"), -32001);
    EXPECT_EQ(followed.get().code, -32001);
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_P(odd_server, an_answer_that_is_no_task_is_an_error) {
    auto client = raw_.connect(options());
    const auto followed = client.follow_task("t");
    raw_.answer(next().at("id"), {{"resultType", "complete"}, {"status", "asleep"}});
    EXPECT_EQ(followed.get().status, call_status::failed);
    EXPECT_THAT(followed.get().message, HasSubstr("is none"));
}

}  // namespace
}  // namespace andon
