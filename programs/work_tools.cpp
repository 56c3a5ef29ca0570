// Tools that work, wait or block in every way there is, so that stopping them can be watched.
#include "work_tools.hpp"

#include <boost/describe/class.hpp>
#include <chrono>
#include <thread>

#include "answer_text.hpp"
#include "marks.hpp"

namespace everything {
namespace {

using andon::async;
using andon::call;
using std::chrono::milliseconds;

struct echo_arguments {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(echo_arguments, (), (text))

struct key_arguments {
    std::string key = "-";
};
BOOST_DESCRIBE_STRUCT(key_arguments, (), (key))

struct wait_arguments {
    milliseconds ms{};
    milliseconds tick_ms{100};
    std::string key = "-";
};
BOOST_DESCRIBE_STRUCT(wait_arguments, (), (ms, tick_ms, key))

struct time_arguments {
    milliseconds ms{};
    std::string key = "-";
};
BOOST_DESCRIBE_STRUCT(time_arguments, (), (ms, key))

struct child_arguments {
    int seconds = 600;
    std::string key = "-";
};
BOOST_DESCRIBE_STRUCT(child_arguments, (), (seconds, key))

async<std::string> echo(echo_arguments given, call&) { co_return std::move(given.text); }

async<std::string> wait(wait_arguments given, call& call) {
    mark("start", given.key);
    const auto noticed = call.on_cancel([&] { mark("cancel", given.key); });
    const auto tick = std::max(given.tick_ms, milliseconds(1));
    for (milliseconds done{}; done < given.ms; done += tick) {
        co_await call.async_sleep_for(std::min(tick, given.ms - done));
        call.progress(static_cast<double>((done + tick).count()), static_cast<double>(given.ms.count()));
    }
    co_return "waited " + std::to_string(given.ms.count()) + " ms";
}

/// Never looks at the cancel, and goes on sending.
std::string wait_ignore(const wait_arguments& given, call& call) {
    mark("start", given.key);
    const auto tick = std::max(given.tick_ms, milliseconds(1));
    for (milliseconds done{}; done < given.ms; done += tick) {
        std::this_thread::sleep_for(std::min(tick, given.ms - done));
        call.progress(static_cast<double>((done + tick).count()), static_cast<double>(given.ms.count()));
        call.log(andon::message_level::warning, "still here");
    }
    mark("end", given.key);
    return "ignored everything for " + std::to_string(given.ms.count()) + " ms";
}

async<std::string> park(key_arguments given, call& call) {
    mark("start", given.key);
    co_await call.async_cancelled();
    mark("cancel", given.key);
    co_return "parked";
}

std::string spin(const time_arguments& given, call& call) {
    mark("start", given.key);
    const auto until = std::chrono::steady_clock::now() + given.ms;
    std::uint64_t rounds = 0;
    while (std::chrono::steady_clock::now() < until) {
        if (call.cancelled()) {
            mark("cancel", given.key);
            call.throw_if_cancelled();
        }
        ++rounds;
    }
    return std::to_string(rounds) + " rounds";
}

std::string block(const time_arguments& given, call&) {
    mark("start", given.key);
    std::this_thread::sleep_for(given.ms);
    mark("end", given.key);
    return "blocked " + std::to_string(given.ms.count()) + " ms";
}

/// A shell with two grandchildren, one of which has left its session.
std::string child(const child_arguments& given, call& call) {
    const std::string seconds = std::to_string(given.seconds);
    const auto noticed = call.on_cancel([&] { mark("cancel", given.key); });
    // The last to start says so, from inside its own session.
    const auto result =
        call.run(andon::command::shell("sleep " + seconds + " & setsid sh -c 'echo $0 $1 $$; exec sleep " + seconds +
                                       "' $$ $! & wait"),
                 [&](std::string_view pids) {
                     mark("pids", given.key + ' ' + std::string(pids.substr(0, pids.find('\n'))));
                     mark("start", given.key);
                 });
    return "exit " + std::to_string(result.status.code);
}

// Apart from the coroutine: g++ 12 takes no such braces in a co_await.
andon::json::object question() {
    return {{"messages", {{{"role", "user"}, {"content", {{"type", "text"}, {"text", "What shall I say?"}}}}}},
            {"maxTokens", 100}};
}

async<std::string> ask(key_arguments given, call& call) {
    mark("start", given.key);
    const auto noticed = call.on_cancel([&] { mark("cancel", given.key); });
    const andon::json::value answer = co_await call.async_sample(question());
    const std::string said = sampled_text(answer);
    co_return said.empty() ? "no text" : said;
}

}  // namespace

void add_work_tools(andon::server& server) {
    const auto add = [&](const std::string& name, const std::string& description, auto handler) {
        server.tool(name, description, handler);
        server.tool({.name = "task_" + name,
                     .description = description + "; as a task where the client knows tasks",
                     .task = andon::task_use::optional},
                    handler);
    };
    add("echo", "Answers with the text it was given", echo);
    add("wait", "Waits, with progress, and stops when it is cancelled", wait);
    add("wait_ignore", "Waits, with progress, and never looks at its cancel", wait_ignore);
    add("park", "Waits for its cancel, without a thread", park);
    add("spin", "Keeps a processor busy, and looks at its cancel", spin);
    add("block", "Blocks its thread where nothing can wake it", block);
    add("child", "Starts a shell with two grandchildren that sleep", child);
    add("ask", "Asks the client's model what to say", ask);
}

}  // namespace everything
