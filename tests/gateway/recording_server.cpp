// A server that writes down every line that it is sent, and says what it is told to say: so that a test sees what a
// relay lets through to it, and what a server can do to a relay.
//
//   recording_server FILE [legacy|modern]
//
// A line of the file is the server's pid and a line that came in; or @start and @end. Tools:
//   echo {text}           answers with the text
//   pid {}                answers with the server's pid
//   hold {}               never answers, and hears of no cancel
//   tick {}               one progress, and then the same
//   work {}               progress without end, whatever it is told
//   say {lines, quiet}    writes these lines first: $ID is the request's id, $TOKEN its progress token, $LONG more than
//                         a line may have; and then answers, unless it is to be quiet
//   die {}                ends the server
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

namespace json = boost::json;

int record = -1;
bool modern = false;

void write_down(std::string_view what) {
    std::string line = std::to_string(::getpid()) + ' ';
    line += what;
    line += '\n';
    if (::write(record, line.data(), line.size()) < 0) std::abort();
}

void say(std::string line) {
    line += '\n';
    for (std::string_view left = line; !left.empty();) {
        const ssize_t wrote = ::write(STDOUT_FILENO, left.data(), left.size());
        if (wrote <= 0) std::_Exit(0);
        left.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void answer(const json::value& id, json::object result) {
    if (modern) result["resultType"] = "complete";
    say(json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}));
}

void answer_text(const json::value& id, std::string_view text) {
    answer(id, {{"content", {{{"type", "text"}, {"text", text}}}}});
}

void refuse(const json::value& id, int code, std::string_view why) {
    say(json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", why}}}}));
}

json::value member(const json::value& of, std::string_view key) {
    const json::value* const found = of.is_object() ? of.get_object().if_contains(key) : nullptr;
    return found != nullptr ? *found : json::value();
}

std::string text_in(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : std::string();
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}

void tell_progress(const json::value& token, int done) {
    say(json::serialize(json::object{{"jsonrpc", "2.0"},
                                     {"method", "notifications/progress"},
                                     {"params", {{"progressToken", token}, {"progress", done}}}}));
}

void call(const json::value& id, const json::value& params) {
    const std::string tool = text_in(member(params, "name"));
    const json::value given = member(params, "arguments");
    const json::value token = member(member(params, "_meta"), "progressToken");
    if (tool == "echo") return answer_text(id, text_in(member(given, "text")));
    if (tool == "pid") return answer_text(id, std::to_string(::getpid()));
    if (tool == "die") std::_Exit(3);
    if (tool == "tick" && !token.is_null()) tell_progress(token, 1);
    if (tool == "work") {
        std::thread([token] {
            for (int done = 1;; ++done) {
                tell_progress(token, done);
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        }).detach();
    }
    if (tool == "say") {
        const json::value lines = member(given, "lines");
        const std::string too_much(std::size_t{16} << 20U, 'x');
        for (const json::value& each : lines.as_array()) {
            const std::string line = replaced(text_in(each), "$ID", json::serialize(id));
            say(replaced(replaced(line, "$TOKEN", json::serialize(token)), "$LONG", too_much));
        }
        if (member(given, "quiet") != true) answer_text(id, "said");
    }
}

void take(const json::object& message) {
    const json::value id = member(message, "id");
    const std::string method = text_in(member(message, "method"));
    if (id.is_null() || method.empty()) return;
    const json::value params = member(message, "params");
    if (method == "tools/call") return call(id, params);
    if (method == "ping") return answer(id, {});
    if (method == "initialize" && !modern) {
        return answer(id, {{"protocolVersion", member(params, "protocolVersion")},
                           {"capabilities", {{"tools", json::object()}, {"logging", json::object()}}},
                           {"serverInfo", {{"name", "recording"}, {"version", "1"}}}});
    }
    if (method == "server/discover" && modern) {
        return answer(id, {{"supportedVersions", {"2026-07-28"}},
                           {"capabilities", {{"tools", json::object()}, {"logging", json::object()}}}});
    }
    refuse(id, -32601, "Method not found");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    record = ::open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (record < 0) return 2;
    modern = argc > 2 && std::string_view(argv[2]) == "modern";
    write_down("@start");
    for (std::string line; std::getline(std::cin, line);) {
        write_down(line);
        boost::system::error_code failed;
        const json::value message = json::parse(line, failed);
        if (!failed && message.is_object()) take(message.get_object());
    }
    write_down("@end");
    return 0;
}
