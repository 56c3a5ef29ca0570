// Stopping a call over HTTP: in every phase of its POST, and in both eras.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

#include "client/raw_http_server.hpp"
#include "core/named_case.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

struct revision_case {
    std::string name;
    revision speaks;
};

class http_cancel : public testing::TestWithParam<revision_case> {
protected:
    [[nodiscard]] bool modern() const { return era_of(GetParam().speaks) == era::modern; }
    [[nodiscard]] client connect(http_client_options how = {}) {
        return server_.connect(quiet_client({GetParam().speaks}), std::move(how));
    }
    /// SND-4 and SND-5: how the server is told that nobody waits for `request` any more.
    /// `just_sent`: then the cancel may have overtaken it under legacy, and comes twice.
    void expect_told(const raw_http_request& request, const json::value& why, bool just_sent = false) {
        for (int i = 0; !modern() && i < (just_sent ? 2 : 1); ++i) {
            const auto cancel = server_.next("notifications/cancelled");
            const json::object params = cancel.message().at("params").as_object();
            EXPECT_EQ(params.at("requestId"), request.id());
            EXPECT_EQ(params.contains("reason") ? params.at("reason") : json::value(), why);
            EXPECT_EQ(cancel.header("mcp-session-id"), "s1");
            EXPECT_NE(cancel.on, request.on);
            cancel.reply("202 Accepted");
        }
        EXPECT_TRUE(request.on->closed_by_client());
        EXPECT_TRUE(server_.nothing_came()) << "and in no other way";
    }
    void expect_cancelled(pending_call& pending, std::string_view why) {
        EXPECT_TRUE(pending.cancel(why));
        EXPECT_TRUE(pending.done());
        EXPECT_EQ(pending.get().status, call_status::cancelled);
        EXPECT_EQ(pending.get().message, why);
    }

    raw_http_server server_;
};

INSTANTIATE_TEST_SUITE_P(client, http_cancel,
                         testing::Values(revision_case{"v2025_03_26", revision::v2025_03_26},
                                         revision_case{"v2025_06_18", revision::v2025_06_18},
                                         revision_case{"v2025_11_25", revision::v2025_11_25},
                                         revision_case{"v2026_07_28", revision::v2026_07_28}),
                         by_name());

TEST_P(http_cancel, SND_2_SND_4_SND_5_before_the_first_byte_of_the_answer) {
    auto client = connect();
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    expect_cancelled(pending, "the user pressed Stop");
    expect_told(request, "the user pressed Stop", true);
    server_.fence(client);
}

TEST_P(http_cancel, SND_2_SND_4_SND_5_in_the_middle_of_its_events) {
    auto client = connect();
    event at_work;
    auto pending = client.call_tool("work", {}, {.on_progress = [&](const progress_update&) { at_work.set(); }});
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.progress(1);
    ASSERT_TRUE(at_work.happens());
    expect_cancelled(pending, "Stop");
    expect_told(request, "Stop");
    server_.fence(client);
}

TEST_P(http_cancel, SND_2_SND_4_SND_5_in_the_middle_of_a_body) {
    auto client = connect();
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.on->write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
    server_.fence(client);  // which comes in behind it
    expect_cancelled(pending, "");
    expect_told(request, nullptr);
    server_.fence(client);
}

TEST_P(http_cancel, SND_2_SND_4_SND_5_a_dropped_call_is_cancelled) {
    auto client = connect();
    std::optional<raw_http_request> request;
    {
        const auto dropped = client.call_tool("work");
        request = server_.next("tools/call");
    }
    expect_told(*request, "nobody waits for it any more", true);
}

TEST_P(http_cancel, DIR_3_while_it_waits_for_its_turn_it_is_never_sent) {
    auto client = connect({.max_connections = 1});
    auto first = client.call_tool("first");
    const auto request = server_.next("tools/call");
    auto second = client.call_tool("second");
    auto third = client.call_tool("third");
    client.notify("notifications/roots/list_changed");  // which waits for no call
    server_.next("notifications/roots/list_changed").reply("202 Accepted");
    expect_cancelled(second, "Stop");
    request.answer_text("done");
    EXPECT_EQ(text_of(first.get()), "done");
    const auto after = server_.next("tools/call");
    EXPECT_EQ(after.message().at("params").at("name"), "third");
    after.answer_text("done too");
    EXPECT_EQ(text_of(third.get()), "done too");
    server_.fence(client);
}

TEST_P(http_cancel, DIR_3_cancelled_at_once_it_is_sent_and_cancelled_or_never_sent) {
    auto client = connect();
    auto pending = client.call_tool("work");
    expect_cancelled(pending, "Stop");
    auto fence = client.request("prompts/list");
    std::vector<std::string> seen;
    for (;;) {
        const auto request = server_.next();
        seen.push_back(request.rpc());
        if (request.rpc() == "prompts/list") {
            request.answer({{"resultType", "complete"}, {"prompts", json::array()}});
            break;
        }
        request.reply("202 Accepted");
    }
    EXPECT_TRUE(fence.get().completed());
    // What is in the middle is the request, and under legacy its cancel: or neither.
    if (modern()) {
        EXPECT_THAT(seen, testing::Not(testing::Contains("notifications/cancelled")));
    }
}

TEST_P(http_cancel, SND_5_TIME_2_waits_for_no_server_that_does_not_take_answers) {
    if (modern()) GTEST_SKIP() << "the server asks nothing there, and a cancel is no message";
    client_options options = quiet_client({GetParam().speaks});
    options.on_sampling = [](const json::object&, const cancel_token&) -> json::object {
        return {{"role", "assistant"}, {"model", "m"}};
    };
    auto client = server_.connect(std::move(options), {.max_connections = 2});
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    for (int i = 0; i < 5; ++i) {
        request.event(
            {{"jsonrpc", "2.0"}, {"id", i}, {"method", "sampling/createMessage"}, {"params", json::object()}});
    }
    std::vector<raw_http_request> never_answered;
    for (int i = 0; i < 2; ++i) never_answered.push_back(server_.next());
    expect_cancelled(pending, "stop");
    EXPECT_EQ(server_.next("notifications/cancelled").message().at("params").at("requestId"), request.id());
}

TEST_P(http_cancel, RCV_12_what_the_call_asked_is_taken_back_on_its_stream) {
    if (modern()) GTEST_SKIP() << "the server asks nothing there";
    event asked;
    event taken_back;
    client_options options = quiet_client({GetParam().speaks});
    options.on_sampling = [&](const json::object&, const cancel_token& token) -> json::object {
        asked.set();
        token.wait();
        taken_back.set();
        return {};
    };
    auto client = server_.connect(std::move(options));
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event({{"jsonrpc", "2.0"}, {"id", "q"}, {"method", "sampling/createMessage"}, {"params", json::object()}});
    ASSERT_TRUE(asked.happens());
    expect_cancelled(pending, "Stop");
    server_.next("notifications/cancelled").reply("202 Accepted");
    request.event({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", "q"}}}});
    EXPECT_TRUE(taken_back.happens());
    request.event(text_message(request.id(), "too late"));
    EXPECT_TRUE(request.on->closed_by_client());
    server_.fence(client);
}

TEST_P(http_cancel, SND_1_a_late_answer_is_dropped_and_the_client_goes_on) {
    auto client = connect();
    auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    expect_cancelled(pending, "Stop");
    request.answer_text("too late");
    expect_told(request, "Stop", true);
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    server_.fence(client);
}

TEST_P(http_cancel, TIME_2_a_timeout_tells_the_server_in_the_same_way) {
    auto client = connect();
    const auto pending = client.call_tool("work", {}, {.timeout = 300ms});
    const auto request = server_.next("tools/call");
    EXPECT_EQ(pending.get().status, call_status::timed_out);
    expect_told(request, "no progress within the idle limit");
    server_.fence(client);
}

TEST_P(http_cancel, TIME_3_TIME_4_progress_keeps_it_alive_until_its_maximum) {
    auto client = connect();
    recorded<double> seen;
    const auto pending = client.call_tool(
        "work", {},
        {.timeout = 10s, .max_timeout = 300ms, .on_progress = [&](const progress_update& u) { seen.add(u.progress); }});
    const auto request = server_.next("tools/call");
    request.begin_events();
    for (int i = 1; i <= 3; ++i) request.progress(i);
    ASSERT_TRUE(seen.reach(3));
    EXPECT_EQ(pending.get().status, call_status::timed_out);
    expect_told(request, "the maximum time is over");
    server_.fence(client);
}

TEST_P(http_cancel, DIR_4_what_belongs_to_the_beginning_cannot_be_cancelled) {
    auto client = connect();
    EXPECT_THROW(static_cast<void>(client.request("initialize")), std::invalid_argument);
    auto pending = client.request("server/discover");
    const auto request = server_.next("server/discover");
    EXPECT_THROW(pending.cancel("Stop"), std::logic_error);
    request.answer({{"resultType", "complete"}});
    EXPECT_TRUE(pending.get().completed());
    server_.fence(client);
}

TEST_P(http_cancel, SND_2_many_at_once) {
    auto client = connect();
    std::vector<pending_call> calls;
    for (int i = 0; i < 50; ++i) calls.push_back(client.call_tool("work"));
    std::vector<raw_http_request> requests;
    for (int i = 0; i < 50; ++i) requests.push_back(server_.next("tools/call"));
    for (auto& each : calls) each.cancel("Stop");
    for (const auto& each : calls) EXPECT_EQ(each.get().status, call_status::cancelled);
    if (!modern()) {
        for (int i = 0; i < 2 * 50; ++i) server_.next("notifications/cancelled").reply("202 Accepted");
    }
    for (const auto& each : requests) EXPECT_TRUE(each.on->closed_by_client());
    server_.fence(client);
    EXPECT_TRUE(eventually([&] { return client.requests().size() == 0; }));
}

/// Whether somebody waits to be let in at this port.
bool somebody_connects_to(std::uint16_t port) {
    std::ifstream table("/proc/net/tcp");
    std::array<char, 8> there{};
    std::snprintf(there.data(), there.size(), ":%04X", port);
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string number, from, to, state;
        words >> number >> from >> to >> state;
        if (to.ends_with(there.data()) && state == "02") return true;  // SYN_SENT
    }
    return false;
}

TEST(http_cancel_connecting, DIR_3_while_it_connects_it_is_never_sent) {
    raw_http_server server(0);
    auto client = server.connect(quiet_client({newest_modern}));
    auto parked = client.call_tool("parked");
    const auto request = server.next("tools/call");  // has the only connection
    server.stop_accepting();
    // A queue of one: who comes next is not let in by the kernel.
    const int filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    ASSERT_EQ(::connect(filler, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    auto pending = client.call_tool("work");
    ASSERT_TRUE(eventually([&] { return somebody_connects_to(server.port()); }));
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_TRUE(eventually([&] { return !somebody_connects_to(server.port()); }));
    server.go_on_accepting();
    ::close(filler);
    request.answer_text("done");
    EXPECT_EQ(text_of(parked.get()), "done");
    server.fence(client);
}

}  // namespace
}  // namespace andon
