// What goes on without end, and is stopped all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/served.hpp"

namespace andon {
namespace {

async<void> talk_without_end(call& call, event& heard) {
    std::function<void(std::string_view)> on_output = [&](std::string_view) { heard.set(); };
    co_await call.async_run(command::shell("yes"), std::move(on_output));
}

TEST(endless, RCV_1_a_child_that_never_stops_talking_does_not_hold_up_the_loop) {
    server server(quiet_server());
    event heard;
    server.tool("talk", "", [&](call& call) { return talk_without_end(call, heard); });
    auto client = connected(server);
    auto pending = client.call_tool("talk");
    ASSERT_TRUE(heard.happens());
    EXPECT_FALSE(client.list_tools().empty());
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_GT(only_outcome(server.requests()).killed, 0U);
}

TEST(endless, RCV_1_a_sleep_for_ever_ends_with_the_cancel) {
    server server(quiet_server());
    event began;
    event noticed;
    server.tool("sleep", "", [&](call& call) {
        const auto told = call.on_cancel([&] { noticed.set(); });
        began.set();
        call.sleep_for(duration::max());
    });
    auto client = connected(server);
    auto pending = client.call_tool("sleep", {}, {.timeout = duration::max(), .max_timeout = duration::max()});
    ASSERT_TRUE(began.happens());
    EXPECT_FALSE(client.list_tools().empty());
    EXPECT_FALSE(pending.done());
    EXPECT_TRUE(pending.cancel());
    EXPECT_TRUE(noticed.happens());
}

TEST(endless, arguments_in_flight_are_limited) {
    server_options options = quiet_server();
    options.most_bytes = 100'000;
    server server(options);
    server.tool("hold", "", [](const json::object&, call& call) { call.sleep_for(duration::max()); });
    auto client = connected(server);
    const auto held = client.call_tool("hold", {{"text", std::string(60'000, '.')}});
    const auto refused = client.call_tool("hold", {{"text", std::string(60'000, '.')}});
    EXPECT_EQ(refused.get().status, call_status::failed);
    EXPECT_THAT(refused.get().message, testing::HasSubstr("too much is in flight"));
    EXPECT_FALSE(held.done());
}

}  // namespace
}  // namespace andon
