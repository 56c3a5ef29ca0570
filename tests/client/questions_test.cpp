// Questions of the server's: who answers them, and how they are taken back.
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

class in_both_eras : public testing::TestWithParam<era_case> {
protected:
    [[nodiscard]] static client_options options() { return quiet_client({GetParam().speaks}); }
};

INSTANTIATE_TEST_SUITE_P(questions, in_both_eras,
                         testing::Values(era_case{"legacy", newest_legacy}, era_case{"modern", newest_modern}),
                         by_name());

// Apart from the coroutines: g++ 12 takes no such braces in them.
json::object numbered(int n) { return {{"n", n}}; }
json::value numbers_of(const json::object& a, const json::object& b, const json::object& c) {
    return {a.at("n"), b.at("n"), c.at("n")};
}

TEST_P(in_both_eras, each_kind_of_question_reaches_its_handler_and_the_answers_the_tool) {
    server server(quiet_server());
    server.tool("ask", "", [](call& call) {
        const json::object said = call.sample(numbered(1));
        const json::object chosen = call.elicit(numbered(2));
        const json::object roots = call.roots();
        return numbers_of(said, chosen, roots);
    });
    server.tool("ask_later", "", [](call& call) -> async<json::value> {
        const json::object said = co_await call.async_sample(numbered(1));
        const json::object chosen = co_await call.async_elicit(numbered(2));
        const json::object roots = co_await call.async_roots();
        co_return numbers_of(said, chosen, roots);
    });
    server.tool("ask_together", "", [](call& call) {
        const json::object all =
            call.ask({{"s", "sampling/createMessage", {{"n", 1}}}, {"e", "elicitation/create", {{"n", 2}}}});
        return json::value{all.at("s").at("n"), all.at("e").at("n"), 3};
    });
    recorded<std::string> order;
    const auto handler = [&](std::string name, int answer) {
        return [&order, name, answer](const json::object& params, const cancel_token& token) -> json::object {
            order.add(name + json::serialize(params));
            EXPECT_FALSE(token.cancelled());
            return {{"n", answer}};
        };
    };
    auto with = options();
    with.on_sampling = handler("sampling", 1);
    with.on_elicitation = handler("elicitation", 2);
    with.on_roots = handler("roots", 3);
    auto client = connected(server, with);
    for (const char* const tool : {"ask", "ask_later", "ask_together"}) {
        const call_outcome outcome = client.call_tool(tool).get();
        ASSERT_TRUE(outcome.completed()) << outcome.message;
        EXPECT_EQ(text_of(outcome), "[1,2,3]") << tool;
    }
    EXPECT_THAT(order.all(), testing::Contains(R"(sampling{"n":1})").Times(3));
    EXPECT_THAT(order.all(), testing::Contains(R"(roots{})").Times(2));
}

TEST_P(in_both_eras, what_the_client_cannot_do_is_not_asked) {
    server server(quiet_server());
    server.tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    auto client = connected(server, options());
    const call_outcome outcome = client.call_tool("ask").get();
    if (era_of(GetParam().speaks) == era::modern) {
        EXPECT_EQ(outcome.code, error_code::missing_client_capability);
    } else {
        EXPECT_TRUE(is_error(outcome));
        EXPECT_THAT(text_of(outcome), HasSubstr("has not declared"));
    }
}

TEST_P(in_both_eras, RCV_12_cancelling_the_call_takes_its_question_back) {
    event asked;
    recorded<cancel_cause> taken_back;
    server server(quiet_server());
    server.tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    auto with = options();
    with.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        token.wait();
        taken_back.add(token.cause());
        return {{"too", "late"}};
    };
    auto client = connected(server, with);
    auto pending = client.call_tool("ask");
    ASSERT_TRUE(asked.happens());
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    ASSERT_TRUE(taken_back.reach(1));
    EXPECT_THAT(taken_back.all(), ElementsAre(cancel_cause::peer));
    EXPECT_TRUE(eventually([&] { return server.requests().size() == 0 && client.requests().size() == 0; }));
}

TEST_P(in_both_eras, a_handler_that_throws_fails_the_question_and_the_session_goes_on) {
    server server(quiet_server());
    server.tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    server.tool("echo", "", [](call&) { return "on"; });
    auto with = options();
    with.on_sampling = [](const json::object&, const cancel_token&) -> json::object {
        throw std::runtime_error("the model is asleep");
    };
    auto client = connected(server, with);
    const call_outcome outcome = client.call_tool("ask").get();
    EXPECT_FALSE(outcome.completed() && !is_error(outcome));
    EXPECT_THAT(outcome.completed() ? text_of(outcome) : outcome.message, HasSubstr("the model is asleep"));
    EXPECT_EQ(text_of(client.call_tool("echo").get()), "on");
}

TEST_P(in_both_eras, a_client_that_leaves_takes_its_handlers_along) {
    event asked;
    recorded<cancel_cause> told;
    server server(quiet_server());
    server.tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    auto with = options();
    with.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        if (token.wait_until(std::chrono::steady_clock::now() + patience)) told.add(token.cause());
        return {};
    };
    auto client = connected(server, with);
    const auto pending = client.call_tool("ask");
    ASSERT_TRUE(asked.happens());
    client.close();
    EXPECT_THAT(told.all(), ElementsAre(cancel_cause::shutdown));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
}

TEST_P(in_both_eras, TIME_4_the_maximum_of_a_call_holds_while_its_question_is_thought_about) {
    recorded<cancel_cause> told;
    server server(quiet_server());
    server.tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    auto with = options();
    with.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        if (token.wait_until(std::chrono::steady_clock::now() + patience)) told.add(token.cause());
        return {};
    };
    auto client = connected(server, with);
    EXPECT_EQ(client.call_tool("ask", {}, {.max_timeout = 200ms}).get().status, call_status::timed_out);
    EXPECT_TRUE(told.reach(1));
}

TEST_P(in_both_eras, a_server_that_dies_takes_its_questions_along) {
    event asked;
    recorded<cancel_cause> told;
    auto dying = std::make_unique<server>(quiet_server());
    dying->tool("ask", "", [](call& call) { return json::value(call.sample({})); });
    auto with = options();
    with.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        if (token.wait_until(std::chrono::steady_clock::now() + patience)) told.add(token.cause());
        return {};
    };
    auto client = connected(*dying, with);
    const auto pending = client.call_tool("ask");
    ASSERT_TRUE(asked.happens());
    dying.reset();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    ASSERT_TRUE(told.reach(1));
}

// Legacy: the server's own requests, on the wire.

class legacy_questions : public testing::Test {
protected:
    [[nodiscard]] static json::object question(const json::value& id) {
        return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "sampling/createMessage"}, {"params", json::object()}};
    }
    [[nodiscard]] static json::object cancel_of(const json::value& id) {
        return {{"jsonrpc", "2.0"},
                {"method", "notifications/cancelled"},
                {"params", {{"requestId", id}, {"reason", "never mind"}}}};
    }

    client_options options_ = quiet_client({newest_legacy});
    raw_server raw_;
};

TEST_F(legacy_questions, DIR_1_RCV_3_a_question_that_is_taken_back_is_not_answered) {
    event asked;
    recorded<std::string> told;
    options_.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        token.wait();
        told.add(std::string(to_string(token.cause())) + ": " + std::string(token.why().text()));
        return {{"too", "late"}};
    };
    auto client = raw_.connect(options_);
    raw_.write(question("q"));
    ASSERT_TRUE(asked.happens());
    raw_.write(cancel_of("q"));
    ASSERT_TRUE(told.reach(1));
    EXPECT_THAT(told.all(), ElementsAre("peer: never mind"));
    ASSERT_TRUE(eventually([&] { return client.requests().size() == 0; }));
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_F(legacy_questions, DIR_1_the_servers_cancel_never_touches_a_call_of_ours) {
    auto client = raw_.connect(options_);
    const auto pending = client.call_tool("work");
    const json::value id = raw_.read().at("id");
    raw_.write(cancel_of(id));
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    EXPECT_FALSE(pending.done());
    raw_.answer_text(id, "untouched");
    EXPECT_EQ(text_of(pending.get()), "untouched");
}

TEST_F(legacy_questions, without_a_handler_the_answer_is_that_there_is_none) {
    auto client = raw_.connect(options_);
    raw_.write(question(5));
    const json::value answer = raw_.read();
    EXPECT_EQ(answer.at("id"), 5);
    EXPECT_EQ(answer.at("error").at("code"), error_code::method_not_found);
}

TEST_F(legacy_questions, RCV_1_a_question_that_waits_for_a_thread_is_taken_back_before_it_is_asked) {
    event busy;
    event go;
    std::atomic<int> asked = 0;
    options_.workers = 1;
    options_.on_sampling = [&](const json::object&, const cancel_token&) -> json::object {
        ++asked;
        busy.set();
        EXPECT_TRUE(go.happens());
        return {};
    };
    auto client = raw_.connect(options_);
    raw_.write(question(1));
    ASSERT_TRUE(busy.happens());
    raw_.write(question(2));
    raw_.write(cancel_of(2));
    ASSERT_TRUE(eventually([&] { return client.requests().counters().accepted == 1; }));
    go.set();
    EXPECT_EQ(raw_.read().at("id"), 1);
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    EXPECT_EQ(asked, 1);
}

// Modern: rounds, on the wire.

class modern_rounds : public testing::Test {
protected:
    void ask(const json::value& id, const std::string& key, const std::string& state) const {
        raw_.answer(id, {{"resultType", "input_required"},
                         {"inputRequests", {{key, {{"method", "elicitation/create"}, {"params", {{"of", key}}}}}}},
                         {"requestState", state}});
    }
    client_options options_ = quiet_client({newest_modern});
    raw_server raw_;
};

TEST_F(modern_rounds, each_round_has_a_new_id_the_state_and_the_answers_of_the_last) {
    options_.on_elicitation = [](const json::object& params, const cancel_token&) -> json::object {
        return {{"action", "accept"}, {"content", params}};
    };
    auto client = raw_.connect(options_);
    const auto pending = client.call_tool("work", {{"a", 1}});
    const json::value first = raw_.read();
    ask(first.at("id"), "one", "state-1");
    const json::value second = raw_.read();
    EXPECT_NE(second.at("id"), first.at("id"));
    EXPECT_EQ(second.at("params").at("arguments"), json::value({{"a", 1}}));
    EXPECT_EQ(second.at("params").at("requestState"), "state-1");
    EXPECT_EQ(second.at("params").at("inputResponses").at("one").at("content").at("of"), "one");
    ask(second.at("id"), "two", "state-2");
    const json::value third = raw_.read();
    EXPECT_EQ(third.at("params").at("requestState"), "state-2");
    EXPECT_FALSE(third.at("params").at("inputResponses").as_object().contains("one"));
    raw_.answer_text(third.at("id"), "at last");
    EXPECT_EQ(text_of(pending.get()), "at last");
}

TEST_F(modern_rounds, DIR_3_a_cancel_between_two_rounds_says_nothing_and_there_is_no_next_one) {
    event asked;
    event told;
    options_.on_elicitation = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        token.wait();
        told.set();
        return {};
    };
    auto client = raw_.connect(options_);
    auto pending = client.call_tool("work");
    ask(raw_.read().at("id"), "one", "state");
    ASSERT_TRUE(asked.happens());
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    ASSERT_TRUE(told.happens());
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_F(modern_rounds, SND_3_a_cancel_in_a_later_round_names_its_id) {
    options_.on_elicitation = [](const json::object&, const cancel_token&) { return json::object(); };
    auto client = raw_.connect(options_);
    auto pending = client.call_tool("work");
    ask(raw_.read().at("id"), "one", "state");
    const json::value second = raw_.read();
    EXPECT_TRUE(pending.cancel());
    EXPECT_EQ(raw_.read().at("params").at("requestId"), second.at("id"));
}

TEST_F(modern_rounds, a_server_that_never_stops_asking_is_given_up) {
    options_.on_elicitation = [](const json::object&, const cancel_token&) { return json::object(); };
    auto client = raw_.connect(options_);
    const auto pending = client.call_tool("work");
    int rounds = 0;
    for (; !pending.done() && rounds < 1'000; ++rounds) {
        ask(raw_.read().at("id"), "again", "state");
        if (rounds >= 32) break;
    }
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_THAT(pending.get().message, HasSubstr("never stops asking"));
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
}

TEST_F(modern_rounds, DIR_2_a_request_or_cancel_of_a_modern_server_is_ignored) {
    options_.on_sampling = [](const json::object&, const cancel_token&) -> json::object {
        ADD_FAILURE() << "nobody may ask";
        return {};
    };
    auto client = raw_.connect(options_);
    const auto pending = client.call_tool("work");
    const json::value id = raw_.read().at("id");
    raw_.write({{"jsonrpc", "2.0"}, {"id", 9}, {"method", "sampling/createMessage"}, {"params", json::object()}});
    raw_.write({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
    EXPECT_THAT(raw_.written_by(client), IsEmpty());
    raw_.answer_text(id, "untouched");
    EXPECT_EQ(text_of(pending.get()), "untouched");
}

}  // namespace
}  // namespace andon
