// A server that does on demand what servers should not do: it ignores cancels while it works in every way there is,
// forks, traps signals, crashes, and stays silent. What it is told and does is on standard error, as lines
// `@what key words`.
//
//     misbehaving_server [--era legacy|modern|both] [--trap] [--stay] [--unread] [--mute] [--exit-at-start CODE]
//                     [--agrees-once FILE] [--works-once FILE] [--computes] [--starts-for MS]
//
// It reads while tools work, each on a thread of its own. Of what has "silent:" in its name it acknowledges no
// subscription.
#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

struct options {
    std::string era = "both";
    bool stays = false;  // when its input has ended
    bool mute = false;   // to initialize
    std::string agrees_once;
};

std::mutex output;
std::mutex records;
json::array told;                          // what this process was told, in order
std::map<std::string, bool> cancelled_by;  // ids, as JSON
std::map<std::string, bool> finished_tasks;
std::map<std::string, bool> released;  // keys of what is held

void mark(const std::string& what, const std::string& key, const std::string& words = {}) {
    const std::string line = "@" + what + ' ' + key + ' ' + words + '\n';
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

/// `stuck`: told again and again while nobody takes it.
void send(json::object message, const std::function<void()>& stuck = {}) {
    message["jsonrpc"] = "2.0";
    const std::string line = json::serialize(message) + '\n';
    const std::lock_guard lock(output);
    for (std::size_t sent = 0; sent < line.size();) {
        pollfd room{STDOUT_FILENO, POLLOUT, 0};
        while (stuck && ::poll(&room, 1, 300) == 0) stuck();
        const std::size_t most = stuck ? PIPE_BUF : line.size();  // what there is room for where there is any
        const ssize_t wrote = ::write(STDOUT_FILENO, line.data() + sent, std::min(most, line.size() - sent));
        if (wrote <= 0) return;
        sent += static_cast<std::size_t>(wrote);
    }
}

std::string text_in(const json::object& from, const char* key, const std::string& otherwise = {}) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : otherwise;
}

std::int64_t number_in(const json::object& from, const char* key, std::int64_t otherwise) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_int64() ? found->get_int64() : otherwise;
}

json::object object_in(const json::object& from, const char* key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : json::object();
}

/// One call of a tool, as the names of the tools say.
struct work {
    json::value id;
    json::object arguments;
    json::value token;

    void answer(const std::string& text) const {
        send({{"id", id}, {"result", {{"content", {{{"type", "text"}, {"text", text}}}}, {"resultType", "complete"}}}});
    }
    void tick(int done) const {
        if (token.is_null()) return;
        send({{"method", "notifications/progress"},
              {"params", {{"progressToken", token}, {"progress", done}, {"total", 1'000'000}}}});
    }
    [[nodiscard]] std::chrono::milliseconds span(const char* key, std::int64_t otherwise) const {
        return std::chrono::milliseconds(number_in(arguments, key, otherwise));
    }
};

/// A child that lives on, whatever it is asked; in its own session, if wanted.
pid_t child(bool own_session) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    if (own_session) ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
}

bool is_cancelled(const work& of) {
    const std::lock_guard lock(records);
    return cancelled_by.contains(json::serialize(of.id));
}

/// More than anybody may want to read: `count` messages of `bytes`, numbered, as progress where that is asked for. Says
/// when nobody took any for a while, and when nobody did for a while after it was cancelled.
void pour(const work& of, const std::string& key) {
    const std::string padding(static_cast<std::size_t>(number_in(of.arguments, "bytes", 65'536)), '.');
    const std::function<void()> stuck = [&, told = false, cancelled = false, told_again = false]() mutable {
        if (!std::exchange(told, true)) mark("stuck", key);
        if (cancelled && !std::exchange(told_again, true)) mark("stuck_after_cancel", key);
        cancelled = is_cancelled(of);
    };
    for (std::int64_t i = 1; i <= number_in(of.arguments, "count", 1); ++i) {
        if (is_cancelled(of)) return mark("obeyed", key);
        if (of.token.is_null()) {
            send({{"method", "notifications/message"},
                  {"params", {{"level", "info"}, {"data", {{"number", i}, {"padding", padding}}}}}},
                 stuck);
        } else {
            send({{"method", "notifications/progress"},
                  {"params", {{"progressToken", of.token}, {"progress", i}, {"message", padding}}}},
                 stuck);
        }
    }
    mark("poured", key);
    of.answer("poured");
}

/// A task that is at work for that time, and gives signs of life in that way: "progress", "status" or none.
void run_task(const std::string& task, const work& of) {
    const json::object state{{"taskId", task},
                             {"status", "working"},
                             {"createdAt", "2026-01-01T00:00:00Z"},
                             {"lastUpdatedAt", "2026-01-01T00:00:00Z"},
                             {"ttl", nullptr}};
    send({{"id", of.id}, {"result", {{"task", state}}}});
    const auto until = std::chrono::steady_clock::now() + of.span("ms", 1'000);
    const std::string way = text_in(of.arguments, "way");
    for (int i = 1; std::chrono::steady_clock::now() < until; ++i) {
        if (way == "progress") of.tick(i);
        if (way == "status") send({{"method", "notifications/tasks/status"}, {"params", state}});
        std::this_thread::sleep_for(50ms);
    }
    const std::lock_guard lock(records);
    finished_tasks[task] = true;
}

void await_task(const json::value& id, const std::string& task) {
    const auto is_finished = [&] {
        const std::lock_guard lock(records);
        return finished_tasks.contains(task);
    };
    while (!is_finished()) std::this_thread::sleep_for(1ms);
    send({{"id", id}, {"result", {{"content", {{{"type", "text"}, {"text", "the task's"}}}}}}});
}

void run(const std::string& tool, const work& of) {
    const std::string key = text_in(of.arguments, "key", "-");
    const auto until = std::chrono::steady_clock::now() + of.span("ms", 120'000);
    const auto before_the_end = [&] { return std::chrono::steady_clock::now() < until; };
    if (tool == "fork") {
        const pid_t near = child(false);
        const pid_t far = child(true);
        mark("children", key, std::to_string(near) + ' ' + std::to_string(far));
    }
    mark("began", key, std::to_string(::getpid()) + ' ' + json::serialize(of.id));
    if (tool == "tick") {
        std::this_thread::sleep_for(of.span("first", 0));
        for (int i = 1; before_the_end(); ++i) {
            of.tick(i);
            std::this_thread::sleep_for(of.span("every", 20));
        }
    } else if (tool == "burn") {
        while (before_the_end()) {
        }
    } else if (tool == "sleep" || tool == "fork") {
        std::this_thread::sleep_until(until);
    } else if (tool == "nap") {
        std::this_thread::sleep_until(until);
        mark("awake", key);
    } else if (tool == "pour") {
        return pour(of, key);
    } else if (tool == "obey") {
        while (before_the_end()) {
            if (is_cancelled(of)) return mark("obeyed", key);
            std::this_thread::sleep_for(1ms);
        }
    } else if (tool == "hold") {
        const auto is_released = [&] {
            const std::lock_guard lock(records);
            return released.contains(key);
        };
        while (!is_released()) std::this_thread::sleep_for(1ms);
    } else if (tool == "release") {
        const std::lock_guard lock(records);
        released[key] = true;
    } else if (tool == "answer_and_burn") {
        of.answer("done");
        while (before_the_end()) {
            if (!of.arguments.contains("pause")) continue;
            const auto enough = std::chrono::steady_clock::now() + 2ms;
            while (std::chrono::steady_clock::now() < enough) {
            }
            std::this_thread::sleep_for(of.span("pause", 0));
        }
        return mark("burnt", key);
    } else if (tool == "log") {
        send({{"method", "notifications/message"}, {"params", {{"level", "error"}, {"data", "of " + key}}}});
    } else if (tool == "threads") {  // which do nothing, and do not end
        for (std::int64_t i = 0; i < number_in(of.arguments, "count", 1); ++i) {
            std::thread([] {
                for (;;) ::pause();
            }).detach();
        }
    } else if (tool == "crash") {
        if (of.arguments.contains("signal")) {
            ::kill(::getpid(), static_cast<int>(number_in(of.arguments, "signal", 9)));
            for (;;) ::pause();
        }
        ::_exit(static_cast<int>(number_in(of.arguments, "code", 1)));
    } else if (tool == "answer_and_exit") {
        std::this_thread::sleep_for(of.span("ms", 0));
        if (of.arguments.contains("more") && ::fork() == 0) {  // somebody still has its input, which so is not broken
            ::close(STDOUT_FILENO);
            ::signal(SIGTERM, SIG_IGN);
            for (;;) ::pause();
        }
        of.answer("the last words" + std::string(static_cast<std::size_t>(number_in(of.arguments, "more", 0)), '.'));
        ::_exit(0);
    } else if (tool == "flood") {
        const std::string line(1'023, '!');
        for (std::int64_t i = 0; i < number_in(of.arguments, "kib", 1'024); ++i) std::cerr << line << '\n';
    } else if (tool == "told") {
        const std::lock_guard lock(records);
        return of.answer(json::serialize(json::object{{"pid", ::getpid()}, {"told", told}}));
    } else if (tool == "pid") {
        return of.answer(std::to_string(::getpid()));
    } else if (tool == "clock") {  // that of /proc/PID/stat
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        return of.answer(std::to_string(now.tv_sec * ::sysconf(_SC_CLK_TCK) +
                                        now.tv_nsec / (1'000'000'000 / ::sysconf(_SC_CLK_TCK))));
    }
    of.answer(text_in(of.arguments, "text", "done"));
    mark("answered", key);
}

void refuse(const json::value& id, int code, const char* why) {
    send({{"id", id}, {"error", {{"code", code}, {"message", why}}}});
}

void on_request(const options& how, const json::value& id, const std::string& method, const json::object& params) {
    const json::object capabilities{
        {"tools", json::object()}, {"logging", json::object()}, {"resources", {{"subscribe", true}}}};
    const json::object info{{"name", "misbehaving"}, {"version", "1"}};
    if (method == "initialize") {
        if (how.mute) return;
        if (how.era == "modern") return refuse(id, -32601, "no such method");
        if (!how.agrees_once.empty() && !std::filesystem::create_directory(how.agrees_once)) {
            return refuse(id, -32603, "not again");
        }
        return send({{"id", id},
                     {"result",
                      {{"protocolVersion", text_in(params, "protocolVersion")},
                       {"capabilities", capabilities},
                       {"serverInfo", info}}}});
    }
    if (method == "server/discover") {
        if (how.mute) return;
        if (how.era == "legacy") return refuse(id, -32601, "no such method");
        return send({{"id", id},
                     {"result",
                      {{"resultType", "complete"},
                       {"supportedVersions", {"2026-07-28"}},
                       {"capabilities", capabilities},
                       {"serverInfo", info},
                       {"ttlMs", 0},
                       {"cacheScope", "private"}}}});
    }
    if (method == "tools/call") {
        const json::object meta = object_in(params, "_meta");
        const json::value* const token = meta.if_contains("progressToken");
        work of{id, object_in(params, "arguments"), token == nullptr ? json::value() : *token};
        // Nothing is read meanwhile.
        if (text_in(params, "name") == "deaf") std::this_thread::sleep_for(of.span("ms", 1'000));
        if (params.contains("task")) {
            std::thread([task = text_in(of.arguments, "key"), of = std::move(of)] { run_task(task, of); }).detach();
            return;
        }
        std::thread([tool = text_in(params, "name"), of = std::move(of)] { run(tool, of); }).detach();
        return;
    }
    if (method == "subscriptions/listen") {
        const json::object asked = object_in(params, "notifications");
        const std::string filter = json::serialize(asked);
        mark("listens", json::serialize(id), filter);
        if (filter.find("silent:") != std::string::npos) return;
        return send(
            {{"method", "notifications/subscriptions/acknowledged"},
             {"params", {{"_meta", {{"io.modelcontextprotocol/subscriptionId", id}}}, {"notifications", asked}}}});
    }
    if (method == "tasks/result") {
        std::thread([id, task = text_in(params, "taskId")] { await_task(id, task); }).detach();
        return;
    }
    if (method == "subscriptions/listen") {  // and nothing ever happens
        const json::object meta{{"io.modelcontextprotocol/subscriptionId", id}};
        return send({{"method", "notifications/subscriptions/acknowledged"},
                     {"params", {{"_meta", meta}, {"notifications", object_in(params, "notifications")}}}});
    }
    if (method == "tools/list") {
        return send({{"id", id}, {"result", {{"tools", json::array()}, {"resultType", "complete"}}}});
    }
    send({{"id", id}, {"result", {{"resultType", "complete"}}}});
}

void on_line(const options& how, const std::string& line) {
    const json::object message = json::parse(line).as_object();
    const std::string method = text_in(message, "method");
    if (method.empty()) return;
    const json::object params = object_in(message, "params");
    if (method != "tools/call") {
        const std::lock_guard lock(records);
        told.push_back({{"method", method}, {"params", params}});
    }
    mark("told", method, json::serialize(params).substr(0, 4'096));
    if (method == "notifications/cancelled" && params.contains("requestId")) {
        const std::string id = json::serialize(params.at("requestId"));
        {
            const std::lock_guard lock(records);
            cancelled_by[id] = true;
        }
        mark("cancelled", id, text_in(params, "reason"));
    }
    if (const json::value* const id = message.if_contains("id")) on_request(how, *id, method, params);
}

}  // namespace

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    options how;
    mark("started", std::to_string(::getpid()));
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        if (word == "--era") how.era = value();
        if (word == "--trap") ::signal(SIGTERM, SIG_IGN);
        if (word == "--stay") how.stays = true;
        if (word == "--unread") ::signal(SIGPIPE, SIG_IGN);  // works on where nobody reads what it says
        if (word == "--mute") how.mute = true;
        if (word == "--exit-at-start") return std::stoi(value());
        if (word == "--agrees-once") how.agrees_once = value();
        if (word == "--computes") {  // for itself, without end
            std::thread([] {
                for (volatile int n = 0;;) n = 1 - n;
            }).detach();
        }
        if (word == "--starts-for") {  // and reads meanwhile
            std::thread([until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::stoi(value()))] {
                while (std::chrono::steady_clock::now() < until) {
                }
            }).detach();
        }
        if (word == "--works-once" && !std::filesystem::create_directory(value())) return 7;
    }
    for (std::string line; std::getline(std::cin, line);) on_line(how, line);
    mark("input_ended", std::to_string(::getpid()));
    while (how.stays) ::pause();
    ::_exit(0);
}
