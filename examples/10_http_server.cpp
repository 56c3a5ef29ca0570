// A server for any number of clients, over HTTP. Try it:
//   build/bin/10_http_server 8080
// and connect a host to http://127.0.0.1:8080/mcp. A client that goes away stops its work, as its revision has it.
#include <andon/server/server.hpp>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
    andon::server server({.name = "waiter"});

    // A coroutine: ten thousand clients that wait cost no thread.
    server.tool("wait", "Waits until it is told to stop", [](andon::call& call) -> andon::async<std::string> {
        call.progress(1, 2, "waiting");
        co_await call.async_sleep_for(std::chrono::hours(1));
        co_return "nobody stopped me";
    });

    andon::http_options options;
    options.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    // Only for those who know the secret; each principal is out of the others' reach.
    if (const char* const secret = std::getenv("SECRET")) options.verify = andon::static_tokens({{secret, "me"}});

    server.serve_http(options,
                      [](std::uint16_t port) { std::cerr << "listening on http://127.0.0.1:" << port << "/mcp\n"; });
}
