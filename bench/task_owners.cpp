#include "task_owners.hpp"

#include <algorithm>
#include <andon/tasks/task_store.hpp>
#include <stdexcept>

#include "http_client.hpp"
#include "messages.hpp"
#include "readings.hpp"

namespace andon::bench {
namespace {

constexpr std::int64_t asked = 4'000;  // of each kind; the first quarter is to warm up

std::string post(std::string_view token, std::string_view method, std::string_view name, std::string_view members) {
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":{)" +
                             std::string(members) +
                             R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientInfo":{"name":"andon_bench","version":"1"},)"
                             R"("io.modelcontextprotocol/clientCapabilities":)"
                             R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}}}})";
    return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
           "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " +
           std::string(method) + "\r\nMcp-Name: " + std::string(name) + "\r\nAuthorization: Bearer " +
           std::string(token) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string about(std::string_view token, const std::string& task) {
    return post(token, "tasks/get", task, R"("taskId":")" + task + '"');
}

}  // namespace

double foreign_over_unknown(const std::vector<std::string>& more, const placement& cores) {
    std::vector<std::string> command{"build/bin/everything_server",
                                     "--http",
                                     "0",
                                     "--token",
                                     "a=alice",
                                     "--token",
                                     "b=bob",
                                     "--task-requests",
                                     "1000000000"};
    command.insert(command.end(), more.begin(), more.end());
    server_process server(command, false, cores);
    http_client client(server, how_to_wait(cores));
    http_connection& line = client.open();
    const auto exchange = [&](const std::string& request, std::string_view expected) {
        bool answered = false;
        std::string body;
        client.on_response([&](http_connection& on) {
            body = on.response.body();
            answered = true;
        });
        const auto begun = now_ns();
        client.send(line, request);
        client.wait_for("an answer", 10, [&] { return answered; });
        const auto took = static_cast<double>(now_ns() - begun) / 1e3;
        if (body.find(expected) == std::string::npos) throw std::runtime_error("not what was expected: " + body);
        return std::pair(took, body);
    };

    const std::string made =
        exchange(post("a", "tools/call", "task_echo", R"("name":"task_echo","arguments":{"text":"mine"})"), "taskId")
            .second;
    constexpr std::string_view name = R"("taskId":")";
    const std::size_t at = made.find(name) + name.size();
    const std::string task = made.substr(at, made.find('"', at) - at);
    static_cast<void>(exchange(about("a", task), task));  // its owner sees it

    std::vector<double> foreign;
    std::vector<double> unknown;
    for (std::int64_t i = 0; i < asked; ++i) {
        const double a = exchange(about("b", task), "-32602").first;
        const double b = exchange(about("b", new_task_id()), "-32602").first;
        if (i < asked / 4) continue;
        foreign.push_back(a);
        unknown.push_back(b);
    }
    return median(foreign) / median(unknown);
}

}  // namespace andon::bench
