// What is the same of every server, however one talks to it: its handlers hear that they are stopped.
#pragma once

#include <andon/client/client.hpp>
#include <atomic>
#include <gtest/gtest.h>

#include "interop/marks.hpp"

namespace andon {

inline void expect_a_cancel_reaches_the_handler(client& client, marks& seen) {
    auto pending = client.call_tool("park", {{"key", "p"}});
    ASSERT_TRUE(seen.wait_for("@start p"));
    EXPECT_TRUE(pending.cancel("the user pressed Stop"));
    EXPECT_TRUE(pending.done());
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_EQ(pending.get().message, "the user pressed Stop");
    EXPECT_TRUE(seen.wait_for("@cancel p"));
    EXPECT_EQ(client.call_tool("echo", {{"text", "on"}}).get().status, call_status::completed);
}

inline void expect_a_timeout_reaches_the_handler(client& client, marks& seen) {
    const auto pending = client.call_tool("park", {{"key", "t"}}, {.timeout = std::chrono::milliseconds(300)});
    EXPECT_EQ(pending.get().status, call_status::timed_out);
    EXPECT_TRUE(seen.wait_for("@start t"));
    EXPECT_TRUE(seen.wait_for("@cancel t"));
}

/// How often it was told of progress meanwhile.
[[nodiscard]] inline int expect_the_maximum_to_hold(client& client, marks& seen) {
    std::atomic<int> progress = 0;
    const auto pending = client.call_tool("wait", {{"ms", 60'000}, {"tick_ms", 20}, {"key", "m"}},
                                          {.timeout = std::chrono::seconds(10),
                                           .max_timeout = std::chrono::seconds(1),
                                           .on_progress = [&](const progress_update&) { ++progress; }});
    EXPECT_EQ(pending.get().status, call_status::timed_out);
    EXPECT_TRUE(seen.wait_for("@cancel m"));
    return progress;
}

inline void expect_a_dropped_call_is_cancelled(client& client, marks& seen) {
    {
        const auto dropped = client.call_tool("park", {{"key", "d"}});
        ASSERT_TRUE(seen.wait_for("@start d"));
    }
    EXPECT_TRUE(seen.wait_for("@cancel d"));
}

}  // namespace andon
