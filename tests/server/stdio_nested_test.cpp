// What a call started goes with it: questions to the client, and processes.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "process/process_watch.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Up to 2025-11-25 the server asks with a request of its own.
class server_asks : public served {
protected:
    /// The id of the server's question, as JSON.
    std::string question() {
        const json::value request = json::parse(server.line_with("sampling/createMessage"));
        return std::to_string(request.at("id").as_int64());
    }
    void reply(const std::string& raw_id, std::string_view text) {
        server.send(R"({"jsonrpc":"2.0","id":)" + raw_id +
                    R"(,"result":{"role":"assistant","model":"test","content":{"type":"text","text":")" +
                    std::string(text) + R"("}}})");
    }
};

TEST_P(server_asks, DIR_1_a_cancel_never_touches_what_the_server_issued_though_the_ids_are_equal) {
    server.call("\"first\"", "ask", with_key("first"));
    const std::string first = question();
    server.cancel(first);  // no request of ours has that id
    server.fence();
    // And now one has, while the server's is open.
    const std::string next = std::to_string(std::stol(first) + 1);
    server.call(first, "ask", with_key("second"));
    EXPECT_EQ(question(), next);
    server.cancel(first, R"("the second")");
    server.mark("cancel", "second");
    EXPECT_THAT(server.line_with("notifications/cancelled"), HasSubstr(R"("requestId":)" + next));
    EXPECT_FALSE(server.marked("cancel", "first"));
    reply(first, "hello");
    EXPECT_EQ(text_of(server.answer("\"first\"")), "hello");
    server.fence();
    EXPECT_EQ(server.answers(first), 0);
    EXPECT_EQ(server.heard("notifications/cancelled"), 1);
}

TEST_P(server_asks, DIR_3_what_was_answered_is_not_cancelled) {
    server.call("71", "ask", with_key("asks"));
    const std::string asked = question();
    // In one write: the answer is in before the cancel.
    server.write(R"({"jsonrpc":"2.0","id":)" + asked + R"(,"result":{"content":{"type":"text","text":"yes"}}})" + '\n' +
                 cancel_line("71") + '\n');
    server.wait_until([&] { return server.answers("71") + server.times_logged("request 71 (") > 0; }, "its end");
    server.until_free("71");
    server.fence();
    EXPECT_EQ(server.heard("notifications/cancelled"), 0);
}

TEST_P(server_asks, DIR_3_a_question_that_was_never_sent_is_not_cancelled) {
    server.write(call_line(GetParam(), "71", "ask", with_key("asks")) + '\n' + cancel_line("71") + '\n');
    server.mark("cancel", "asks");
    server.until_free("71");
    server.fence();
    EXPECT_EQ(server.heard("notifications/cancelled"), server.heard("sampling/createMessage"));
}

TEST_P(server_asks, RCV_12_the_question_is_cancelled_with_the_call) {
    server.call("71", "ask", with_key("asks"));
    const std::string asked = question();
    server.cancel("71", R"("never mind")");
    server.mark("cancel", "asks");
    const std::string told = server.line_with("notifications/cancelled");
    EXPECT_THAT(told, HasSubstr(R"("requestId":)" + asked + ','));
    EXPECT_THAT(told, HasSubstr("never mind"));
    reply(asked, "too late");
    const int used = server.until_free("71");
    server.fence();
    EXPECT_EQ(server.answers("71"), used);
    EXPECT_EQ(server.heard("notifications/cancelled"), 1);
    EXPECT_EQ(server.heard("too late"), 0);
}

TEST_P(server_asks, RCV_3_a_cancelled_question_leaves_the_next_one_clean) {
    for (int i = 0; i < 20; ++i) {
        const std::string key = "asks" + std::to_string(i);
        server.call("71", "ask", with_key(key));
        const std::string asked = question();
        if (i % 2 == 0) {
            server.cancel("71");
            EXPECT_THAT(server.line_with("notifications/cancelled"), HasSubstr(R"("requestId":)" + asked));
            server.until_free("71");
        } else {
            reply(asked, key);
            EXPECT_EQ(text_of(server.answer("71")), key);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(stdio, server_asks,
                         testing::Values(revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18,
                                         revision::v2025_11_25),
                         revision_name());

class server_children : public served {};

TEST_P(server_children, RCV_2_RCV_12_the_whole_tree_dies_with_the_call) {
    server.call("71", "child", with_key("runs", R"("seconds":600)"));
    server.call("72", "child", with_key("stays", R"("seconds":600)"));
    std::istringstream pids(server.mark("pids", "runs"));
    std::istringstream other_pids(server.mark("pids", "stays"));
    std::vector<process_watch> tree;
    std::vector<process_watch> other;
    for (int i = 0; i < 3; ++i) {
        pid_t pid = 0;
        pids >> pid;
        tree.emplace_back(pid);
        other_pids >> pid;
        other.emplace_back(pid);
    }
    const process_watch guardian(state_and_parent(tree.front().pid()).second);
    EXPECT_NE(::getsid(tree[2].pid()), ::getsid(tree[1].pid())) << "the grandchild has left the session";
    server.cancel("71", R"("stop the child")");
    for (const process_watch& each : tree) ASSERT_TRUE(each.wait_for_end());
    ASSERT_TRUE(guardian.wait_for_end());
    for (const process_watch& each : tree) EXPECT_EQ(state_and_parent(each.pid()).first, '-') << "a zombie is left";
    const int used = server.until_free("71");
    server.fence();
    EXPECT_EQ(server.answers("71"), used);
    for (const process_watch& each : other) EXPECT_FALSE(each.ended()) << "another call's process";
    server.cancel("72");
    for (const process_watch& each : other) EXPECT_TRUE(each.wait_for_end());
}

INSTANTIATE_TEST_SUITE_P(stdio, server_children, testing::ValuesIn(all_revisions), revision_name());

}  // namespace
}  // namespace andon
