// The limits of a tool hold for every spelling of its name.
#include <gtest/gtest.h>

#include "server/raw_client.hpp"

namespace andon {
namespace {

TEST(tool_limit, TIME_5_holds_however_the_name_is_escaped) {
    server what({.name = "limits", .log = {}});
    what.tool({.name = "slow", .limit = std::chrono::milliseconds(1)}, [](call& call) -> async<std::string> {
        co_await call.async_cancelled();
        co_return "stopped";
    });
    served_here served(what, revision::v2025_11_25);
    served.client.write_line(
        R"({"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"slo\u0077","arguments":{}}})");
    EXPECT_EQ(served.client.answer(70).at("result").at("isError"), true);
}

}  // namespace
}  // namespace andon
