// What a server can answer to a POST, and how a client finds out which era the server is of.
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
using testing::Not;

struct revision_case {
    std::string name;
    revision speaks;
};

class http_answers : public testing::TestWithParam<revision_case> {
protected:
    [[nodiscard]] bool modern() const { return era_of(GetParam().speaks) == era::modern; }
    [[nodiscard]] client connect(client_options options) {
        options.revisions = {GetParam().speaks};
        return server_.connect(std::move(options));
    }
    [[nodiscard]] client connect() { return connect(quiet_client()); }
    raw_http_server server_;
};

INSTANTIATE_TEST_SUITE_P(client, http_answers,
                         testing::Values(revision_case{"v2025_03_26", revision::v2025_03_26},
                                         revision_case{"v2025_06_18", revision::v2025_06_18},
                                         revision_case{"v2025_11_25", revision::v2025_11_25},
                                         revision_case{"v2026_07_28", revision::v2026_07_28}),
                         by_name());

TEST_P(http_answers, in_plain_json_and_in_events) {
    auto client = connect();
    const auto plain = client.call_tool("plain");
    server_.next("tools/call").answer_text("one");
    EXPECT_EQ(text_of(plain.get()), "one");

    recorded<double> seen;
    const auto streamed =
        client.call_tool("streamed", {}, {.on_progress = [&](const progress_update& u) { seen.add(u.progress); }});
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.progress(1);
    request.progress(2);
    request.event(text_message(request.id(), "two"));
    request.end_events();
    EXPECT_EQ(text_of(streamed.get()), "two");
    EXPECT_THAT(seen.all(), ElementsAre(1, 2));
    server_.fence(client);
}

TEST_P(http_answers, that_cannot_be_read_are_those_of_their_streams) {
    auto client = connect();
    for (const std::string& bad : {std::string(R"({"jsonrpc":"2.0","result":{"a":NaN}})"),
                                   std::string(R"({"jsonrpc":"2.0","id":$ID,"result":{},"error":{}})"),
                                   std::string(R"({"jsonrpc":"2.0","id":$ID})")}) {
        const auto first = client.call_tool("first");
        const auto of_first = server_.next("tools/call");
        const auto second = client.call_tool("second");
        const auto of_second = server_.next("tools/call");
        const auto with_id_of = [&](const auto& request) {
            const std::size_t at = bad.find("$ID");
            return at == std::string::npos ? bad : std::string(bad).replace(at, 3, json::serialize(request.id()));
        };
        of_second.begin_events();
        // What names another request is no answer to this one, and not to that one either.
        if (bad.find("$ID") != std::string::npos) of_second.event(with_id_of(of_first));
        of_second.event(with_id_of(of_second));
        EXPECT_THAT(second.get().message, HasSubstr("the answer could not be read"));
        EXPECT_FALSE(first.done());
        of_first.answer_text("one");
        EXPECT_EQ(text_of(first.get()), "one");
    }
}

TEST_P(http_answers, byte_by_byte) {
    auto client = connect();
    const auto pending = client.call_tool("slow");
    const auto request = server_.next("tools/call");
    const std::string event =
        "data: " + std::string(R"({"jsonrpc":"2.0","id":)") + std::to_string(request.id().as_int64()) +
        R"(,"result":{"resultType":"complete","content":[{"type":"text","text":"ok"}]}})" + "\r\n\r\n";
    std::string whole =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n: a comment\r\n" + event;
    for (const char c : whole) request.on->write(std::string_view(&c, 1));
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_P(http_answers, headers_say_what_the_revision_asks_for) {
    auto client =
        server_.connect(quiet_client({GetParam().speaks}), {.bearer_token = "secret", .headers = {{"X-Tenant", "7"}}});
    const auto pending = client.call_tool("Grüße");
    const auto request = server_.next("tools/call");
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/mcp");
    EXPECT_EQ(request.header("host"), "127.0.0.1:" + std::to_string(server_.port()));
    EXPECT_EQ(request.header("accept"), "application/json, text/event-stream");
    EXPECT_EQ(request.header("content-type"), "application/json");
    EXPECT_EQ(request.header("mcp-protocol-version"), to_string(GetParam().speaks));
    EXPECT_EQ(request.header("authorization"), "Bearer secret");
    EXPECT_EQ(request.header("x-tenant"), "7");
    EXPECT_EQ(request.header("mcp-session-id"), modern() ? "" : "s1");
    EXPECT_EQ(request.header("mcp-method"), modern() ? "tools/call" : "");
    EXPECT_EQ(request.header("mcp-name"), modern() ? "=?base64?R3LDvMOfZQ==?=" : "");
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");

    const auto read = client.read_resource("file:///a");
    const auto reading = server_.next("resources/read");
    EXPECT_EQ(reading.header("mcp-name"), modern() ? "file:///a" : "");
    reading.answer({{"resultType", "complete"}, {"contents", json::array()}});
    EXPECT_TRUE(read.get().completed());
}

TEST_P(http_answers, an_answer_for_another_request_is_not_taken) {
    auto client = connect();
    auto first = client.call_tool("first");
    const auto to_first = server_.next("tools/call");
    auto second = client.call_tool("second");
    const auto to_second = server_.next("tools/call");
    to_second.begin_events();
    to_second.event(text_message(to_first.id(), "a forgery"));
    to_second.event(text_message(to_second.id(), "mine"));
    to_second.end_events();
    EXPECT_EQ(text_of(second.get()), "mine");
    EXPECT_FALSE(first.done());
    to_first.answer_text("the true one");
    EXPECT_EQ(text_of(first.get()), "the true one");
}

struct failure_case {
    std::string name;
    std::string status;
    std::string headers;
    std::string body;  // ID: the request's
    int code;
    std::string says;
};

class http_failures : public testing::TestWithParam<failure_case> {};

TEST_P(http_failures, HTTP_errors_become_the_error_of_that_one_call) {
    for (const revision speaks : {newest_legacy, newest_modern}) {
        raw_http_server server;
        auto client = server.connect(quiet_client({speaks}), {}, "");
        const auto pending = client.call_tool("work");
        const auto request = server.next("tools/call");
        std::string body = GetParam().body;
        if (const std::size_t at = body.find("ID"); at != std::string::npos) {
            body.replace(at, 2, std::to_string(request.id().as_int64()));
        }
        request.reply(GetParam().status, body, GetParam().headers);
        EXPECT_EQ(pending.get().status, call_status::failed);
        EXPECT_EQ(pending.get().code, GetParam().code);
        EXPECT_THAT(pending.get().message, HasSubstr(GetParam().says));
        EXPECT_THAT(pending.get().message, Not(HasSubstr("\x1b")));
        EXPECT_LT(pending.get().message.size(), 1'000U);
        server.fence(client);
    }
}

const std::string json_type = "Content-Type: application/json\r\n";

INSTANTIATE_TEST_SUITE_P(
    client, http_failures,
    testing::Values(
        failure_case{"plain_text", "503 Service Unavailable", "Content-Type: text/plain\r\n", "come \x1b[31mback later",
                     -32603, R"(HTTP 503 Service Unavailable: come \x1b[31mback later)"},
        failure_case{"a_page", "502 Bad Gateway", "Content-Type: text/html\r\n", "<html>no</html>", -32603,
                     "HTTP 502 Bad Gateway"},
        failure_case{"nothing", "500 Internal Server Error", "", "", -32603, "HTTP 500 Internal Server Error"},
        failure_case{"not_allowed", "401 Unauthorized", "WWW-Authenticate: Bearer\r\n", "", -32603, "HTTP 401"},
        failure_case{"not_found_without_a_session", "404 Not Found", "", "", -32603, "HTTP 404 Not Found"},
        failure_case{"moved", "308 Permanent Redirect", "Location: http://127.0.0.1:1/\r\n", "", -32603,
                     "HTTP 308 Permanent Redirect"},
        failure_case{"an_error_with_the_id", "400 Bad Request", json_type,
                     R"({"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such thing"}})", -32602,
                     "no such thing"},
        failure_case{"an_error_without_an_id", "400 Bad Request", json_type,
                     R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}})", -32000,
                     "HTTP 400 Bad Request: no session"},
        failure_case{"an_error_of_another_request", "400 Bad Request", json_type,
                     R"({"jsonrpc":"2.0","id":12345,"error":{"code":-32000,"message":"no"}})", -32603,
                     "HTTP 400 Bad Request"},
        failure_case{"an_error_that_is_no_json", "400 Bad Request", json_type, "{", -32603, "HTTP 400 Bad Request"},
        failure_case{"accepted_without_an_answer", "202 Accepted", "", "", -32603, "HTTP 202 Accepted"},
        failure_case{"a_page_instead_of_a_message", "200 OK", "Content-Type: text/html\r\n", "<html>hello</html>",
                     -32603, "text/html"},
        failure_case{"a_body_that_is_no_message", "200 OK", json_type, "[]", -32603, "HTTP 200 OK"},
        failure_case{"a_body_that_is_another_answer", "200 OK", json_type,
                     R"({"jsonrpc":"2.0","id":12345,"result":{}})", -32603, "HTTP 200 OK"},
        failure_case{"packed", "200 OK", json_type + "Content-Encoding: gzip\r\n", "x", -32603, "encoding"}),
    by_name());

TEST_P(http_answers, SND_2_a_connection_that_breaks_ends_its_call_and_no_other) {
    auto client = connect();
    auto other = client.call_tool("other");
    const auto to_other = server_.next("tools/call");
    for (const bool with_a_part : {false, true}) {
        const auto pending = client.call_tool("work");
        const auto request = server_.next("tools/call");
        if (with_a_part) {
            request.on->write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
        }
        request.on->close();
        EXPECT_EQ(pending.get().status, call_status::disconnected) << with_a_part;
        EXPECT_THROW(static_cast<void>(pending.value()), std::runtime_error);
    }
    EXPECT_FALSE(other.done());
    to_other.answer_text("still here");
    EXPECT_EQ(text_of(other.get()), "still here");
    server_.fence(client);
    EXPECT_EQ(client.requests().size(), 0U);
}

TEST_P(http_answers, SND_2_a_stream_that_ends_without_the_answer_ends_its_call) {
    auto client = connect();
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event(
        {{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", {{"level", "info"}, {"data", 1}}}});
    request.end_events();
    EXPECT_EQ(pending.get().status, call_status::disconnected);
    EXPECT_THAT(pending.get().message, HasSubstr("without the answer"));
    server_.fence(client);
}

TEST_P(http_answers, notifications_on_a_stream_reach_their_owner) {
    recorded<std::string> seen;
    client_options options = quiet_client();
    options.on_notification = [&](std::string_view method, const json::object&) { seen.add(std::string(method)); };
    auto client = connect(options);
    const auto pending = client.call_tool("work");
    const auto request = server_.next("tools/call");
    request.begin_events();
    request.event({{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", json::object()}});
    request.event(text_message(request.id(), "ok"));
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_THAT(seen.all(), ElementsAre("notifications/message"));
}

// Which era.

TEST(http_era, a_server_that_refuses_the_probe_is_a_legacy_one) {
    for (const std::string status : {"400 Bad Request", "404 Not Found", "405 Method Not Allowed", "500 Oops"}) {
        raw_http_server server;
        auto script = std::async(std::launch::async, [&] {
            const auto probe = server.next("server/discover");
            EXPECT_EQ(probe.header("mcp-protocol-version"), "2026-07-28");
            EXPECT_EQ(probe.header("mcp-method"), "server/discover");
            probe.reply(status, "what?");
            const auto initialize = server.next("initialize");
            EXPECT_EQ(initialize.header("mcp-protocol-version"), "");
            EXPECT_EQ(initialize.header("mcp-method"), "");
            initialize.answer(
                {{"protocolVersion", "2025-06-18"}, {"capabilities", json::object()}, {"serverInfo", json::object()}});
            const auto initialized = server.next("notifications/initialized");
            EXPECT_EQ(initialized.header("mcp-protocol-version"), "2025-06-18");
            initialized.reply("202 Accepted");
        });
        auto client = client::connect_http(server.url(), {}, quiet_client());
        script.get();
        EXPECT_EQ(client.speaks(), revision::v2025_06_18) << status;
        server.fence(client);
    }
}

TEST(http_era, a_modern_error_names_a_modern_server) {
    raw_http_server server;
    auto script = std::async(std::launch::async, [&] {
        const auto probe = server.next("server/discover");
        probe.reply_json({{"jsonrpc", "2.0"},
                          {"id", probe.id()},
                          {"error", {{"code", -32022}, {"message", "no"}, {"data", {{"supported", {"2026-07-28"}}}}}}},
                         "400 Bad Request");
        server.shake(newest_modern);
    });
    auto client = client::connect_http(server.url(), {}, quiet_client());
    script.get();
    EXPECT_EQ(client.speaks(), newest_modern);
}

TEST(http_era, a_probe_that_is_never_answered_does_not_hold_up_the_beginning) {
    raw_http_server server;
    client_options options = quiet_client();
    options.probe_timeout = 50ms;
    std::optional<raw_http_request> probe;
    auto script = std::async(std::launch::async, [&] {
        probe = server.next("server/discover");
        server.shake(newest_legacy);
    });
    auto client = client::connect_http(server.url(), {}, options);
    script.get();
    EXPECT_EQ(client.speaks(), newest_legacy);
    EXPECT_TRUE(probe->on->closed_by_client()) << "and nobody waits for it any more";
    server.fence(client);
}

std::string why_not(const std::string& url, client_options options = quiet_client(), http_client_options how = {}) {
    try {
        static_cast<void>(client::connect_http(url, std::move(how), std::move(options)));
    } catch (const std::exception& error) {
        return error.what();
    }
    return "it connected";
}

TEST(http_era, where_there_is_no_server_it_says_so) {
    std::uint16_t port = 0;
    {
        const raw_http_server gone;
        port = gone.port();
    }
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
    EXPECT_THAT(why_not(url), HasSubstr("Connection refused"));
    EXPECT_THAT(why_not(url, quiet_client({newest_modern})), HasSubstr("Connection refused"));
    EXPECT_THAT(why_not("ftp://127.0.0.1/"), HasSubstr("http:// or https://"));
    EXPECT_THAT(why_not("http://"), HasSubstr("names no host"));
    EXPECT_THAT(why_not("http://127.0.0.1:99999/"), HasSubstr("port"));
    EXPECT_THAT(why_not("http://a b/"), HasSubstr("%XX"));
    EXPECT_THAT(why_not("http://u:p@127.0.0.1/"), HasSubstr("not in the URL"));
    EXPECT_THAT(why_not("http://no-such-host.invalid/"), HasSubstr("cannot find no-such-host.invalid"));
    EXPECT_THAT(why_not(url, quiet_client(), {.bearer_token = "a\r\nX: 1"}), HasSubstr("cannot stand in a header"));
    EXPECT_THAT(why_not(url, quiet_client(), {.headers = {{"a:b", "c"}}}), HasSubstr("name of a header"));
    EXPECT_THAT(why_not(url, quiet_client(), {.max_connections = 0}), HasSubstr("max_connections"));
}

TEST(http_era, a_server_that_refuses_initialize_is_quoted) {
    raw_http_server server;
    auto script = std::async(std::launch::async, [&] {
        server.next("initialize").reply("403 Forbidden", "not you", "Content-Type: text/plain\r\n");
    });
    EXPECT_THAT(why_not(server.url(), quiet_client({newest_legacy})), HasSubstr("HTTP 403 Forbidden: not you"));
    script.get();
}

}  // namespace
}  // namespace andon
