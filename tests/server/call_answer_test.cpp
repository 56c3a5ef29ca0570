// What becomes of what a handler says: its time limit, progress, log messages, results and exceptions.
#include <boost/describe/class.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/named_case.hpp"
#include "server/pipe_ends.hpp"
#include "server/raw_client.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const client_options legacy = quiet_client({newest_legacy});
const client_options modern = quiet_client({newest_modern});

// Time limits.

TEST(time_limit, TIME_5_the_handler_sees_its_deadline_and_the_client_gets_an_error_when_it_is_over) {
    recorded<std::optional<time_point>> deadlines;
    recorded<cancel_cause> causes;
    server server(quiet_server());
    server.tool({.name = "work", .limit = 50ms}, [&](call& call) {
        deadlines.add(call.deadline());
        try {
            call.sleep_for(patience);
        } catch (const cancelled_error& error) {
            causes.add(error.cause());
            throw;
        }
    });
    auto client = connected(server);
    const auto before = std::chrono::steady_clock::now();
    const call_outcome outcome = client.call_tool("work").get();
    EXPECT_GE(std::chrono::steady_clock::now() - before, 50ms);
    EXPECT_TRUE(is_error(outcome));
    EXPECT_EQ(text_of(outcome), "stopped: it took longer than this server allows");
    ASSERT_TRUE(causes.reach(1));
    EXPECT_THAT(causes.all(), ElementsAre(cancel_cause::timeout));
    ASSERT_TRUE(deadlines.all().at(0));
    EXPECT_GE(*deadlines.all().at(0), before + 50ms);
    EXPECT_EQ(only_outcome(server.requests()).cause, cancel_cause::timeout);
}

TEST(time_limit, TIME_5_is_answered_however_quick_the_handler_is_to_notice) {
    recorded<std::string> log;
    server_options options = quiet_server();
    options.log = [&](log_level, std::string_view text) {
        if (text.find("cancelled: timeout") != std::string_view::npos) log.add(std::string(text));
    };
    server server(options);
    server.tool({.name = "work", .limit = 2ms}, [](call& call) {
        while (!call.cancelled()) {
        }
    });
    auto client = connected(server);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(is_error(client.call_tool("work").get()));
    EXPECT_TRUE(log.reach(100));
}

TEST(time_limit, without_one_there_is_no_deadline) {
    server server(quiet_server());
    server.tool("work", "", [](call& call) { return call.deadline() ? "has one" : "none"; });
    auto client = connected(server);
    EXPECT_EQ(text_of(client.call_tool("work").get()), "none");
}

TEST(time_limit, TIME_5_RCV_12_a_question_of_the_handler_is_taken_back_with_its_time) {
    recorded<cancel_cause> taken_back;
    server server(quiet_server());
    server.tool({.name = "work", .limit = 50ms}, [](call& call) { return json::value(call.sample({})); });
    client_options options = legacy;
    options.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        token.wait();
        taken_back.add(token.cause());
        return {};
    };
    auto client = connected(server, options);
    // Several times: the handler, which its question wakes, races with whoever cancels it.
    constexpr int rounds = 20;
    for (int i = 0; i < rounds; ++i) {
        const call_outcome outcome = client.call_tool("work").get();
        ASSERT_TRUE(is_error(outcome)) << text_of(outcome);
        EXPECT_THAT(text_of(outcome), HasSubstr("longer than this server allows"));
    }
    ASSERT_TRUE(taken_back.reach(1));  // on a busy machine some are stopped before they ask
    EXPECT_THAT(taken_back.all(), Each(cancel_cause::peer));
}

// Progress and log messages.

TEST(progress, is_sent_only_while_it_grows) {
    server server(quiet_server());
    server.tool("work", "", [](call& call) {
        for (const double done : {1.0, 1.0, 0.5, 2.0, -3.0, 2.5}) call.progress(done, 4, "step");
    });
    recorded<double> seen;
    auto client = connected(server);
    const auto pending = client.call_tool("work", {}, {.on_progress = [&](const progress_update& update) {
                                              EXPECT_EQ(update.total, 4);
                                              EXPECT_EQ(update.message, "step");
                                              seen.add(update.progress);
                                          }});
    EXPECT_TRUE(pending.get().completed());
    EXPECT_THAT(seen.all(), ElementsAre(1.0, 2.0, 2.5));
}

TEST(progress, is_not_sent_without_a_token) {
    for (const revision speaks : {newest_legacy, newest_modern}) {
        server server(quiet_server());
        server.tool("work", "", [](call& call) { call.progress(1); });
        served_here served(server, speaks);
        served.client.call("work");
        EXPECT_THAT(served.client.notifications("notifications/progress"), IsEmpty());
        served.client.call("work", {}, {{"progressToken", "t"}});
        EXPECT_THAT(served.client.notifications("notifications/progress"),
                    ElementsAre(json::object{{"progressToken", "t"}, {"progress", 1}}));
    }
}

struct log_case {
    std::string name;
    client_options options;
    std::optional<std::string> session_level;
    std::optional<std::string> call_level;
    std::vector<std::string> expected;
};

class log_messages : public testing::TestWithParam<log_case> {};

TEST_P(log_messages, are_sent_from_the_level_that_the_client_asked_for) {
    server server(quiet_server());
    server.tool("work", "", [](call& call) {
        call.log(message_level::debug, "detail");
        call.log(message_level::info, json::object{{"n", 1}}, "part");
        call.log(message_level::error, "bad");
    });
    recorded<std::string> seen;
    client_options options = GetParam().options;
    options.on_notification = [&](std::string_view method, const json::object& params) {
        if (method == "notifications/message") seen.add(json::serialize(params));
    };
    auto client = connected(server, options);
    if (GetParam().session_level) {
        EXPECT_TRUE(client.request("logging/setLevel", {{"level", *GetParam().session_level}}).get().completed());
    }
    EXPECT_TRUE(client.call_tool("work", {}, {.log_level = GetParam().call_level}).get().completed());
    EXPECT_THAT(seen.all(), testing::ElementsAreArray(GetParam().expected));
}

const std::string debug_line = R"({"level":"debug","data":"detail"})";
const std::string info_line = R"({"level":"info","data":{"n":1},"logger":"part"})";
const std::string error_line = R"({"level":"error","data":"bad"})";

INSTANTIATE_TEST_SUITE_P(
    call, log_messages,
    testing::Values(log_case{"legacy_unset", legacy, {}, {}, {info_line, error_line}},
                    log_case{"legacy_debug", legacy, "debug", {}, {debug_line, info_line, error_line}},
                    log_case{"legacy_critical", legacy, "critical", {}, {}},
                    log_case{"modern_unset", modern, {}, {}, {}},
                    log_case{"modern_debug", modern, {}, "debug", {debug_line, info_line, error_line}},
                    log_case{"modern_error", modern, {}, "error", {error_line}}),
    by_name());

// What must not block the loop.

struct refused_case {
    std::string name;
    void (*blocks)(call&);
    std::string expected;
};

class a_blocking_call_in_a_coroutine : public testing::TestWithParam<refused_case> {};

TEST_P(a_blocking_call_in_a_coroutine, is_refused_with_what_to_do_instead) {
    server server(quiet_server());
    server.tool("work", "", [](call& call) -> async<void> {
        GetParam().blocks(call);
        co_return;
    });
    client_options options = legacy;
    options.on_sampling = [](const json::object&, const cancel_token&) { return json::object(); };
    auto client = connected(server, options);
    const call_outcome outcome = client.call_tool("work").get();
    EXPECT_TRUE(is_error(outcome));
    EXPECT_EQ(text_of(outcome),
              GetParam().expected + " blocks: in a coroutine, co_await what begins with async_ instead");
}

INSTANTIATE_TEST_SUITE_P(
    call, a_blocking_call_in_a_coroutine,
    testing::Values(refused_case{"sleep_for", [](call& call) { call.sleep_for(1ms); }, "call.sleep_for()"},
                    refused_case{"wait_readable",
                                 [](call& call) {
                                     const pipe_ends pipe;
                                     static_cast<void>(call.wait_readable(pipe.out(), 1ms));
                                 },
                                 "call.wait_readable()"},
                    refused_case{"run", [](call& call) { call.run(command::shell("exit 0")); }, "call.run()"},
                    refused_case{"wait",
                                 [](call& call) {
                                     std::mutex mutex;
                                     std::condition_variable changed;
                                     std::unique_lock lock(mutex);
                                     call.wait(changed, lock, [] { return true; });
                                 },
                                 "call.wait()"},
                    refused_case{"sample", [](call& call) { static_cast<void>(call.sample({})); }, "call.ask()"}),
    by_name());

// Exceptions and results.

struct thrown_case {
    std::string name;
    void (*fails)();
    bool is_tool_error;  // an answer that the model reads; else an error of the protocol
    std::string text;
    int code = 0;
};

class an_exception : public testing::TestWithParam<thrown_case> {
protected:
    static void expect_it(const call_outcome& outcome) {
        EXPECT_EQ(is_error(outcome), GetParam().is_tool_error);
        EXPECT_EQ(outcome.code, GetParam().code);
        EXPECT_EQ(GetParam().is_tool_error ? text_of(outcome) : outcome.message, GetParam().text);
    }
};

TEST_P(an_exception, of_a_tool_is_answered_whether_it_is_a_function_or_a_coroutine) {
    server server(quiet_server());
    server.tool("function", "", [](call&) { GetParam().fails(); });
    server.tool("coroutine", "", [](call&) -> async<void> {
        GetParam().fails();
        co_return;
    });
    server.tool("before_its_first_step", "", [](call&) -> async<void> {
        GetParam().fails();
        return {};
    });
    auto client = connected(server);
    for (const char* const tool : {"function", "coroutine", "before_its_first_step"}) {
        expect_it(client.call_tool(tool).get());
    }
}

TEST_P(an_exception, of_a_prompt_or_resource_is_an_error_of_the_protocol) {
    server server(quiet_server());
    server.prompt({.name = "p"}, [](const json::object&, call&) {
        GetParam().fails();
        return "never";
    });
    server.resource({.uri = "r://", .name = "r"}, [](const resource_request&, call&) {
        GetParam().fails();
        return "never";
    });
    auto client = connected(server);
    for (const auto& outcome : {client.get_prompt("p").get(), client.read_resource("r://").get()}) {
        EXPECT_EQ(outcome.status, call_status::failed);
        EXPECT_NE(outcome.code, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(
    call, an_exception,
    testing::Values(thrown_case{"standard", [] { throw std::runtime_error("no paper"); }, true, "no paper"},
                    thrown_case{"of_the_protocol", [] { throw rpc_error(-32042, "no"); }, false, "no", -32042},
                    thrown_case{"of_no_kind", [] { throw 7; }, true, "the tool failed"},
                    thrown_case{"cancelled_though_nobody_did",
                                [] { throw cancelled_error(cancel_cause::peer, reason("why")); }, true,
                                "cancelled (peer): why"}),
    by_name());

struct area_arguments {
    int width = 0;
    std::optional<int> height{};
};
BOOST_DESCRIBE_STRUCT(area_arguments, (), (width, height))

struct area_result {
    int area = 0;
};
BOOST_DESCRIBE_STRUCT(area_result, (), (area))

TEST(described_structs, are_arguments_and_results_and_what_does_not_fit_is_said) {
    server server(quiet_server());
    server.tool("area", "", [](const area_arguments& given, call&) {
        return area_result{given.width * given.height.value_or(given.width)};
    });
    server.tool("area_later", "", [](area_arguments given, call&) -> async<area_result> {
        co_return area_result{given.width * given.height.value_or(given.width)};
    });
    auto client = connected(server);
    for (const json::value& tool : client.list_tools()) {
        EXPECT_EQ(tool.at("inputSchema").at("required"), json::value(json::array{"width"}));
    }
    for (const char* const tool : {"area", "area_later"}) {
        const call_outcome fits = client.call_tool(tool, {{"width", 6}, {"height", 7}}).get();
        ASSERT_TRUE(fits.completed()) << fits.message;
        EXPECT_EQ(fits.result.at("structuredContent"), json::value({{"area", 42}}));
        EXPECT_EQ(text_of(fits), R"({"area":42})");
        for (const auto& [given, said] : std::vector<std::pair<json::object, std::string>>{
                 {{}, "width"}, {{{"width", "six"}}, "integer"}, {{{"width", 1}, {"depth", 1}}, "depth"}}) {
            const call_outcome refused = client.call_tool(tool, given).get();
            EXPECT_TRUE(is_error(refused)) << json::serialize(given);
            EXPECT_THAT(text_of(refused), HasSubstr(said));
        }
    }
}

}  // namespace
}  // namespace andon
