// A client that starts a task and leaves, picks it up again in another process, and cancels it. Try it with
// 12_task_server:
//   build/bin/13_task_client http://127.0.0.1:8080/mcp start       prints the id of a task
//   build/bin/13_task_client http://127.0.0.1:8080/mcp watch ID
//   build/bin/13_task_client http://127.0.0.1:8080/mcp cancel ID
#include <andon/client/client.hpp>
#include <iostream>
#include <string_view>

namespace {

void say(const andon::task_report& report) {
    std::cout << to_string(report.status) << ' ' << report.message << '\n' << std::flush;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string_view verb = argc > 2 ? argv[2] : "";
    if (verb != "start" && (argc < 4 || (verb != "watch" && verb != "cancel"))) {
        std::cerr << "usage: 13_task_client URL start | watch ID | cancel ID\n";
        return 2;
    }
    auto client = andon::client::connect_http(argv[1]);
    if (verb == "start") {
        std::cout << client.call_tool_as_task("report").id() << '\n';
        return 0;  // the task goes on without us
    }
    auto task = client.follow_task(argv[3], {.on_status = say});
    if (verb == "cancel") task.cancel("the user pressed Stop");
    const andon::call_outcome& outcome = task.get();
    std::cout << to_string(outcome.status) << ' ' << outcome.message << '\n';
    if (outcome.completed()) std::cout << outcome.result.at("content").at(0).at("text").as_string().c_str() << '\n';
} catch (const std::exception& error) {
    std::cerr << "13_task_client: " << error.what() << '\n';
    return 1;
}
