// The end of a server over HTTP: everybody is told, nothing is left, and it does not take long.
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "andon/wire/error.hpp"
#include "process/process_watch.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;

class http_end : public http_served {
protected:
    std::chrono::steady_clock::duration until_exit() {
        const auto began = std::chrono::steady_clock::now();
        ::kill(server.pid(), SIGTERM);
        const exit_status status = server.exit();
        EXPECT_FALSE(status.signalled);
        EXPECT_EQ(status.code, 0);
        return std::chrono::steady_clock::now() - began;
    }
    void expect_port_free() const {
        EXPECT_THROW(static_cast<void>(client.connection()), std::system_error);
        http_process next(GetParam(), {"--http", std::to_string(server.port())});
        EXPECT_EQ(next.port(), server.port());
        next.caller().open();
    }
};

TEST_P(http_end, with_nothing_in_flight_is_at_once_and_the_port_is_free) {
    http_client idle = client.connection();
    client.fence();
    EXPECT_LT(until_exit(), promptly);
    EXPECT_TRUE(idle.closed());
    expect_port_free();
}

TEST_P(http_end, RCV_2_RCV_11_calls_in_flight_are_told_with_the_cause_shutdown) {
    http_client parked = client.call("71", "park", with_key("parked"));
    http_client waits =
        client.call("72", "wait", with_key("waits", R"("ms":600000,"tick_ms":1)"), R"("progressToken":"p")");
    http_client child = client.call("73", "child", with_key("runs", R"("seconds":600)"));
    server.mark("start", "parked");
    ASSERT_TRUE(waits.head().in_events());
    EXPECT_TRUE(waits.event());
    std::istringstream pids(server.mark("pids", "runs"));
    std::vector<process_watch> tree;
    for (int i = 0; i < 3; ++i) {
        pid_t pid = 0;
        pids >> pid;
        tree.emplace_back(pid);
    }
    EXPECT_LT(until_exit(), promptly);
    for (const std::string_view request : {"request 71 (", "request 72 (", "request 73 ("}) {
        EXPECT_THAT(server.logged(request), HasSubstr("cancelled: shutdown"));
    }
    for (const process_watch& each : tree) EXPECT_TRUE(each.wait_for_end());
    // Nobody is left hanging: each stream comes to its end.
    if (modern()) {
        EXPECT_TRUE(parked.closed()) << "without a byte";
        while (waits.event()) {
        }
    } else {
        EXPECT_EQ(code_of(*outcome_of(parked).message), error_code::request_cancelled);
        std::optional<http_event> last;
        while (auto event = waits.event()) last = std::move(event);
        ASSERT_TRUE(last);
        EXPECT_EQ(code_of(last->message()), error_code::request_cancelled);
    }
    EXPECT_TRUE(waits.closed());
    expect_port_free();
}

TEST_P(http_end, RCV_2_a_handler_that_never_returns_does_not_hold_it_up) {
    http_client blocks = client.call("71", "block", with_key("blocks", R"("ms":600000)"));
    server.mark("start", "blocks");
    EXPECT_LT(until_exit(), promptly);
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: shutdown"));
    expect_port_free();
}

TEST_P(http_end, RCV_9_what_was_answered_before_is_written_whole) {
    const std::string text(8'000'000, 'x');
    http_client slow = client.call("71", "echo", R"({"text":")" + text + "\"}");
    const http_answer head = slow.head();  // it is being answered, and waits to be read
    EXPECT_EQ(head.status, 200);
    ::kill(server.pid(), SIGTERM);
    server.logged("the session ended");
    EXPECT_EQ(text_of(*outcome_of(slow, head).message), text);
    EXPECT_EQ(server.exit().code, 0);
}

TEST_P(http_end, a_client_that_does_not_read_its_answer_does_not_hold_it_up_for_long) {
    http_client deaf = client.call("71", "echo", R"({"text":")" + std::string(8'000'000, 'x') + "\"}");
    EXPECT_EQ(deaf.head().status, 200);
    EXPECT_LT(until_exit(), std::chrono::seconds(10));
}

INSTANTIATE_TEST_SUITE_P(http, http_end, testing::ValuesIn(http_revisions), revision_name());

}  // namespace
}  // namespace andon
