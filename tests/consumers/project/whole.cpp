#include <andon/client/client.hpp>
#include <andon/server/server.hpp>
#include <iostream>

int main() {
    auto [here, there] = andon::transport_pair();
    andon::server server({.name = "consumer", .log = {}});
    server.tool("stop_me", "", [](andon::call& call) { call.sleep_for(std::chrono::hours(1)); });
    server.serve(std::move(there));
    auto client = andon::client::connect(std::move(here), {.log = {}});
    auto pending = client.call_tool("stop_me");
    pending.cancel("Stop");
    std::cout << "stopped: " << to_string(pending.get().status) << ", " << pending.get().message << '\n';
}
