// A client: starts a server, calls a tool, and changes its mind. `get()` is there at once, whatever the server does.
#include <andon/client/client.hpp>
#include <future>
#include <iostream>

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr
            << "usage: 08_client_that_cancels COMMAND: a server with the tool `wait`, such as everything_server\n";
        return 2;
    }
    auto client = andon::client::spawn({.argv = {argv + 1, argv + argc}});
    std::cout << "the server speaks " << to_string(client.speaks()) << '\n';

    std::promise<void> at_work;
    auto pending = client.call_tool("wait", {{"ms", 60'000}, {"tick_ms", 10}},
                                    {.timeout = std::chrono::seconds(30),
                                     .max_timeout = std::chrono::minutes(5),
                                     .on_progress = [&, first = true](const andon::progress_update& update) mutable {
                                         if (!std::exchange(first, false)) return;
                                         std::cout << "at work: " << update.progress << " of "
                                                   << update.total.value_or(0) << '\n';
                                         at_work.set_value();
                                     }});

    at_work.get_future().wait();
    pending.cancel("the user pressed Stop");
    const andon::call_outcome& outcome = pending.get();
    std::cout << to_string(outcome.status) << ": " << outcome.message << '\n';

    auto echo = client.call_tool("echo", {{"text", "the connection goes on"}});
    std::cout << echo.value().at("content").at(0).at("text").as_string().c_str() << '\n';
}
