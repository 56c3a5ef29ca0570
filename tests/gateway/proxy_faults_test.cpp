// What proxies in front of servers were seen to do to cancels (November 2026): none of it happens here.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "andon/wire/error.hpp"
#include "client/raw_http_server.hpp"
#include "gateway/listening_program.hpp"
#include "gateway/recording.hpp"
#include "gateway/relay_hosts.hpp"
#include "process/process_watch.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto legacy = revision::v2025_11_25;
constexpr auto modern = revision::v2026_07_28;
constexpr std::string_view cancelled = R"("notifications/cancelled")";
constexpr std::string_view asks_for_progress = R"("progressToken":"p")";

words at_url(const http_process& server) {
    return {"--url", "http://127.0.0.1:" + std::to_string(server.port()) + "/mcp"};
}

class proxy_faults : public testing::Test {
protected:
    own_folder folder;
    recording recorded{folder};
};
class proxy_faults_of : public testing::TestWithParam<revision> {
protected:
    own_folder folder;
    recording recorded{folder};
};
INSTANTIATE_TEST_SUITE_P(eras, proxy_faults_of, testing::Values(legacy, modern), revision_name());

TEST_P(proxy_faults_of, DIR_6_the_cancel_of_one_client_touches_no_other_and_answers_go_to_who_asked) {
    gateway_in_front gateway(folder, everything_behind());
    http_host a(gateway, GetParam());
    http_host b(gateway, GetParam());
    a.call("2", "park", with_key("a"), asks_for_progress);
    b.call("2", "park", with_key("b"), asks_for_progress);
    gateway.mark("start", "a");
    gateway.mark("start", "b");
    a.cancel("2");
    gateway.mark("cancel", "a");
    a.call("3", "echo", R"({"text":"to a"})");
    b.call("3", "echo", R"({"text":"to b"})");
    EXPECT_THAT(a.answer("3"), HasSubstr("to a"));
    EXPECT_THAT(b.answer("3"), HasSubstr("to b"));
    EXPECT_THAT(a.unheard("3"), IsEmpty());
    EXPECT_THAT(b.unheard("3"), IsEmpty());
    EXPECT_FALSE(gateway.marked("cancel", "b"));
    EXPECT_THAT(b.unheard("2"), IsEmpty());
    b.cancel("2");
    gateway.mark("cancel", "b");
}

TEST_P(proxy_faults_of, SND_3_a_renumbered_request_is_cancelled_by_its_new_number) {
    wrap_host host(GetParam(), folder, recorded.server(era_of(GetParam())));
    // Such as the server's own numbers would be, or one beside them.
    for (int id = 1; id <= 40; ++id) host.call(std::to_string(id), "hold", with_key("<" + std::to_string(id) + ">"));
    std::map<int, std::int64_t> upstream;
    for (int id = 1; id <= 40; ++id) {
        upstream[id] = recorded.await("<" + std::to_string(id) + ">").at(0).message().at("id").as_int64();
    }
    std::size_t cancels = 0;
    for (const int id : {2, 17, 18, 40, 1}) {
        host.cancel(std::to_string(id));
        const auto told = recorded.await(cancelled, ++cancels);
        ASSERT_THAT(told, SizeIs(cancels));
        EXPECT_EQ(told.back().message().at("params").at("requestId").as_int64(), upstream[id]);
    }
    host.fence();
    EXPECT_THAT(recorded.with(cancelled), SizeIs(cancels));
}

struct process_case {
    const char* name;
    front_door by;
    revision speaks;
    std::vector<std::string> options;
};
void PrintTo(const process_case& which, std::ostream* to) { *to << which.name; }

class proxy_processes : public testing::TestWithParam<process_case> {};
INSTANTIATE_TEST_SUITE_P(
    ways, proxy_processes,
    testing::Values(process_case{"wrap", front_door::wrap, legacy, {}},
                    process_case{"session", front_door::gateway, legacy, {}},
                    process_case{"pool", front_door::gateway, modern, {}},
                    process_case{"isolated", front_door::wrap, legacy, {"--on-ignored", "isolate"}},
                    process_case{"isolated_session", front_door::gateway, legacy, {"--on-ignored", "isolate"}},
                    process_case{"isolated_modern", front_door::gateway, modern, {"--on-ignored", "isolate"}}),
    [](const auto& which) { return std::string(which.param.name); });

TEST_P(proxy_processes, RCV_1_a_cancel_goes_to_the_process_that_has_the_call) {
    const own_folder folder;
    const recording recorded(folder);
    const words server = recorded.server(era_of(GetParam().speaks));
    const relayed with = relayed::through(GetParam().by, GetParam().speaks, folder, server, GetParam().options);
    relay_host* const host = with.host.get();
    std::map<std::string, recording::line> calls;
    for (const std::string id : {"1", "2", "3", "4", "5", "6"}) {
        host->call(id, "hold", with_key("<" + id + ">"));
        calls.emplace(id, recorded.await("<" + id + ">").at(0));
    }
    std::size_t told = 0;
    for (const std::string id : {"4", "1", "6"}) {
        host->cancel(id);
        const auto all = recorded.await(cancelled, ++told);
        ASSERT_THAT(all, SizeIs(told));
        EXPECT_EQ(all.back().server, calls.at(id).server);
        EXPECT_EQ(all.back().message().at("params").at("requestId"), calls.at(id).message().at("id"));
    }
}

TEST_F(proxy_faults, SND_5_a_cancel_that_was_accepted_reaches_the_work) {
    http_process elsewhere(legacy);
    for (const bool url : {false, true}) {
        const own_folder own;
        gateway_in_front gateway(own, url ? at_url(elsewhere) : everything_behind());
        server_process& marks = url ? static_cast<server_process&>(elsewhere) : gateway;
        http_caller client = gateway.caller(legacy);
        client.open();
        http_client stream = client.call("\"a\"", "wait", with_key("work", R"("ms":60000,"tick_ms":5)"));
        marks.mark("start", "work");
        EXPECT_EQ(client.tell(cancel_line("\"a\"", "\"enough\"")), 202);
        marks.mark("cancel", "work");
    }
}

TEST_P(proxy_faults_of, RCV_8_later_calls_have_their_progress_after_a_cancel_and_a_dropped_stream) {
    for (const bool url : {false, true}) {
        const own_folder own;
        const http_process elsewhere(GetParam());
        gateway_in_front gateway(own, url ? at_url(elsewhere) : everything_behind());
        http_host host(gateway, GetParam());
        const std::string forever = R"({"ms":60000,"tick_ms":2})";
        for (const std::string id : {"1", "2"}) {
            host.call(id, "wait", forever, R"("progressToken":)" + id);
            EXPECT_THAT(host.message_with(id, "notifications/progress"), HasSubstr(R"("progressToken":)" + id));
        }
        host.cancel("1");
        {
            http_client dropped = host.client().call("3", "wait", forever, R"("progressToken":3)");
            static_cast<void>(dropped.head());
            dropped.reset();
        }
        host.call("4", "wait", R"({"ms":20,"tick_ms":2})", R"("progressToken":4)");
        for (int i = 0; i < 3; ++i) {
            EXPECT_THAT(host.message_with("4", "notifications/progress"), HasSubstr(R"("progressToken":4)"));
        }
        EXPECT_THAT(host.answer("4"), HasSubstr("waited 20 ms"));
        EXPECT_THAT(host.message_with("2", "notifications/progress"), HasSubstr(R"("progressToken":2)"));
    }
}

TEST_F(proxy_faults, HTTP_3_the_stream_of_a_cancelled_call_ends_at_once) {
    gateway_in_front gateway(folder, recorded.server());
    http_caller client = gateway.caller(legacy);
    client.open();
    for (const std::string_view accept : {takes_both, takes_json}) {
        client.how().accept = accept;
        http_client stream = client.call("1", "hold", "{}", asks_for_progress);
        static_cast<void>(recorded.await(R"("hold")", accept == takes_both ? 1 : 2));
        const auto asked = std::chrono::steady_clock::now();
        client.cancel("1");
        const http_outcome end = outcome_of(stream);
        EXPECT_LT(std::chrono::steady_clock::now() - asked, promptly) << "the server says nothing about it, ever";
        EXPECT_THAT(end.message ? code_of(*end.message) : 0, testing::AnyOf(0, error_code::request_cancelled));
        EXPECT_FALSE(end.message && end.message->contains("result"));
    }
}

// The client is gone.

/// Answers a server's part of the handshake.
void shake(raw_http_server& server, const std::function<void()>& open) {
    std::jthread host(open);
    server.shake(legacy, "upstream");
    host.join();
}

/// In whichever order they come; what is asked otherwise is answered with 202.
void expect_cancel_of(raw_http_server& server, const json::value& id) {
    const raw_http_request told = server.next("notifications/cancelled");
    EXPECT_EQ(told.message().at("params").at("requestId"), id);
    EXPECT_EQ(told.header("mcp-session-id"), "upstream");
    told.reply("202 Accepted");
}

TEST_F(proxy_faults, SND_5_a_host_that_is_gone_is_told_upstream_by_wrap) {
    raw_http_server server;
    wrapped host(legacy, folder, {"--url", server.url()});
    shake(server, [&] { host.open(); });
    host.call("1", "slow");
    const raw_http_request call = server.next("tools/call");
    call.begin_events();
    host.close_input();
    expect_cancel_of(server, call.id());
    EXPECT_EQ(host.exit().code, 0);
    EXPECT_TRUE(eventually([&] { return !server.deleted().empty(); }));
    EXPECT_THAT(server.deleted(), testing::ElementsAre("upstream"));
    EXPECT_THAT(journal_in(folder), testing::HasSubstr(R"("evidence":"unseen")")) << "it is not the server that ended";
}

/// A session behind a URL, with a call in flight.
class proxied_session : public testing::Test {
protected:
    proxied_session() {
        shake(server, [&] { client.open(); });
    }
    /// The server's id of it.
    json::value begin_call() {
        stream.emplace(client.call("1", "slow", "{}", asks_for_progress));
        const raw_http_request call = server.next("tools/call");
        call.begin_events();
        return call.id();
    }
    void expect_leave() {
        EXPECT_TRUE(eventually([&] { return !server.deleted().empty(); }));
        EXPECT_THAT(server.deleted(), testing::ElementsAre("upstream"));
    }

    own_folder folder;
    raw_http_server server;
    gateway_in_front gateway{folder, {"--url", server.url()}};
    http_caller client{gateway.caller(legacy)};
    std::optional<http_client> stream;
};

TEST_F(proxied_session, SND_5_one_that_ends_is_told_upstream) {
    const json::value call = begin_call();
    std::jthread leaves([&] { EXPECT_EQ(client.send(client.delete_bytes()).head().status, 204); });
    expect_cancel_of(server, call);
    leaves.join();
    expect_leave();
}

TEST_F(proxied_session, SND_5_a_gateway_that_leaves_tells_upstream) {
    const json::value call = begin_call();
    ::kill(gateway.pid(), SIGTERM);
    expect_cancel_of(server, call);
    expect_leave();
    EXPECT_EQ(gateway.exit().code, 0);
}

/// Nothing is in flight that a cancel would have to be sent for: the session ends all the same.
TEST_F(proxied_session, RCV_2_a_gateway_that_leaves_ends_an_idle_session_too) {
    ::kill(gateway.pid(), SIGTERM);
    expect_leave();
    EXPECT_EQ(gateway.exit().code, 0);
}

TEST_F(proxy_faults, RCV_2_a_wrap_that_leaves_ends_its_idle_session_upstream) {
    raw_http_server server;
    wrapped host(legacy, folder, {"--url", server.url()});
    shake(server, [&] { host.open(); });
    ::kill(host.pid(), SIGTERM);
    EXPECT_EQ(host.exit().code, 0);
    EXPECT_THAT(server.deleted(), testing::ElementsAre("upstream"));
}

TEST_F(proxy_faults, one_session_that_takes_its_leave_does_not_hold_up_the_others) {
    // The leave has its limit: on a machine that stands still for so long, it is over before the call. Not every time.
    bool overtaken = false;
    for (int i = 0; i < 10 && !overtaken; ++i) {
        raw_http_server server;
        gateway_in_front gateway(folder, {"--url", server.url()});
        http_caller leaving = gateway.caller(legacy);
        http_caller staying = gateway.caller(legacy);
        shake(server, [&] { leaving.open(); });
        shake(server, [&] { staying.open(); });
        http_client stream = leaving.call("1", "slow", "{}", asks_for_progress);
        server.next("tools/call").begin_events();
        http_client goodbye = leaving.send(leaving.delete_bytes());
        const raw_http_request told = server.next("notifications/cancelled");  // which is not answered
        http_client other = staying.call("1", "quick");
        const raw_http_request call = server.next("tools/call");
        overtaken = server.deleted().empty();
        call.answer_text("here");
        EXPECT_TRUE(outcome_of(other).message.value().contains("result"));
        told.reply("202 Accepted");
        EXPECT_TRUE(eventually([&] { return !server.deleted().empty(); }));
    }
    EXPECT_TRUE(overtaken);
}

TEST_F(proxy_faults, one_session_whose_server_is_given_up_does_not_hold_up_the_others) {
    // As above.
    bool overtaken = false;
    for (int i = 0; i < 10 && !overtaken; ++i) {
        raw_http_server server;
        gateway_in_front gateway(folder, {"--url", server.url()});
        http_caller failing = gateway.caller(legacy);
        http_caller staying = gateway.caller(legacy);
        shake(server, [&] { failing.open(); });
        shake(server, [&] { staying.open(); });
        server.leave_deletes_unanswered();
        const auto passes_at_once = [&](std::size_t sessions_ended) {
            EXPECT_TRUE(eventually([&] { return server.deleted().size() == sessions_ended; }));
            const auto since = std::chrono::steady_clock::now();
            http_client other = staying.call("1", "quick");
            const raw_http_request call = server.next("tools/call");
            const bool at_once = std::chrono::steady_clock::now() - since < std::chrono::milliseconds(75);
            call.answer_text("here");
            EXPECT_TRUE(outcome_of(other).message.value().contains("result"));
            return at_once;
        };
        // Its session is gone, and the next one speaks another revision than that.
        http_client stream = failing.call("1", "slow");
        server.next("tools/call").reply("404 Not Found");
        server.next("initialize").answer({{"protocolVersion", "2025-06-18"}}, "Mcp-Session-Id: second\r\n");
        const bool first = passes_at_once(1);
        EXPECT_EQ(code_of(outcome_of(stream).message.value()), -32603);
        // And the one after that speaks none.
        server.next("initialize").answer({{"nothing", "agreed"}}, "Mcp-Session-Id: third\r\n");
        overtaken = passes_at_once(2) && first;
    }
    EXPECT_TRUE(overtaken);
}

TEST_F(proxy_faults, SND_4_a_modern_host_that_is_gone_closes_the_stream_upstream) {
    http_process elsewhere(modern);
    gateway_in_front gateway(folder, at_url(elsewhere));
    http_host host(gateway, modern);
    host.call("1", "park", with_key("gone"));
    elsewhere.mark("start", "gone");
    host.cancel("1");
    elsewhere.mark("cancel", "gone");
}

TEST_P(proxy_faults_of, SND_3_a_host_that_is_gone_is_told_to_a_server_on_stdio) {
    std::string upstream;
    {
        wrap_host host(GetParam(), folder, recorded.server(era_of(GetParam())));
        host.call("1", "hold", with_key("here"));
        upstream = json::serialize(recorded.await("here").at(0).message().at("id"));
        host.process().close_input();
        EXPECT_EQ(host.process().exit().code, 0);
    }
    const auto all = recorded.lines();
    ASSERT_GE(all.size(), 2U);
    EXPECT_EQ(all.back().text, "@end");
    EXPECT_THAT(all.at(all.size() - 2).text, HasSubstr(R"("requestId":)" + upstream)) << "before the end of its input";
}

// andon is gone.

std::vector<pid_t> pids_in(const std::string& text) {
    std::istringstream from(text);
    std::vector<pid_t> all;
    for (int i = 0; i < 3; ++i) {
        pid_t next = 0;
        from >> next;
        all.push_back(next);
    }
    return all;
}

TEST_F(proxy_faults, RCV_2_nothing_works_on_behind_a_wrap_that_was_killed) {
    wrapped andon(legacy, folder, everything_behind());
    andon.open();
    andon.call("1", "child", with_key("c"));
    std::vector<process_watch> left;
    for (const pid_t each : pids_in(andon.mark("pids", "c"))) left.emplace_back(each);
    left.emplace_back(state_and_parent(left.front().pid()).second);
    ::kill(andon.pid(), SIGKILL);
    for (const process_watch& each : left) EXPECT_TRUE(each.wait_for_end()) << each.pid();
}

TEST_F(proxy_faults, RCV_2_nothing_works_on_behind_a_gateway_that_was_killed) {
    gateway_in_front gateway(folder, everything_behind());
    http_host first(gateway, legacy);
    http_host second(gateway, modern);
    std::vector<process_watch> left;
    first.call("1", "child", with_key("a"));
    second.call("1", "child", with_key("b"));
    for (const char* key : {"a", "b"}) {
        for (const pid_t each : pids_in(gateway.mark("pids", key))) left.emplace_back(each);
    }
    ::kill(gateway.pid(), SIGKILL);
    for (const process_watch& each : left) EXPECT_TRUE(each.wait_for_end()) << each.pid();
}

TEST_P(proxy_faults_of, MSG_3_ids_beyond_two_to_the_53rd_are_not_rounded) {
    for (const front_door by : {front_door::wrap, front_door::gateway}) {
        const own_folder own;
        const relayed with = relayed::through(by, GetParam(), own, everything_behind());
        relay_host* const host = with.host.get();
        server_process* const marks = with.andon;
        const words near{"9007199254740992", "9007199254740993", "9007199254740994"};
        for (const std::string& id : near) host->call(id, "park", with_key(id));
        for (const std::string& id : near) marks->mark("start", id);
        host->cancel("9007199254740993");
        marks->mark("cancel", "9007199254740993");
        host->fence();
        EXPECT_FALSE(marks->marked("cancel", "9007199254740992"));
        EXPECT_FALSE(marks->marked("cancel", "9007199254740994"));
        for (const std::string& id : {near[0], near[2]}) EXPECT_THAT(host->unheard(id), IsEmpty());
        for (const std::string id : {"9007199254740995", "9007199254740996"}) {
            host->call(id, "echo", R"({"text":"for )" + id + R"("})");
        }
        EXPECT_THAT(host->answer("9007199254740996"), HasSubstr("for 9007199254740996"));
        EXPECT_THAT(host->answer("9007199254740995"), HasSubstr("for 9007199254740995"));
    }
}

TEST_F(proxy_faults, RCV_1_a_server_that_ignores_a_cancel_is_made_to_stop) {
    wrap_host host(legacy, folder, recorded.server(), {"--on-ignored", "restart", "--grace", "100ms"});
    host.call("1", "work", "{}", asks_for_progress);
    static_cast<void>(host.message_with("1", "notifications/progress"));
    const process_watch server(recorded.lines().front().server);
    host.cancel("1");
    host.fence();
    const std::size_t from = host.process().lines().size();
    EXPECT_TRUE(server.wait_for_end());
    host.fence();  // by the next process, which was told of the handshake
    EXPECT_THAT(recorded.with("@start"), SizeIs(2));
    EXPECT_THAT(recorded.with(R"("initialize")"), SizeIs(2));
    EXPECT_EQ(host.process().heard("notifications/progress", from), 0);
    EXPECT_EQ(host.process().answers("1"), 0);
}

}  // namespace
}  // namespace andon
