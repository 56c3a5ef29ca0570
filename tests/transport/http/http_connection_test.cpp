#include "transport/http/http_connection.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/http/served_connection.hpp"

namespace andon::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string request = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Answers in events, and counts what it is told.
struct counting final : http_connection::answering {
    std::atomic<int> quiet = 0;
    std::atomic<int> gone = 0;
    std::promise<void> left;

    void on_quiet() override { ++quiet; }
    void on_disconnected() override {
        if (++gone == 1) left.set_value();
    }
    [[nodiscard]] bool leaves() { return left.get_future().wait_for(patience) == std::future_status::ready; }
};

TEST(http_connection, HTTP_1_the_end_of_input_is_told_once) {
    running_loop on;
    const auto answering = std::make_shared<counting>();
    served_connection one(on, {}, [&](http_connection& from, const http_request&) { from.answered_by(answering); });
    one.client.write(request);
    one.client.half_close();
    EXPECT_TRUE(answering->leaves());
    EXPECT_TRUE(one.closes());
    EXPECT_EQ(answering->gone, 1);
}

TEST(http_connection, HTTP_1_a_client_that_reads_nothing_is_given_up_though_there_is_always_more_for_it) {
    running_loop on;
    const auto answering = std::make_shared<counting>();
    event_loop::timer again(on.loop());
    std::function<void()> send_more;
    std::promise<std::string> cut_off;
    served_connection one(
        on, {.stalled = 300ms},
        [&](http_connection& from, const http_request&) {
            from.answered_by(answering);
            from.when_cut_off([&](std::string_view how) { cut_off.set_value(std::string(how)); });
            from.begin_events();
            // Small ones, far apart: long before they are too many to wait, the client was quiet for too long.
            send_more = [&, &connection = from] {
                if (answering->gone > 0 || !connection.event(std::string(2'000, 'x'), nullptr)) return;
                again.set(std::chrono::steady_clock::now() + 20ms, send_more);
            };
            send_more();
        },
        loopback());
    const auto began = std::chrono::steady_clock::now();
    one.client.write(request);
    EXPECT_TRUE(answering->leaves());
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s) << "not because of what was waiting";
    EXPECT_EQ(cut_off.get_future().get(), "read nothing for 300 ms");
    on.on([&] { again.clear(); });
}

TEST(http_connection, one_that_leaves_too_much_unread_is_closed) {
    running_loop on;
    const auto answering = std::make_shared<counting>();
    std::promise<std::string> cut_off;
    served_connection one(on, {.waiting = {.soft = 1'000, .hard = 100'000}},
                          [&](http_connection& from, const http_request&) {
                              from.answered_by(answering);
                              from.when_cut_off([&](std::string_view how) { cut_off.set_value(std::string(how)); });
                              from.begin_events();
                              while (from.event(std::string(1'000, 'x'), nullptr)) {
                              }
                          });
    one.client.write(request);
    EXPECT_TRUE(answering->leaves());
    EXPECT_TRUE(one.closes());
    EXPECT_EQ(cut_off.get_future().get(), "leaves too much unread");
}

TEST(http_connection, answers_come_in_the_order_of_the_requests_however_they_came) {
    running_loop on;
    served_connection one(on, {}, [&](http_connection& from, const http_request& asked) {
        from.respond(200, "text/plain", asked.target);
    });
    std::string all;
    for (int i = 0; i < 50; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    one.client.write(all);
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(one.client.head().status, 200);
        EXPECT_EQ(one.client.body(), "/" + std::to_string(i));
    }
    one.client.write_in_pieces(all, 3);
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(one.client.head().status, 200);
        EXPECT_EQ(one.client.body(), "/" + std::to_string(i));
    }
    EXPECT_TRUE(one.client.quiet());
}

TEST(http_connection, what_is_sent_ahead_has_a_bound) {
    running_loop on;
    const auto answering = std::make_shared<counting>();
    std::promise<void> busy;
    served_connection one(on, {.pipelined = 1'000}, [&](http_connection& from, const http_request&) {
        from.answered_by(answering);
        busy.set_value();
    });
    one.client.write(request);
    busy.get_future().wait();
    one.client.write(std::string(10'000, 'x'));
    EXPECT_TRUE(answering->leaves());
}

TEST(http_connection, times_are_kept) {
    running_loop on;
    const auto answering = std::make_shared<counting>();
    const http_connection_limits limits{.receive_within = 50ms, .idle = 100ms, .quiet = 20ms};
    {
        served_connection idle(on, limits, {});
        EXPECT_TRUE(idle.closes());
        EXPECT_TRUE(idle.client.closed());
    }
    {
        served_connection slow(on, limits, {});
        slow.client.write(request.substr(0, 10));
        EXPECT_EQ(slow.client.head().status, 408);
        EXPECT_THAT(slow.client.body(), HasSubstr("in time"));
    }
    served_connection waits(on, limits,
                            [&](http_connection& from, const http_request&) { from.answered_by(answering); });
    waits.client.write(request);
    while (answering->quiet < 10) on.settle();  // longer than it may be idle
    EXPECT_EQ(answering->gone, 0);
    on.on([&] { waits.connection().respond(200, "text/plain", "at last"); });
    EXPECT_EQ(waits.client.head().status, 200);
    EXPECT_EQ(waits.client.body(), "at last");
}

TEST(http_connection, a_client_of_HTTP_1_0_gets_its_events_until_the_end_of_the_connection) {
    running_loop on;
    served_connection one(on, {}, [&](http_connection& from, const http_request&) {
        from.begin_events();
        from.event("data: x\n\n", nullptr);
        from.end_events();
    });
    one.client.write("GET /mcp HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const http_answer head = one.client.head();
    EXPECT_EQ(head.header("transfer-encoding"), std::nullopt);
    EXPECT_EQ(head.header("connection"), "close");
    EXPECT_EQ(one.client.event()->data, "x");
    EXPECT_FALSE(one.client.event());
}

}  // namespace
}  // namespace andon::detail
