// A server over HTTP in the test's own process, where its table can be looked into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

/// Stops a call in the way of the revision: a disconnect, or a posted cancel.
void stop(http_client& connection, const http_caller& client, std::string_view raw_id) {
    client.modern() ? connection.close() : client.cancel(raw_id, R"("the user pressed Stop")");
}

class http_table : public testing::TestWithParam<revision> {
protected:
    [[nodiscard]] static bool modern() { return era_of(GetParam()) == era::modern; }
    [[nodiscard]] static cancel_cause cause() { return modern() ? cancel_cause::disconnect : cancel_cause::peer; }
    [[nodiscard]] http_caller listen(http_options options = {}) {
        port = server.listen_http(std::move(options));
        http_caller client(port, GetParam());
        client.open();
        return client;
    }

    andon::server server{quiet_server()};
    std::uint16_t port = 0;
};

TEST_P(http_table, HTTP_1_HTTP_3_RCV_2_one_that_blocks_is_cancelled_at_once_and_in_the_table_until_it_returns) {
    event started;
    event let_go;
    server.tool("block", "", [&](call&) {
        started.set();
        EXPECT_TRUE(let_go.happens());
        return std::string("too late");
    });
    const http_caller client = listen();
    http_client connection = client.call("71", "block");
    ASSERT_TRUE(started.happens());
    stop(connection, client, "71");
    ASSERT_TRUE(eventually([&] {
        const auto all = server.requests().list();
        return all.size() == 1 && all[0].state == request_state::cancelled;
    }));
    EXPECT_EQ(server.requests().list().at(0).cause, cause());
    if (!modern()) {
        EXPECT_EQ(code_of(*outcome_of(connection).message), error_code::request_cancelled);
    }
    let_go.set();
    const outcome known = only_outcome(server.requests());
    EXPECT_EQ(known.cause, cause());
    EXPECT_EQ(known.discarded, 1U) << "its result";
    if (!modern()) {
        EXPECT_TRUE(connection.quiet());
    }
}

TEST_P(http_table, HTTP_1_RCV_1_one_that_waits_for_its_turn_never_starts) {
    recorded<std::string> started;
    event let_go;
    server.tool({.name = "one", .description = "at a time", .concurrency = 1}, [&](json::object given, call& call) {
        started.add(std::string(given.at("key").as_string()));
        while (!let_go.happened()) call.sleep_for(1ms);
        return std::string("done");
    });
    const http_caller client = listen();
    http_client first = client.call("71", "one", with_key("first"));
    ASSERT_TRUE(started.reach(1));
    http_client queued = client.call("72", "one", with_key("queued"));
    ASSERT_TRUE(eventually([&] { return server.requests().size() == 2; }));
    http_client last = client.call("73", "one", with_key("last"));
    ASSERT_TRUE(eventually([&] { return server.requests().size() == 3; }));
    stop(queued, client, "72");
    ASSERT_TRUE(eventually([&] { return server.requests().size() == 2; })) << "it leaves its queue at once";
    let_go.set();
    EXPECT_EQ(text_of(*outcome_of(first).message), "done");
    EXPECT_EQ(text_of(*outcome_of(last).message), "done");
    EXPECT_THAT(started.all(), testing::ElementsAre("first", "last"));
    EXPECT_EQ(only_outcome(server.requests()).cause, cause());
}

TEST_P(http_table, RCV_13_a_section_that_must_not_be_interrupted) {
    event inside;
    event go_on;
    std::atomic<bool> seen_inside = false;
    std::atomic<bool> seen_after = false;
    server.tool("careful", "", [&](call& call) {
        call.uninterrupted([&] {
            inside.set();
            EXPECT_TRUE(go_on.happens());
            seen_inside = call.cancelled();
        });
        seen_after = call.cancelled();
        return std::string("never sent");
    });
    const http_caller client = listen();
    http_client connection = client.call("71", "careful");
    ASSERT_TRUE(inside.happens());
    stop(connection, client, "71");
    ASSERT_TRUE(eventually([&] { return server.requests().list().at(0).held; }));
    go_on.set();
    EXPECT_EQ(only_outcome(server.requests()).cause, cause());
    EXPECT_FALSE(seen_inside);
    EXPECT_TRUE(seen_after);
    if (!modern()) {
        EXPECT_EQ(code_of(*outcome_of(connection).message), error_code::request_cancelled);
    }
}

TEST_P(http_table, TIME_5_a_limit_is_answered_with_an_error_and_the_connection_stays) {
    event cancelled;
    server.tool({.name = "slow", .description = "", .limit = 50ms}, [&](call& call) -> async<std::string> {
        EXPECT_TRUE(call.deadline());
        co_await call.async_cancelled();
        EXPECT_EQ(call.cause(), cancel_cause::timeout);
        cancelled.set();
        co_return "too late";
    });
    const http_caller client = listen();
    http_client connection = client.call("71", "slow");
    const http_outcome answer = outcome_of(connection);
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_THAT(text_of(*answer.message), HasSubstr("longer than this server allows"));
    EXPECT_TRUE(cancelled.happens());
    connection.write(client.post(request_line(GetParam(), "72", "tools/list", ""), "tools/list"));
    EXPECT_EQ(connection.head().status, 200);
    EXPECT_THAT(connection.body(), HasSubstr("slow"));
}

TEST_P(http_table, RCV_11_an_operators_stop_is_told_to_the_one_who_waits) {
    event started;
    server.tool("park", "", [&](call& call) -> async<std::string> {
        started.set();
        co_await call.async_cancelled();
        co_return "too late";
    });
    const http_caller client = listen();
    http_client connection = client.call("71", "park");
    ASSERT_TRUE(started.happens());
    const request_info info = server.requests().list().at(0);
    server.requests().cancel({info.session, info.way, info.id}, cancel_cause::operator_, "maintenance",
                             std::chrono::steady_clock::now());
    EXPECT_THAT(text_of(*outcome_of(connection).message), HasSubstr("stopped by an operator: maintenance"));
    EXPECT_EQ(only_outcome(server.requests()).cause, cancel_cause::operator_);
}

TEST_P(http_table, DIR_6_every_connection_or_session_is_a_scope_of_its_own) {
    server.tool("park", "", [](call& call) -> async<std::string> {
        co_await call.async_cancelled();
        co_return "too late";
    });
    static_cast<void>(listen());
    std::vector<http_client> all;
    std::vector<http_caller> callers;
    for (int i = 0; i < 20; ++i) {
        callers.emplace_back(port, GetParam());
        callers.back().open();
        all.push_back(callers.back().call("71", "park"));
    }
    ASSERT_TRUE(eventually([&] { return server.requests().size() == 20; }));
    for (std::size_t i = 0; i < all.size(); ++i) {
        stop(all[i], callers[i], "71");
        ASSERT_TRUE(eventually([&] { return server.requests().size() == 19 - i; }));
    }
    EXPECT_THAT(server.requests().recent_outcomes(), SizeIs(20));
}

TEST_P(http_table, RCV_2_a_server_that_goes_takes_its_calls_and_its_connections_along) {
    std::atomic<int> told = 0;
    std::optional<http_client> connection;
    std::optional<http_client> idle;
    {
        andon::server shortlived{quiet_server()};
        event started;
        shortlived.tool("park", "", [&](call& call) -> async<std::string> {
            started.set();
            co_await call.async_cancelled();
            EXPECT_EQ(call.cause(), cancel_cause::shutdown);
            ++told;
            co_return "too late";
        });
        http_caller client(shortlived.listen_http({}), GetParam());
        client.open();
        idle.emplace(client.connection());
        connection.emplace(client.call("71", "park"));
        ASSERT_TRUE(started.happens());
    }
    EXPECT_EQ(told, 1);
    const std::string rest = connection->rest();
    if (modern()) {
        EXPECT_EQ(rest, "");
    } else {
        EXPECT_THAT(rest, HasSubstr("-32800"));
    }
    static_cast<void>(idle->rest());
}

INSTANTIATE_TEST_SUITE_P(http, http_table, testing::ValuesIn(http_revisions), revision_name());

TEST(http_params, HTTP_5_parameters_that_a_tool_wants_mirrored) {
    server serving{quiet_server()};
    serving.tool({.name = "query",
                  .description = "",
                  .input_schema = {{"type", "object"},
                                   {"properties",
                                    {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
                                     {"limit", {{"type", "integer"}, {"x-mcp-header", "Limit"}}}}}}},
                 [](json::object, call&) { return std::string("ran"); });
    const http_caller client(serving.listen_http({}), revision::v2026_07_28);
    const auto status = [&](std::string_view arguments, const http_headers& mirrored) {
        http_headers headers = client.headers();
        headers.emplace_back("Mcp-Method", "tools/call");
        headers.emplace_back("Mcp-Name", "query");
        headers.insert(headers.end(), mirrored.begin(), mirrored.end());
        http_client connection =
            client.send(http_message("POST", headers, call_line(revision::v2026_07_28, "71", "query", arguments)));
        const http_outcome answer = outcome_of(connection);
        EXPECT_EQ(code_of(*answer.message), answer.head.status == 200 ? 0 : error_code::header_mismatch);
        return answer.head.status;
    };
    EXPECT_EQ(status(R"({"region":"us-west1"})", {{"Mcp-Param-Region", "us-west1"}}), 200);
    EXPECT_EQ(status(R"({"region":"us-west1"})", {{"mcp-param-REGION", "  us-west1 "}}), 200);
    EXPECT_EQ(status(R"({"region":"us-west1"})", {{"Mcp-Param-Region", "=?base64?dXMtd2VzdDE=?="}}), 200);
    EXPECT_EQ(status(R"({"limit":42})", {{"Mcp-Param-Limit", "42.0"}}), 200) << "as numbers";
    EXPECT_EQ(status(R"({"region":null})", {}), 200);
    EXPECT_EQ(status("{}", {}), 200);
    EXPECT_EQ(status(R"({"region":"us-west1"})", {}), 400);
    EXPECT_EQ(status(R"({"region":"us-west1"})", {{"Mcp-Param-Region", "eu-west1"}}), 400);
    EXPECT_EQ(status(R"({"region":"us-west1"})", {{"Mcp-Param-Region", "US-WEST1"}}), 400);
    EXPECT_EQ(status("{}", {{"Mcp-Param-Region", "us-west1"}}), 400);
    EXPECT_EQ(status(R"({"limit":42})", {{"Mcp-Param-Limit", "43"}}), 400);
}

TEST(http_sessions_limit, so_many_sessions_and_no_more) {
    server serving{quiet_server()};
    http_options options;
    options.limits.sessions = 2;
    const std::uint16_t port = serving.listen_http(std::move(options));
    http_caller one(port, revision::v2025_11_25);
    http_caller two(port, revision::v2025_11_25);
    one.open();
    two.open();
    const http_caller three(port, revision::v2025_11_25);
    const std::string hello = three.post(
        request_line(revision::v2025_11_25, "1", "initialize",
                     R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"})"));
    http_client refused = three.send(hello);
    EXPECT_EQ(outcome_of(refused).head.status, 503);
    http_client ends = one.send(one.delete_bytes());
    EXPECT_EQ(ends.head().status, 204);
    http_client accepted = three.send(hello);
    EXPECT_EQ(outcome_of(accepted).head.status, 200);
}

}  // namespace
}  // namespace andon
