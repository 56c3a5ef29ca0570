// A server as there are many: while a tool works nothing is read, so that no cancel can reach it. It speaks 2025-06-18
// on standard input and output, and has one tool.
#include <boost/json.hpp>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

void send(json::object message) {
    message["jsonrpc"] = "2.0";
    std::cout << json::serialize(message) << std::endl;
}

/// A minute, with a word at each tenth of a second if the caller wants to hear of it.
json::object dig(const json::object& params) {
    const json::value* const meta = params.if_contains("_meta");
    const json::value* const token = meta == nullptr ? nullptr : meta->as_object().if_contains("progressToken");
    constexpr int ticks = 600;
    for (int i = 1; i <= ticks; ++i) {
        std::this_thread::sleep_for(100ms);
        if (token == nullptr) continue;
        send({{"method", "notifications/progress"},
              {"params", {{"progressToken", *token}, {"progress", i}, {"total", ticks}}}});
    }
    return {{"content", {{{"type", "text"}, {"text", "dug"}}}}};
}

json::object answer(const json::string& method, const json::object& params) {
    if (method == "initialize") {
        return {{"protocolVersion", "2025-06-18"},
                {"capabilities", {{"tools", json::object()}}},
                {"serverInfo", {{"name", "stubborn"}, {"version", "1"}}}};
    }
    if (method == "tools/list") {
        const json::object tool{{"name", "dig"},
                                {"description", "Works for a minute, and never looks whether it was cancelled"},
                                {"inputSchema", {{"type", "object"}}}};
        return {{"tools", json::array{tool}}};
    }
    if (method == "tools/call") return dig(params);
    return {};
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const json::object message = json::parse(line).as_object();
        const json::value* const id = message.if_contains("id");
        const json::value* const method = message.if_contains("method");
        if (id == nullptr || method == nullptr) continue;
        const json::value* const params = message.if_contains("params");
        send({{"id", *id},
              {"result", answer(method->as_string(), params == nullptr ? json::object() : params->as_object())}});
    }
}
