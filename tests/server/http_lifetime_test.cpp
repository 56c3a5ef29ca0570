// Who lives how long: streams and their sessions, connections and their answers, calls and the server. Most of it shows
// under the address sanitizer only.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

#include "server/http_listening.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::string_view asks_for_progress = R"("progressToken":"p")";

/// A tool that waits for its cancel and keeps the cause.
struct parked {
    event began;
    event told;
    std::atomic<cancel_cause> cause{};

    void offer(server& to) {
        to.tool("park", "", [this](call& call) {
            const auto noticed = call.on_cancel([&] {
                cause = call.cause();
                told.set();
            });
            began.set();
            call.sleep_for(patience);
        });
    }
};

class legacy_lifetime : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(every, legacy_lifetime, testing::ValuesIn(legacy_http_revisions), revision_name());

TEST_P(legacy_lifetime, RCV_2_a_session_ends_before_the_streams_of_its_calls) {
    parked tool;
    http_listening server;
    tool.offer(*server);
    server.listen();
    const http_caller client = server.caller(GetParam());
    http_client in_flight = client.call("1", "park");
    ASSERT_TRUE(tool.began.happens());
    http_client gone = client.send(client.delete_bytes());
    EXPECT_EQ(gone.head().status, 204);
    EXPECT_TRUE(tool.told.happens());
    EXPECT_EQ(tool.cause, cancel_cause::disconnect);
    const http_outcome ended = outcome_of(in_flight);
    ASSERT_TRUE(ended.message);
    EXPECT_EQ(code_of(*ended.message), error_code::request_cancelled);
    EXPECT_TRUE(server.empties());
    EXPECT_EQ(client.send(client.get_bytes()).head().status, 404);
}

TEST_P(legacy_lifetime, RCV_2_a_session_that_ends_by_its_own_timer_ends_whole) {
    event ended;
    server_options options = quiet_server();
    options.log = [&](log_level, std::string_view line) {
        if (line.find("idle for too long") != std::string_view::npos) ended.set();
    };
    http_listening server(options);
    server.listen({.limits = {.idle_session = milliseconds(200)}});
    const http_caller client = server.caller(GetParam());
    http_client listening = client.get();
    ASSERT_TRUE(listening.head().in_events());
    EXPECT_EQ(client.get().head().status, 409);
    listening.close();
    EXPECT_TRUE(ended.happens());
    EXPECT_EQ(client.tell(cancel_line("1")), 404);
}

TEST_P(legacy_lifetime, RCV_1_a_call_that_belongs_to_no_session_is_told_when_the_server_leaves) {
    parked tool;
    http_listening server;
    tool.offer(*server);
    server.listen({.sessions = false});
    const http_caller client = server.caller(GetParam());
    http_client waiting = client.call("1", "park");
    ASSERT_TRUE(tool.began.happens());
    std::thread leaving([&] { server.destroy(); });
    EXPECT_TRUE(tool.told.happens());
    leaving.join();
    EXPECT_EQ(tool.cause, cancel_cause::shutdown);
}

TEST_P(legacy_lifetime, HTTP_2_a_client_that_never_comes_back_after_it_was_let_go_of_has_left) {
    if (GetParam() < revision::v2025_11_25) GTEST_SKIP() << "only a client with an event id can come back";
    event told;
    http_listening server;
    server->tool("let_go", "", [&](call& call) {
        const auto noticed = call.on_cancel([&] { told.set(); });
        call.let_go_of_connection();
        call.sleep_for(patience);
    });
    server.listen({.abandon_after = milliseconds(20)});
    const http_caller client = server.caller(GetParam());
    http_client let_go = client.call("1", "let_go");
    const http_outcome heard = outcome_of(let_go);
    EXPECT_FALSE(heard.message);
    EXPECT_TRUE(told.happens());
    EXPECT_TRUE(server.empties());
}

TEST_P(legacy_lifetime, HTTP_3_a_stream_that_never_had_an_event_cannot_be_resumed) {
    parked tool;
    http_listening server;
    tool.offer(*server);
    server.listen();
    const http_caller client = server.caller(GetParam());
    http_client waiting = client.call("1", "park");
    ASSERT_TRUE(tool.began.happens());
    for (int stream = 1; stream <= 8; ++stream) {
        http_client resumed = client.get(std::to_string(stream) + "-0");
        EXPECT_EQ(resumed.head().status, 400);
    }
    EXPECT_FALSE(tool.told.happened());
    client.cancel("1");
    const http_outcome ended = outcome_of(waiting);
    EXPECT_EQ(ended.head.status, 200);
    ASSERT_TRUE(ended.message);
    EXPECT_EQ(code_of(*ended.message), error_code::request_cancelled);
}

// A client that does not read: the first event fills the connection, the second what may wait, and the third is one too
// many, in the middle of somebody's work.

constexpr std::size_t more_than_a_socket_holds = std::size_t{10} << 20U;

class unread : public testing::TestWithParam<revision> {
protected:
    static void say_too_much(call& call) {
        const std::string large(more_than_a_socket_holds, 'x');
        call.progress(1, std::nullopt, large);
        call.progress(2, std::nullopt, large);
        call.progress(3);
    }
    void listen() { server.listen({.limits = {.waiting_soft = 1'000'000'000, .waiting_hard = 1'000}}); }
    event ticked;
    event told;
    http_listening server;  // last: its handlers use the others
};
INSTANTIATE_TEST_SUITE_P(every, unread, testing::ValuesIn(http_revisions), revision_name());

TEST_P(unread, HTTP_1_events_that_do_not_fit_end_the_connection_and_nothing_else) {
    server->tool("tick", "", [&](call& call) {
        const auto noticed = call.on_cancel([&] { told.set(); });
        say_too_much(call);
        ticked.set();
        call.sleep_for(patience);
    });
    listen();
    http_caller client = server.caller(GetParam());
    client.how().connection.receive_buffer = 4'096;
    http_client slow = client.call("1", "tick", "{}", asks_for_progress);
    ASSERT_TRUE(ticked.happens());
    client.how().connection = {};
    client.fence();
    EXPECT_TRUE(!client.modern() || told.happens());
}

async<std::string> ask_to_be_stopped(call& call, event& told, void (*say_too_much)(andon::call&)) {
    const auto noticed = call.on_cancel([&] {
        static_cast<void>(call.stop_token());
        told.set();
    });
    say_too_much(call);
    co_await call.async_cancelled();
    co_return "";
}

TEST_P(unread, RCV_1_a_handler_may_ask_for_anything_while_it_is_told_from_within_its_own_progress) {
    server->tool("tick", "", [&](call& call) { return ask_to_be_stopped(call, told, say_too_much); });
    listen();
    http_caller client = server.caller(GetParam());
    client.how().connection.receive_buffer = 4'096;
    http_client slow = client.call("1", "tick", "{}", asks_for_progress);
    EXPECT_TRUE(!client.modern() || told.happens());
    client.how().connection = {};
    client.fence();
}

// The end of the server.

class leaving : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(every, leaving, testing::ValuesIn(http_revisions), revision_name());

TEST_P(leaving, RCV_2_clients_that_never_stop_sending_do_not_keep_the_server) {
    http_listening server;
    server.listen();
    const http_caller client = server.caller(GetParam());
    client.fence();
    // Each is told that it speaks no HTTP, and what it sends from then on is thrown away.
    std::vector<http_client> connections;
    for (int i = 0; i < 32; ++i) {
        connections.push_back(client.send("what is this?\r\n\r\n"));
        EXPECT_EQ(connections.back().head().status, 400);
    }
    std::atomic<bool> all_cut_off = false;
    std::thread sender([&] {
        const std::string noise(1'024, '.');
        for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
             !all_cut_off && std::chrono::steady_clock::now() < until;) {
            bool any = false;
            for (http_client& each : connections) {
                const ssize_t sent = ::send(each.fd(), noise.data(), noise.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
                any = any || sent >= 0 || errno == EAGAIN;
            }
            all_cut_off = !any;
        }
    });
    server.destroy();
    sender.join();
    EXPECT_TRUE(all_cut_off);
}

TEST_P(leaving, RCV_1_every_call_is_told_and_every_connection_closed) {
    parked tool;
    http_listening server;
    tool.offer(*server);
    server.listen();
    const http_caller client = server.caller(GetParam());
    http_client waiting = client.call("1", "park", "{}", asks_for_progress);
    ASSERT_TRUE(tool.began.happens());
    http_client idle = client.connection();
    http_client half = client.send("POST /mcp HTTP/1.1\r\nHost: loc");
    server.destroy();
    EXPECT_TRUE(tool.told.happened());
    EXPECT_EQ(tool.cause, cancel_cause::shutdown);
    static_cast<void>(idle.closed());
    static_cast<void>(half.closed());
    if (client.modern()) {
        static_cast<void>(waiting.closed());
    } else {
        const http_outcome ended = outcome_of(waiting);
        ASSERT_TRUE(ended.message);
        EXPECT_EQ(code_of(*ended.message), error_code::request_cancelled);
    }
}

// Clocks and limits.

TEST(http_clocks, a_connection_is_idle_from_its_answer_on) {
    event go_on;
    http_listening server;
    server->tool("later", "", [&](call&) { return std::string(go_on.happens() ? "gone on" : "nothing"); });
    server.listen({.comment_every = std::chrono::hours(1), .limits = {.idle_connection = milliseconds(100)}});
    const http_caller client = server.caller(revision::v2026_07_28);
    http_client connection = client.call("1", "later");
    // Once another connection was closed for being idle, the clock of this one has been looked at too.
    static_cast<void>(client.connection().closed());
    static_cast<void>(client.connection().closed());
    go_on.set();
    ASSERT_TRUE(outcome_of(connection).message);
    EXPECT_TRUE(connection.closed());
}

TEST(http_clocks, what_one_client_has_in_flight_is_nothing_to_another) {
    server_options options = quiet_server();
    options.most_bytes = 100'000;
    event began;
    http_listening server(options);
    server->tool("hold", "", [&](const json::object&, call& call) {
        began.set();
        call.sleep_for(patience);
    });
    server.listen({.verify = static_tokens({{"a", "alice"}, {"b", "bob"}})});
    const http_caller alice = server.caller(revision::v2026_07_28, {.token = "a"});
    const http_caller bob = server.caller(revision::v2026_07_28, {.token = "b"});
    const std::string large = R"({"text":")" + std::string(60'000, '.') + "\"}";
    const http_client held = alice.call("1", "hold", large);
    ASSERT_TRUE(began.happens());
    const http_outcome refused = alice.answered("2", "echo", large);
    EXPECT_EQ(refused.head.status, 429);
    const http_outcome answered = bob.answered("2", "echo", large);
    EXPECT_EQ(answered.head.status, 200);
    ASSERT_TRUE(answered.message);
    EXPECT_EQ(text_of(*answered.message).size(), 60'000U);
}

TEST(http_clocks, a_verifier_that_throws_refuses) {
    http_listening server;
    server.listen({.verify = [](std::string_view token) -> verification {
        if (token == "good") return {.who = principal{.id = "somebody"}};
        throw std::runtime_error("the key is locked away");
    }});
    const http_caller bad(server.port(), revision::v2026_07_28, {.token = "bad"});
    const http_outcome refused = bad.answered("1", "echo", R"({"text":"hello"})");
    EXPECT_EQ(refused.head.status, 500);
    ASSERT_TRUE(refused.message);
    EXPECT_THAT(message_of(*refused.message), testing::Not(HasSubstr("locked away")));
    server.caller(revision::v2026_07_28, {.token = "good"}).fence();
}

}  // namespace
}  // namespace andon
