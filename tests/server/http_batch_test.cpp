// Batches, which only 2025-03-26 has.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

constexpr revision batches = revision::v2025_03_26;

class http_batch : public testing::Test {
protected:
    void SetUp() override { client.open(); }
    [[nodiscard]] static std::string echo(std::string_view raw_id) {
        return call_line(batches, raw_id, "echo", R"({"text":"e)" + std::string(raw_id) + "\"}");
    }
    [[nodiscard]] http_client send(const std::vector<std::string>& messages) const {
        std::string body;
        for (const std::string& each : messages) body += (body.empty() ? "[" : ",") + each;
        return client.send(client.post(body + ']'));
    }
    /// The ids that were answered, however the answers came.
    static std::set<std::int64_t> answered(http_client& connection) {
        const http_answer head = connection.head();
        EXPECT_EQ(head.status, 200);
        std::set<std::int64_t> ids;
        const auto take = [&](const std::string& text) {
            const json::value message = json::parse(text);
            const auto one = [&](const json::value& each) {
                if (!each.as_object().contains("result")) return;
                EXPECT_TRUE(ids.insert(each.at("id").as_int64()).second) << "answered twice";
            };
            if (message.is_array()) {
                for (const json::value& each : message.get_array()) one(each);
            } else {
                one(message);
            }
        };
        if (!head.in_events()) {
            take(connection.body());
            return ids;
        }
        while (const auto event = connection.event()) {
            if (!event->data.empty()) take(event->data);
        }
        return ids;
    }

    http_process server{batches};
    http_caller client{server.caller()};
};

using ids = std::set<std::int64_t>;

TEST_F(http_batch, each_request_is_answered_once) {
    http_client connection = send({echo("1"), echo("2"), cancel_line("4711"), echo("3")});
    EXPECT_EQ(answered(connection), (ids{1, 2, 3}));
    connection.write(client.call_bytes("4", "echo", R"({"text":"usable"})"));
    EXPECT_EQ(text_of(*outcome_of(connection).message), "usable");
}

TEST_F(http_batch, in_events_where_there_is_something_to_report) {
    http_client connection =
        send({echo("1"), call_line(batches, "2", "wait", R"({"ms":20,"tick_ms":2})", R"("progressToken":"p")")});
    EXPECT_EQ(answered(connection), (ids{1, 2}));
}

TEST_F(http_batch, MSG_1_of_notifications_only_is_202) {
    http_client parked = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    http_client connection = send({cancel_line("4711"), cancel_line("71", R"("in a batch")")});
    EXPECT_EQ(connection.head().status, 202);
    EXPECT_EQ(connection.body(), "");
    server.mark("cancel", "parked");
    EXPECT_EQ(code_of(*outcome_of(parked).message), error_code::request_cancelled);
}

TEST_F(http_batch, RCV_3_the_cancelled_are_left_out) {
    http_client connection = send({echo("1"), call_line(batches, "2", "park", with_key("two")), echo("3"),
                                   call_line(batches, "4", "park", with_key("four"))});
    server.mark("start", "two");
    server.mark("start", "four");
    client.cancel("2");
    server.mark("cancel", "two");
    client.fence();
    EXPECT_FALSE(server.marked("cancel", "four"));
    client.cancel("4");
    EXPECT_EQ(answered(connection), (ids{1, 3}));
}

TEST_F(http_batch, HTTP_3_all_cancelled_ends_with_the_error_for_each) {
    http_client connection = send({call_line(batches, "1", "park", with_key("one")),
                                   call_line(batches, "2", "park", with_key("two")), cancel_line("1")});
    server.mark("cancel", "one");
    server.mark("start", "two");
    client.cancel("2");
    EXPECT_EQ(connection.head().status, 200);
    const json::value said = json::parse(connection.body());
    ASSERT_EQ(said.as_array().size(), 2U);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(said.at(static_cast<std::size_t>(i)).at("id"), i + 1);
        EXPECT_EQ(said.at(static_cast<std::size_t>(i)).at("error").at("code"), -32800);
    }
    connection.write(client.call_bytes("4", "echo", R"({"text":"usable"})"));
    EXPECT_EQ(text_of(*outcome_of(connection).message), "usable");
}

TEST_F(http_batch, HTTP_2_a_disconnect_is_no_cancel_of_it) {
    http_client connection = send({call_line(batches, "1", "park", with_key("one")), echo("2")});
    server.mark("start", "one");
    connection.reset();
    for (int i = 0; i < 3; ++i) client.fence();
    EXPECT_FALSE(server.marked("cancel", "one"));
    client.cancel("1");
    server.mark("cancel", "one");
    client.until_free("1");
}

TEST_F(http_batch, HTTP_5_what_is_wrong_with_it_is_said) {
    for (const std::string_view body : {"[]", "[", "[1]", "[[]]"}) {
        http_client connection = client.send(client.post(body));
        const http_answer head = connection.head();
        if (body == "[1]" || body == "[[]]") {
            EXPECT_EQ(head.status, 200) << body;  // each of its members has its answer, which is an error
        } else {
            EXPECT_EQ(head.status, 400) << body;
        }
        EXPECT_NE(connection.body(), "") << body;
    }
    http_caller newer(server.port(), revision::v2025_06_18);
    newer.open();
    http_client refused =
        newer.send(newer.post("[" + call_line(revision::v2025_06_18, "1", "park", with_key("newer")) + "]"));
    EXPECT_EQ(outcome_of(refused).head.status, 400);
    newer.fence();
    EXPECT_FALSE(server.marked("start", "newer"));
}

TEST_F(http_batch, HTTP_1_HTTP_5_a_modern_request_has_no_place_in_it) {
    const revision modern = revision::v2026_07_28;
    http_client connection = send({call_line(modern, "1", "park", with_key("never")), echo("2")});
    EXPECT_EQ(answered(connection), ids{2});
    EXPECT_FALSE(server.marked("start", "never"));
}

TEST_F(http_batch, HTTP_5_one_that_names_another_revision_is_refused) {
    http_caller other(server.port(), revision::v2025_11_25);
    other.use_session(client.session());
    http_client refused = other.send(other.post('[' + call_line(batches, "1", "park", with_key("never")) + ']'));
    EXPECT_EQ(outcome_of(refused).head.status, 400);
    client.fence();
    EXPECT_FALSE(server.marked("start", "never"));
}

TEST(http_batch_of_many, counts_for_as_many_as_it_holds) {
    http_process server(batches, {"--per-client", "10"});
    http_caller client = server.caller();
    client.open();
    std::string body;
    for (int i = 0; i < 11; ++i) {
        body += (body.empty() ? "[" : ",") + call_line(batches, std::to_string(i), "park", with_key("never"));
    }
    http_client refused = client.send(client.post(body + ']'));
    EXPECT_EQ(refused.head().status, 429);
    client.fence();
    EXPECT_FALSE(server.marked("start", "never"));
}

TEST(http_batch_of_many, RCV_1_cancels_are_taken_from_a_client_that_has_no_place_left) {
    http_process server(batches, {"--per-client", "10"});
    http_caller client = server.caller();
    client.open();
    std::string calls;
    std::string cancels;
    for (int i = 0; i < 10; ++i) {
        calls += (calls.empty() ? "[" : ",") +
                 call_line(batches, std::to_string(i), "park", with_key("k" + std::to_string(i)));
    }
    for (int i = 0; i < 20; ++i) cancels += (cancels.empty() ? "[" : ",") + cancel_line(std::to_string(i));
    http_client parked = client.send(client.post(calls + ']'));
    for (int i = 0; i < 10; ++i) server.mark("start", "k" + std::to_string(i));
    http_client taken = client.send(client.post(cancels + ']'));
    EXPECT_EQ(taken.head().status, 202);
    for (int i = 0; i < 10; ++i) server.mark("cancel", "k" + std::to_string(i));
}

TEST(http_batch_left, HTTP_2_one_whose_client_does_not_come_back_is_cancelled) {
    http_process server(batches, {"--abandon-ms", "100"});
    http_caller client = server.caller();
    client.open();
    http_client gone = client.send(client.post("[" + call_line(batches, "1", "park", with_key("one")) + "," +
                                               call_line(batches, "2", "park", with_key("two")) + "]"));
    server.mark("start", "one");
    server.mark("start", "two");
    gone.close();
    server.mark("cancel", "one");
    server.mark("cancel", "two");
    EXPECT_THAT(server.logged("request 1 ("),
                testing::HasSubstr("cancelled: disconnect, the client did not come back"));
}

}  // namespace
}  // namespace andon
