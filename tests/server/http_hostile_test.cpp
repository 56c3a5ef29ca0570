// Clients that do what no client should: the server bears it, and the others do not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <set>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

#include "server/http_listening.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr auto modern = revision::v2026_07_28;
constexpr std::string_view asks_for_progress = R"("progressToken":"p")";

/// False: the server does not take any more of it, for now or for ever.
bool send_now(const http_client& connection, std::string_view bytes) {
    return ::send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

/// The same again and again until the server says something or hangs up. How many bytes it took.
std::size_t send_until_answered(http_client& connection, std::string_view bytes, std::size_t most) {
    std::size_t sent = 0;
    while (sent < most && connection.quiet()) {
        if (send_now(connection, bytes)) sent += bytes.size();
    }
    return sent;
}

// Too slow.

TEST(http_hostile, a_request_that_comes_byte_by_byte_has_its_time_and_holds_up_nobody) {
    http_process server(modern, {"--receive-ms", "300"});
    const http_caller client = server.caller();
    http_client slow = client.connection();
    slow.write("POST /mcp HTTP/1.1\r\nX-Long: ");
    for (int sent = 0; sent < 10'000 && slow.quiet(); ++sent) {
        ASSERT_TRUE(send_now(slow, "."));
        client.fence();
    }
    EXPECT_EQ(slow.head().status, 408);
    static_cast<void>(slow.body());
    EXPECT_TRUE(slow.closed());
}

TEST(http_hostile, a_body_that_comes_byte_by_byte_has_its_time_too) {
    http_process server(modern, {"--receive-ms", "300"});
    const http_caller client = server.caller();
    http_client slow = client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
    for (int sent = 0; sent < 10'000 && slow.quiet(); ++sent) {
        ASSERT_TRUE(send_now(slow, " "));
        client.fence();
    }
    EXPECT_EQ(slow.head().status, 408);
}

// Too much.

TEST(http_hostile, a_body_that_is_too_large_is_refused_before_it_comes) {
    http_process server(modern, {"--body-bytes", "100000"});
    const http_caller client = server.caller();
    http_client plain = client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n");
    EXPECT_EQ(plain.head().status, 413);
    http_client asks =
        client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(asks.head().status, 413);
    client.fence();
}

TEST(http_hostile, a_client_that_asks_first_is_told_to_go_on) {
    http_process server(modern);
    const http_caller client = server.caller();
    http_headers headers = client.headers();
    headers.emplace_back("Mcp-Method", "tools/call");
    headers.emplace_back("Mcp-Name", "echo");
    headers.emplace_back("Expect", "100-continue");
    const std::string body = call_line(modern, "1", "echo", R"({"text":"hello"})");
    const std::string whole = http_message("POST", headers, body);
    const std::size_t head = whole.size() - body.size();
    http_client asks = client.send(std::string_view(whole).substr(0, head));
    EXPECT_EQ(asks.head().status, 100);
    asks.write(body);
    const http_outcome answer = outcome_of(asks);
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "hello");
}

struct endless {
    std::string name;
    std::string begin;
    std::string again;
    int status;
};
class without_end : public testing::TestWithParam<endless> {};

constexpr std::string_view chunked = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    every, without_end,
    testing::Values(endless{"headers", "GET /mcp HTTP/1.1\r\n", "X-Another: " + std::string(1'000, 'x') + "\r\n", 431},
                    endless{"one_header", "GET /mcp HTTP/1.1\r\nX-Long: ", std::string(1'000, 'x'), 431},
                    endless{"the_target", "GET /", std::string(1'000, 'x'), 431},
                    endless{"chunks", std::string(chunked), "3e8\r\n" + std::string(1'000, ' ') + "\r\n", 413},
                    endless{"the_line_before_a_chunk", std::string(chunked) + "1;x=", std::string(1'000, 'x'), 431},
                    endless{"the_trailer", std::string(chunked) + "0\r\n", "X-Another: 1\r\n", 431}),
    [](const auto& each) { return each.param.name; });

TEST_P(without_end, is_cut_off_at_a_bound) {
    http_process server(modern, {"--body-bytes", "200000"});
    const http_caller client = server.caller();
    client.fence();
    const long before = server.status("VmRSS");
    http_client connection = client.send(GetParam().begin);
    // The sockets hold some, too.
    EXPECT_LT(send_until_answered(connection, GetParam().again, std::size_t{64} << 20U), std::size_t{16} << 20U);
    EXPECT_EQ(connection.head().status, GetParam().status);
    client.fence();
    EXPECT_LT(server.status("VmRSS") - before, kibibytes(8'192));
}

TEST(http_hostile, memory_for_a_body_comes_with_the_body) {
    http_process server(modern);
    const http_caller client = server.caller();
    client.fence();
    const long before = server.status("VmData");
    std::vector<http_client> all;
    for (int i = 0; i < 200; ++i) {
        all.push_back(client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n{"));
    }
    client.fence();
    EXPECT_LT(server.status("VmData") - before, kibibytes(200'000));  // and not 3,000,000
}

TEST(http_hostile, requests_that_are_sent_ahead_are_answered_in_order) {
    http_process server(modern);
    const http_caller client = server.caller();
    constexpr int count = 150;
    std::string all;
    for (int i = 0; i < count; ++i) {
        all += client.call_bytes(std::to_string(i), "echo", R"({"text":")" + std::to_string(i) + "\"}");
    }
    http_client connection = client.send(all);
    for (int i = 0; i < count; ++i) {
        const http_outcome answer = outcome_of(connection);
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(text_of(*answer.message), std::to_string(i));
    }
}

TEST(http_hostile, a_flood_of_requests_without_a_look_at_the_answers_ends_at_a_bound) {
    http_process server(modern);
    const http_caller client = server.caller();
    client.fence();
    const long before = server.status("VmHWM");
    http_client flood = client.connection();
    const std::string bytes = client.call_bytes("1", "echo", R"({"text":")" + std::string(2'000, '.') + "\"}");
    constexpr std::size_t most = std::size_t{1} << 28U;
    std::size_t sent = 0;
    for (bool gone = false; !gone && sent < most;) {
        const std::string_view rest = std::string_view(bytes).substr(sent % bytes.size());
        const ssize_t got = ::send(flood.fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (got > 0) sent += static_cast<std::size_t>(got);
        gone = got < 0 && errno != EAGAIN;
    }
    EXPECT_LT(sent, most);
    client.fence();
    EXPECT_LT(server.status("VmHWM") - before, kibibytes(32'768));
}

TEST(http_hostile, HTTP_1_a_flood_behind_a_request_in_flight_is_its_cancel) {
    http_process server(modern);
    const http_caller client = server.caller();
    http_client flood = client.call("1", "park", with_key("flooded"));
    server.mark("start", "flooded");
    const std::string noise(10'000, '.');
    for (int i = 0; i < 1'000 && send_now(flood, noise); ++i) {
    }
    server.mark("cancel", "flooded");
    client.fence();
}

// Something else than HTTP.

struct bytes_case {
    std::string name;
    std::string bytes;
};
class not_http : public testing::TestWithParam<bytes_case> {};

std::string random_bytes() {
    std::string all;
    std::uint32_t state = 12'345;
    for (int i = 0; i < 100'000; ++i) {
        state = state * 1'664'525U + 1'013'904'223U;
        all += static_cast<char>(state >> 24U);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(
    every, not_http,
    testing::Values(bytes_case{"http_2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
                    bytes_case{"tls", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) +
                                          std::string(500, '\x01') + "\r\n\r\n"},
                    bytes_case{"json", R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                                       "\r\n\r\n"},
                    bytes_case{"zeros", std::string(100'000, '\0')}, bytes_case{"random", random_bytes()},
                    bytes_case{"an_answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
                    bytes_case{"no_version", "GET /mcp\r\n\r\n"},
                    bytes_case{"two_lengths",
                               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: "
                               "2\r\n\r\n{}"},
                    bytes_case{"a_length_and_chunks",
                               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
                    bytes_case{"a_negative_length",
                               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}"},
                    bytes_case{"a_chunk_of_no_size",
                               "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                               "chunked\r\n\r\nzz\r\n{}\r\n"}),
    [](const auto& each) { return each.param.name; });

TEST_P(not_http, is_refused_and_cut_off) {
    http_process server(modern);
    const http_caller client = server.caller();
    http_client connection = client.connection();
    static_cast<void>(send_now(connection, GetParam().bytes));
    const int status = connection.head().status;
    EXPECT_TRUE(status == 400 || status == 431) << status;
    static_cast<void>(connection.body());
    connection.half_close();
    static_cast<void>(connection.closed());
    client.fence();
}

TEST(http_hostile, plain_text_to_a_tls_port_is_cut_off) {
    const certificate self_signed;
    http_process server(modern, {"--certificate", self_signed.file(), "--private-key", self_signed.key_file()});
    const http_caller client = server.caller({.connection = {.trusted = self_signed.file()}});
    client.fence();
    http_client plain = http_caller(server.port(), modern).send(client.call_bytes("1", "echo", R"({"text":"hello"})"));
    EXPECT_THROW(static_cast<void>(plain.head()), std::runtime_error);
    client.fence();
}

std::string in_http_1_0(std::string bytes, std::string_view extra = {}) {
    const std::size_t line = bytes.find(" HTTP/1.1\r\n");
    return bytes.replace(line, 11, " HTTP/1.0\r\n" + std::string(extra));
}

TEST(http_hostile, clients_of_http_1_0_are_served) {
    http_process server(modern);
    const http_caller client = server.caller();
    const std::string echo = client.call_bytes("1", "echo", R"({"text":"hello"})");
    http_client plain = client.send(in_http_1_0(echo));
    const http_outcome answer = outcome_of(plain);
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "hello");
    plain.half_close();
    EXPECT_TRUE(plain.closed());

    http_client stays = client.send(in_http_1_0(echo, "Connection: keep-alive\r\n"));
    EXPECT_TRUE(outcome_of(stays).message);
    stays.write(in_http_1_0(echo));
    EXPECT_TRUE(outcome_of(stays).message);

    // No chunks: the end of the connection is the end of the events.
    http_client events =
        client.send(in_http_1_0(client.call_bytes("1", "wait", R"({"ms":30,"tick_ms":10})", asks_for_progress)));
    const http_answer head = events.head();
    EXPECT_TRUE(head.in_events());
    EXPECT_FALSE(head.header("transfer-encoding"));
    int heard = 0;
    std::optional<http_event> last;
    while (auto next = events.event()) {
        ++heard;
        last = std::move(next);
    }
    EXPECT_GE(heard, 2);
    EXPECT_EQ(text_of(last->message()), "waited 30 ms");
}

TEST(http_hostile, HTTP_1_a_client_of_http_1_0_cancels_by_leaving) {
    http_process server(modern);
    const http_caller client = server.caller();
    http_client events = client.send(in_http_1_0(client.call_bytes("1", "park", with_key("old"))));
    server.mark("start", "old");
    events.close();
    server.mark("cancel", "old");
}

// Readers that do not read.

/// Says a kilobyte at a time, as fast as it can, until it is stopped.
std::string flood(const call& call, std::atomic<int>& said) {
    const std::string text(1'000, '.');
    while (!call.cancelled()) {
        call.progress(++said, std::nullopt, text);
        if (said % 1'000 == 0) std::this_thread::yield();
    }
    return "";
}

class reader_that_stops : public testing::TestWithParam<revision> {
protected:
    std::atomic<int> said = 0;
    std::atomic<int> running = 0;
    event began;
    event told;
    http_listening server;  // last: its handlers use the others
};
INSTANTIATE_TEST_SUITE_P(every, reader_that_stops, testing::ValuesIn(http_revisions), revision_name());

TEST_P(reader_that_stops, costs_bounded_memory_and_is_cut_off_in_time) {
    server->tool("flood", "", [&](call& call) {
        ++running;
        const std::string answer = flood(call, said);
        if (--running == 0) told.set();
        return answer;
    });
    server.listen({.abandon_after = milliseconds(1), .limits = {.stalled = milliseconds(500)}});
    const http_caller client = server.caller(GetParam());
    const std::size_t before = ::mallinfo2().uordblks;
    std::vector<http_client> slow;
    constexpr int count = 4;
    for (int i = 0; i < count; ++i) slow.push_back(client.call(std::to_string(i), "flood", "{}", asks_for_progress));
    std::size_t most = 0;
    while (!told.happened()) {
        client.fence();
        most = std::max(most, ::mallinfo2().uordblks);
    }
    // For each: what the stream queues, what the connection does, what is kept for a resume; and twice, where it grows.
    const std::size_t bound = sanitized ? std::size_t{1} << 40U : count * (std::size_t{3} << 20U);
    EXPECT_LT(most, before + bound) << before << ' ' << said;
    EXPECT_TRUE(server.empties());
}

TEST_P(reader_that_stops, is_not_kept_by_a_trickle) {
    server->tool("trickle", "", [&](call& call) {
        const auto noticed = call.on_cancel([&] { told.set(); });
        // More than the kernel holds, first. Then one word at a time, far below the soft bound.
        const std::string text(400'000, '.');
        int number = 0;
        for (; number < 60; ++number) {
            call.progress(number + 1, std::nullopt, text);
            call.sleep_for(milliseconds(5));
        }
        for (; number < 3'000; ++number) {
            call.progress(number + 1);
            call.sleep_for(milliseconds(5));
            ++said;
        }
    });
    server.listen({.abandon_after = milliseconds(1),
                   .limits = {.waiting_soft = 4'000'000, .waiting_hard = 64'000'000, .stalled = milliseconds(1'000)}});
    const http_caller client = server.caller(GetParam(), {.connection = {.receive_buffer = 4'096}});
    http_client slow = client.call("1", "trickle", "{}", asks_for_progress);
    EXPECT_TRUE(told.happens());
    EXPECT_LT(said, 400);
    EXPECT_TRUE(server.empties());
}

class reader_that_reads : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(every, reader_that_reads, testing::ValuesIn(http_revisions), revision_name());

TEST_P(reader_that_reads, gets_all_of_several_large_answers_in_events) {
    const std::string text(8'000'000, '.');
    http_listening server;
    server->tool("large", "", [&](call&) { return text; });
    // Far less than an answer, so that each is more than may wait, whatever the kernels hold.
    server.listen({.limits = {.waiting_soft = 10'000, .waiting_hard = 100'000}});
    const http_caller client =
        server.caller(GetParam(), {.accept = std::string(takes_events), .connection = {.receive_buffer = 65'536}});
    std::string calls;
    for (const char* id : {"1", "2", "3", "4"}) calls += client.call_bytes(id, "large");
    http_client reads = client.send(calls);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(text_of(*outcome_of(reads).message), text);
}

TEST(http_hostile, a_connection_that_had_a_large_answer_keeps_none_of_it) {
    if (sanitized) GTEST_SKIP() << "the sanitizers have their own ways with memory";
    http_listening server;
    server.listen();
    const http_caller client = server.caller(modern);
    constexpr int count = 100;
    std::vector<http_client> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(client.call("1", "echo", R"({"text":"small"})"));
        ASSERT_TRUE(outcome_of(all.back()).message);
    }
    const std::string bytes = client.call_bytes("1", "echo", R"({"text":")" + std::string(100'000, '.') + "\"}");
    std::vector<char> heard(200'000);
    const auto in_use = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
    const std::size_t before = in_use();
    for (http_client& each : all) {
        each.write(bytes);
        // Read here: the client would keep what it hears.
        for (std::size_t size = 0; size < 100'000;) {
            const ssize_t got = ::recv(each.fd(), heard.data(), heard.size(), 0);
            ASSERT_GT(got, 0);
            size += static_cast<std::size_t>(got);
        }
    }
    client.fence();
    EXPECT_LT(in_use(), before + count * std::size_t{20'000});
}

// Too many.

void allow_many_descriptors() {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(http_hostile, ten_thousand_idle_connections_are_nothing_to_the_others) {
    allow_many_descriptors();
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int count = std::min<int>(sanitized ? 2'000 : 10'000, static_cast<int>(limit.rlim_max) - 1'000);
    ASSERT_GT(count, 500);
    http_process server(modern);
    const http_caller client = server.caller();
    client.fence();
    const std::size_t descriptors = server.descriptors();
    const long memory = server.status("VmRSS");
    std::vector<http_client> idle;
    for (int i = 0; i < count; ++i) {
        // Half of them have begun to say something.
        const std::string from = "127.0.0." + std::to_string(i % 8 + 2);
        idle.emplace_back(server.port(), http_socket_options{.from = from});
        if (i % 2 == 0) idle.back().write("POST /mcp HTTP/1.1\r\nHost: local");
    }
    ASSERT_TRUE(eventually([&] { return server.descriptors() >= static_cast<std::size_t>(count); }));
    EXPECT_LT(server.status("VmRSS") - memory, kibibytes(8L * count));
    const long woken = server.status("voluntary_ctxt_switches");
    for (int i = 0; i < 100; ++i) client.fence();
    // A few times for each of the hundred, and not for each of the ten thousand.
    EXPECT_LT(server.status("voluntary_ctxt_switches") - woken, 2'000);
    idle.clear();
    EXPECT_TRUE(eventually([&] { return server.descriptors() <= descriptors + 1; }));
}

TEST(http_hostile, a_client_has_only_so_much_in_flight_and_others_have_theirs) {
    http_process server(modern, {"--per-client", "3"});
    const http_caller client = server.caller();
    std::vector<http_client> parked;
    for (const std::string key : {"a", "b", "c"}) {
        parked.push_back(client.call("1", "park", with_key(key)));
        server.mark("start", key);
    }
    http_client refused = client.call("1", "echo", R"({"text":"hello"})");
    const http_answer answer = refused.head();
    EXPECT_EQ(answer.status, 429);
    EXPECT_TRUE(answer.header("retry-after"));
    server.caller({.connection = {.from = "127.0.0.2"}}).fence();
    parked.pop_back();
    server.mark("cancel", "c");
    client.fence();
}

TEST(http_hostile, without_descriptors_those_who_are_there_go_on_and_the_others_come_later) {
    if (sanitizer.starts_with("address")) {
        GTEST_SKIP() << "the undefined-behaviour sanitizer looks at objects through a pipe, and has none here either";
    }
    http_process server(modern);
    const http_caller client = server.caller();
    http_client stays = client.call("1", "echo", R"({"text":"here"})");
    ASSERT_TRUE(outcome_of(stays).message);
    http_client ticking = client.call("1", "wait", R"({"ms":600000,"tick_ms":5})", asks_for_progress);
    ASSERT_TRUE(ticking.head().in_events());
    rlimit before{};
    ASSERT_EQ(::prlimit(server.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
    constexpr std::size_t more = 5;
    const rlimit few{.rlim_cur = server.descriptors() + more, .rlim_max = before.rlim_max};
    ASSERT_EQ(::prlimit(server.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
    std::vector<http_client> crowd;
    for (int i = 0; i < 50; ++i) crowd.push_back(client.connection());
    EXPECT_TRUE(eventually([&] { return server.descriptors() >= few.rlim_cur; }));
    const std::string echo = client.call_bytes("2", "echo", R"({"text":"still here"})");
    for (int i = 0; i < 20; ++i) {
        stays.write(echo);
        const http_outcome answer = outcome_of(stays);
        ASSERT_TRUE(answer.message);
        EXPECT_EQ(text_of(*answer.message), "still here");
        EXPECT_TRUE(ticking.event());
    }
    // One of the crowd is served when others have left.
    http_client last = client.send(echo);
    EXPECT_TRUE(last.quiet());
    crowd.clear();
    EXPECT_TRUE(outcome_of(last).message);
}

TEST(http_hostile, RCV_2_clients_that_leave_in_the_middle_of_a_request_leave_nothing_behind) {
    http_process server(modern);
    const http_caller client = server.caller();
    client.fence();
    const std::size_t before = server.descriptors();
    const std::string bytes = client.call_bytes("1", "park", with_key("never"));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
        http_client half = client.send(std::string_view(bytes).substr(0, cut));
        if (cut % 2 == 0) half.reset();
    }
    EXPECT_TRUE(eventually([&] { return server.descriptors() <= before; }));
    client.fence();
    EXPECT_FALSE(server.marked("start", "never"));
}

TEST(http_hostile, there_are_only_so_many_sessions) {
    http_listening server;
    server.listen({.limits = {.sessions = 10}});
    std::vector<http_caller> clients;
    for (int i = 0; i < 10; ++i) clients.push_back(server.caller(revision::v2025_06_18));
    const http_caller late(server.port(), revision::v2025_06_18);
    const std::string hello = late.post(request_line(revision::v2025_06_18, "1", "initialize",
                                                     R"("protocolVersion":"2025-06-18","capabilities":{},)"
                                                     R"("clientInfo":{"name":"late","version":"1"})"));
    http_client refused = late.send(hello);
    const http_answer answer = refused.head();
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.header("retry-after"));
    EXPECT_FALSE(answer.header("mcp-session-id"));
    for (const http_caller& each : clients) each.fence();
    server.caller(modern).fence();
    EXPECT_EQ(clients.back().send(clients.back().delete_bytes()).head().status, 204);
    server.caller(revision::v2025_06_18).fence();
}

TEST(http_hostile, DIR_6_a_session_id_cannot_be_guessed_and_its_owner_is_looked_at) {
    http_listening server;
    server.listen({.verify = static_tokens({{"a", "alice"}, {"b", "bob"}})});
    const http_caller alice = server.caller(revision::v2025_06_18, {.token = "a"});
    const std::string id = alice.session();
    EXPECT_GE(id.size(), 32U);
    std::set<std::string> ids{id};
    for (int i = 0; i < 50; ++i) ids.insert(server.caller(revision::v2025_06_18, {.token = "a"}).session());
    EXPECT_EQ(ids.size(), 51U);
    const auto answer_to = [&](const std::string& guess) {
        http_caller bob(server.port(), revision::v2025_06_18, {.token = "b"});
        bob.use_session(guess);
        http_client asks = bob.call("1", "echo", R"({"text":"hello"})");
        const http_answer answer = asks.head();
        return std::to_string(answer.status) + ' ' + asks.body();
    };
    const std::string unknown = answer_to(std::string(id.size(), '0'));
    EXPECT_THAT(unknown, HasSubstr("404"));
    EXPECT_EQ(answer_to(id), unknown);
    EXPECT_EQ(answer_to(id.substr(1)), unknown);
    EXPECT_EQ(answer_to(id + "0"), unknown);
    EXPECT_EQ(answer_to(std::string(10'000, 'a')), unknown);
    EXPECT_EQ(answer_to("../" + id), unknown);
    alice.fence();
}

}  // namespace
}  // namespace andon
