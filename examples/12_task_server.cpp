// A server whose work outlives the request, the connection and the process: what was finished is kept in a file. After
// a restart a task that was being worked on has failed, one that was cancelled is still cancelled. Try it:
//   build/bin/12_task_server 8080 /tmp/tasks.db &
//   build/bin/13_task_client http://127.0.0.1:8080/mcp start
#include <andon/server/server.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) try {
    if (argc < 3) {
        std::cerr << "usage: 12_task_server PORT FILE\n";
        return 2;
    }
    andon::server_options options{.name = "reports", .version = "1.0.0"};
    options.tasks.store = andon::sqlite_task_store(argv[2]);
    options.tasks.poll_interval = std::chrono::milliseconds(100);
    andon::server server(std::move(options));

    // The same handler serves a plain call, a task of 2025-11-25 and one of 2026-07-28.
    server.tool({.name = "report", .description = "Takes ten seconds", .task = andon::task_use::optional},
                [](andon::call& call) {
                    for (int page = 1; page <= 100; ++page) {
                        call.sleep_for(std::chrono::milliseconds(100));  // ends at once when the task is cancelled
                        call.progress(page, 100, "page " + std::to_string(page));
                    }
                    return "a hundred pages";
                });
    server.serve_http({.port = static_cast<std::uint16_t>(std::stoi(argv[1]))}, [](std::uint16_t port) {
        std::cerr << "listening on http://127.0.0.1:" + std::to_string(port) + "/mcp\n" << std::flush;
    });
} catch (const std::exception& error) {
    std::cerr << "12_task_server: " << error.what() << '\n';
    return 1;
}
