// The session of a legacy server: how it begins, breaks, goes on and ends.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/raw_http_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct revision_case {
    std::string name;
    revision speaks;
};

class http_session_test : public testing::TestWithParam<revision_case> {
protected:
    [[nodiscard]] client_options options() const { return quiet_client({GetParam().speaks}); }
    [[nodiscard]] client connect(http_client_options how = {}) { return server_.connect(options(), std::move(how)); }
    void initialize_again(const std::string& session, std::string_view version) {
        const auto again = server_.next("initialize");
        EXPECT_EQ(again.header("mcp-session-id"), "");
        again.answer({{"protocolVersion", version}, {"capabilities", json::object()}, {"serverInfo", json::object()}},
                     "Mcp-Session-Id: " + session + "\r\n");
    }
    void initialize_again(const std::string& session) {
        initialize_again(session, to_string(GetParam().speaks));
        const auto initialized = server_.next("notifications/initialized");
        EXPECT_EQ(initialized.header("mcp-session-id"), session);
        initialized.reply("202 Accepted");
    }
    raw_http_server server_;
};

INSTANTIATE_TEST_SUITE_P(client, http_session_test,
                         testing::Values(revision_case{"v2025_03_26", revision::v2025_03_26},
                                         revision_case{"v2025_06_18", revision::v2025_06_18},
                                         revision_case{"v2025_11_25", revision::v2025_11_25}),
                         by_name());

TEST_P(http_session_test, nothing_overtakes_the_end_of_its_beginning) {
    auto made = std::async(std::launch::async, [&] { return client::connect_http(server_.url(), {}, options()); });
    server_.next("initialize")
        .answer({{"protocolVersion", to_string(GetParam().speaks)},
                 {"capabilities", json::object()},
                 {"serverInfo", json::object()}},
                "Mcp-Session-Id: s1\r\n");
    const auto initialized = server_.next("notifications/initialized");
    auto client = made.get();
    auto pending = client.call_tool("early");
    auto dropped = client.call_tool("dropped");
    dropped.cancel("Stop");
    client.notify("notifications/roots/list_changed");
    EXPECT_TRUE(server_.nothing_came());
    initialized.reply("202 Accepted");
    std::vector<std::string> seen;
    for (int i = 0; i < 2; ++i) {
        const auto request = server_.next();
        seen.push_back(request.rpc());
        if (request.rpc() == "tools/call") {
            EXPECT_EQ(request.message().at("params").at("name"), "early");
            request.answer_text("ok");
        } else {
            request.reply("202 Accepted");
        }
    }
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_THAT(seen, testing::UnorderedElementsAre("tools/call", "notifications/roots/list_changed"));
    EXPECT_TRUE(server_.nothing_came()) << "DIR-3: what was cancelled while it was held is never sent";
}

TEST_P(http_session_test, ends_with_a_delete) {
    {
        auto client = connect();
        server_.fence(client);
    }
    EXPECT_THAT(server_.deleted(), ElementsAre("s1"));
}

TEST_P(http_session_test, that_the_server_does_not_keep_is_not_deleted) {
    {
        auto client = server_.connect(options(), {}, "");
        auto pending = client.call_tool("work");
        const auto request = server_.next("tools/call");
        EXPECT_EQ(request.header("mcp-session-id"), "");
        request.answer_text("ok");
        EXPECT_TRUE(pending.get().completed());
    }
    EXPECT_THAT(server_.deleted(), IsEmpty());
}

TEST_P(http_session_test, a_cancel_right_before_the_end_still_arrives) {
    std::optional<raw_http_request> request;
    {
        auto client = connect();
        auto pending = client.call_tool("work");
        request = server_.next("tools/call");
        pending.cancel("leaving");
        client.close();
    }
    const auto cancel = server_.next("notifications/cancelled");
    EXPECT_EQ(cancel.message().at("params").at("requestId"), request->id());
    EXPECT_THAT(server_.deleted(), ElementsAre("s1"));
}

TEST_P(http_session_test, that_is_gone_is_begun_again_and_the_call_repeated) {
    auto client = connect();
    const auto pending = client.call_tool("work", {{"x", 1}});
    const auto lost = server_.next("tools/call");
    EXPECT_EQ(lost.header("mcp-session-id"), "s1");
    lost.reply("404 Not Found");
    initialize_again("s2");
    const auto again = server_.next("tools/call");
    EXPECT_EQ(again.header("mcp-session-id"), "s2");
    EXPECT_EQ(again.body, lost.body);
    again.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    server_.fence(client);
    client.close();
    EXPECT_THAT(server_.deleted(), ElementsAre("s2"));
}

TEST_P(http_session_test, that_is_gone_is_begun_once_for_all_calls) {
    auto client = connect();
    std::vector<pending_call> calls;
    std::vector<raw_http_request> requests;
    for (int i = 0; i < 5; ++i) calls.push_back(client.call_tool("work"));
    for (int i = 0; i < 5; ++i) requests.push_back(server_.next("tools/call"));
    calls[0].cancel("Stop");
    server_.next("notifications/cancelled").reply("202 Accepted");
    for (int i = 1; i < 5; ++i) requests[static_cast<std::size_t>(i)].reply("404 Not Found");
    initialize_again("s2");
    for (int i = 1; i < 5; ++i) server_.next("tools/call").answer_text("ok");
    for (int i = 1; i < 5; ++i) EXPECT_EQ(text_of(calls[static_cast<std::size_t>(i)].get()), "ok");
    server_.fence(client);
}

TEST_P(http_session_test, that_is_gone_again_at_once_is_an_error) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    server_.next("tools/call").reply("404 Not Found");
    initialize_again("s2");
    server_.next("tools/call").reply("404 Not Found");
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_THAT(pending.get().message, HasSubstr("HTTP 404"));
}

TEST_P(http_session_test, that_cannot_be_begun_again_is_an_error) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    server_.next("tools/call").reply("404 Not Found");
    server_.next("initialize").reply("503 Service Unavailable");
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_THAT(pending.get().message, HasSubstr("there is no new one"));
}

TEST_P(http_session_test, that_comes_back_in_another_revision_is_over) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    server_.next("tools/call").reply("404 Not Found");
    initialize_again("s2", "2024-11-05");
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    EXPECT_THAT(pending.get().message, HasSubstr("another revision"));
}

TEST_P(http_session_test, DIR_3_a_call_that_waits_for_a_new_one_is_cancelled_without_a_word) {
    auto client = connect();
    auto pending = client.call_tool("work");
    server_.next("tools/call").reply("404 Not Found");
    const auto again = server_.next("initialize");
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    again.answer({{"protocolVersion", to_string(GetParam().speaks)},
                  {"capabilities", json::object()},
                  {"serverInfo", json::object()}},
                 "Mcp-Session-Id: s2\r\n");
    server_.next("notifications/initialized").reply("202 Accepted");
    server_.fence(client);
}

// Streams that break.

TEST_P(http_session_test, HTTP_2_a_stream_that_breaks_is_gone_on_with) {
    auto client = connect();
    recorded<double> seen;
    const auto pending =
        client.call_tool("work", {}, {.on_progress = [&](const progress_update& u) { seen.add(u.progress); }});
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.prime("e1", 20);
    request.progress(1);
    request.on->close();
    const auto resumed = server_.next();
    EXPECT_EQ(resumed.method, "GET");
    EXPECT_EQ(resumed.header("last-event-id"), "e1");
    EXPECT_EQ(resumed.header("mcp-session-id"), "s1");
    EXPECT_EQ(resumed.header("accept"), "text/event-stream");
    EXPECT_EQ(resumed.header("mcp-protocol-version"), to_string(GetParam().speaks));
    resumed.begin_events();
    resumed.prime("e2");
    resumed.end_events();
    const auto once_more = server_.next();
    EXPECT_EQ(once_more.header("last-event-id"), "e2");
    once_more.begin_events();
    once_more.event(text_message(request.id(), "at last"));
    once_more.end_events();
    EXPECT_EQ(text_of(pending.get()), "at last");
    server_.fence(client);
}

TEST_P(http_session_test, HTTP_2_the_time_that_the_server_asks_for_is_kept) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.prime("e1", 300);
    request.end_events();
    const auto closed = std::chrono::steady_clock::now();
    const auto resumed = server_.next();
    EXPECT_GE(resumed.when - closed, 290ms);
    resumed.begin_events();
    resumed.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_P(http_session_test, HTTP_2_a_server_that_fails_for_a_while_is_asked_again) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.prime("e1", 10);
    request.end_events();
    server_.next().reply("503 Service Unavailable");
    server_.next().on->close();
    const auto resumed = server_.next();
    EXPECT_EQ(resumed.header("last-event-id"), "e1");
    resumed.begin_events();
    resumed.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_P(http_session_test, HTTP_2_a_stream_that_is_not_to_be_had_any_more_ends_its_call) {
    for (const std::string status : {"405 Method Not Allowed", "400 Bad Request", "503 Service Unavailable"}) {
        auto client = connect();
        const auto pending = client.call_tool("work");
        const auto request = server_.next("tools/call");
        request.begin_events();
        request.prime("e1", 5);
        request.end_events();
        const int attempts = status.starts_with("503") ? 5 : 1;
        for (int i = 0; i < attempts; ++i) server_.next().reply(status);
        EXPECT_EQ(pending.get().status, call_status::disconnected);
        EXPECT_THAT(pending.get().message, HasSubstr(status));
        server_.fence(client);
    }
}

TEST_P(http_session_test, SND_5_a_call_whose_stream_is_broken_can_be_cancelled) {
    auto client = connect();
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.prime("e1", 10'000);
    request.end_events();
    server_.fence(client);
    EXPECT_TRUE(pending.cancel("Stop"));
    const auto cancel = server_.next("notifications/cancelled");
    EXPECT_EQ(cancel.message().at("params").at("requestId"), request.id());
    cancel.reply("202 Accepted");
    server_.fence(client);
}

// What the server says unasked.

class http_listening : public http_session_test {
protected:
    void SetUp() override {
        server_.listen_to_gets();
        client_options how = options();
        how.lines.longest_line = longest;
        how.on_notification = [this](std::string_view method, const json::object&) { seen_.add(std::string(method)); };
        client_.emplace(server_.connect(std::move(how)));
        stream_ = server_.next();
        EXPECT_EQ(stream_.method, "GET");
        EXPECT_EQ(stream_.header("mcp-session-id"), "s1");
        EXPECT_EQ(stream_.header("last-event-id"), "");
    }
    void say(const raw_http_request& on, const std::string& method, std::string_view id = {}) {
        on.event({{"jsonrpc", "2.0"}, {"method", method}}, id);
    }
    static constexpr std::size_t longest = std::size_t{64} << 10U;
    recorded<std::string> seen_;
    std::optional<client> client_;
    raw_http_request stream_;
};

INSTANTIATE_TEST_SUITE_P(client, http_listening,
                         testing::Values(revision_case{"v2025_03_26", revision::v2025_03_26},
                                         revision_case{"v2025_11_25", revision::v2025_11_25}),
                         by_name());

// A question that the server asks on its own stream when nobody listens is lost.
TEST_P(http_listening, begins_before_the_first_call) {
    for (int i = 0; i < 10; ++i) {
        auto client = server_.connect(options());
        auto pending = client.call_tool("work");
        const auto first = server_.next();
        EXPECT_EQ(first.method, "GET");
        first.begin_events();
        const auto call = server_.next("tools/call");
        call.answer_text("ok");
        EXPECT_EQ(text_of(pending.get()), "ok");
    }
}

TEST_P(http_listening, is_heard_and_opened_again_from_the_last_event_on) {
    stream_.begin_events();
    say(stream_, "notifications/tools/list_changed", "g1");
    stream_.event("", "g2", 20);
    ASSERT_TRUE(seen_.reach(1));
    stream_.on->close();
    const auto again = server_.next();
    EXPECT_EQ(again.method, "GET");
    EXPECT_EQ(again.header("last-event-id"), "g2");
    again.begin_events();
    say(again, "notifications/prompts/list_changed");
    ASSERT_TRUE(seen_.reach(2));
    server_.fence(*client_);
    EXPECT_THAT(seen_.all(), ElementsAre("notifications/tools/list_changed", "notifications/prompts/list_changed"));
}

TEST_P(http_listening, steps_over_what_is_too_long) {
    stream_.begin_events();
    say(stream_, std::string(longest, 'x'), "g1");
    say(stream_, "notifications/tools/list_changed");
    ASSERT_TRUE(seen_.reach(1));
    stream_.on->close();
    const auto again = server_.next();
    EXPECT_EQ(again.header("last-event-id"), "g1") << "it is not said again";
    EXPECT_THAT(seen_.all(), ElementsAre("notifications/tools/list_changed"));
}

TEST_P(http_listening, has_no_answers) {
    auto pending = client_->call_tool("work");
    const auto request = server_.next("tools/call");
    stream_.begin_events();
    stream_.event(text_message(request.id(), "a forgery"));
    say(stream_, "notifications/tools/list_changed");
    ASSERT_TRUE(seen_.reach(1));
    EXPECT_FALSE(pending.done());
    request.answer_text("the true one");
    EXPECT_EQ(text_of(pending.get()), "the true one");
}

TEST_P(http_listening, a_session_that_is_gone_is_begun_again_and_listened_to) {
    stream_.reply("404 Not Found");
    initialize_again("s2");
    const auto again = server_.next();
    EXPECT_EQ(again.method, "GET");
    EXPECT_EQ(again.header("mcp-session-id"), "s2");
    // A server that has no stream for us even so is not asked for ever.
    again.reply("404 Not Found");
    server_.fence(*client_);
    server_.fence(*client_);
}

// Questions of the server's.

TEST_P(http_session_test, RCV_1_a_question_is_answered_by_a_post_and_can_be_taken_back) {
    event asked;
    event taken_back;
    client_options how = options();
    how.on_sampling = [&](const json::object& params, const cancel_token& token) -> json::object {
        if (params.contains("quick")) return {{"role", "assistant"}, {"model", "m"}};
        asked.set();
        token.wait();
        taken_back.set();
        return {};
    };
    auto client = server_.connect(std::move(how));
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event(
        {{"jsonrpc", "2.0"}, {"id", "q1"}, {"method", "sampling/createMessage"}, {"params", {{"quick", true}}}});
    const auto answer = server_.next();
    EXPECT_EQ(answer.method, "POST");
    EXPECT_EQ(answer.header("mcp-session-id"), "s1");
    EXPECT_EQ(answer.message().at("id"), "q1");
    EXPECT_EQ(answer.message().at("result").at("model"), "m");
    answer.reply("202 Accepted");
    request.event({{"jsonrpc", "2.0"}, {"id", "q2"}, {"method", "sampling/createMessage"}, {"params", json::object()}});
    ASSERT_TRUE(asked.happens());
    request.event({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", "q2"}}}});
    EXPECT_TRUE(taken_back.happens());
    request.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
    server_.fence(client);
}

}  // namespace
}  // namespace andon
