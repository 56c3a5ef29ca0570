// To be told of changes: a server whose clock is a resource, and a client that listens to it, in one program. The same
// `resource_changed()` tells clients of every revision.
#include <andon/client/client.hpp>
#include <andon/server/server.hpp>
#include <atomic>
#include <iostream>
#include <latch>

int main() {
    std::atomic<int> ticks = 0;
    andon::server server({.name = "clock"});
    server.resource({.uri = "clock:ticks", .name = "ticks"},
                    [&](const andon::resource_request&, andon::call&) { return std::to_string(ticks.load()); });
    auto [ours, theirs] = andon::transport_pair();
    server.serve(std::move(theirs));
    auto client = andon::client::connect(std::move(ours));

    constexpr int wanted = 3;
    std::latch heard(wanted);
    andon::subscription clock = client.listen(
        {.uris = {"clock:ticks"}},
        {.on_event =
             [&](std::string_view method, const andon::json::object&) {
                 std::cout << method << '\n';
                 heard.count_down();
             },
         .on_end = [](const andon::subscription_end& end) { std::cout << "ended by " << to_string(end.who) << '\n'; },
         .listen_again = true});
    std::cout << "the server agrees to tell of " << clock.agreed() << '\n';

    for (int i = 0; i < wanted; ++i) {
        ++ticks;
        server.resource_changed("clock:ticks");
    }
    heard.wait();
    const auto now = client.read_resource("clock:ticks");
    std::cout << "ticks: " << now.value().at("contents").at(0).at("text").as_string().c_str() << '\n';
    clock.end("heard enough");
}
