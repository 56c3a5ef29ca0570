// A client over HTTP: connects, calls a tool, and changes its mind. What tells the server differs from revision to
// revision; the call looks the same. Try it:
//   build/bin/10_http_server 8080 &
//   build/bin/11_http_client http://127.0.0.1:8080/mcp
#include <andon/client/client.hpp>
#include <cstdlib>
#include <future>
#include <iostream>

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: 11_http_client URL: a server with the tool `wait`, such as 10_http_server\n";
        return 2;
    }
    andon::http_client_options how;
    if (const char* const secret = std::getenv("SECRET")) how.bearer_token = secret;
    auto client = andon::client::connect_http(argv[1], how);
    std::cout << "the server speaks " << to_string(client.speaks()) << '\n';

    std::promise<void> at_work;
    auto pending = client.call_tool("wait", {}, {.on_progress = [&](const andon::progress_update& update) {
                                        std::cout << "at work: " << update.message << '\n';
                                        at_work.set_value();
                                    }});
    at_work.get_future().wait();
    pending.cancel("the user pressed Stop");
    std::cout << to_string(pending.get().status) << ": " << pending.get().message << '\n';
}
