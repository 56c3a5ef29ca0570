// Each example is a program that somebody will copy: here each is started, called, and stopped.
#include <andon/client/client.hpp>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace andon {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20s;

[[nodiscard]] client start(const std::string& name, client_options options = {}) {
    return client::spawn({.argv = {std::string(ANDON_EXAMPLES) + '/' + name}}, std::move(options));
}

std::string text_of(const pending_call& pending) {
    const json::value& result = pending.value();
    return std::string(result.at("content").at(0).at("text").as_string());
}

/// Waits until the server has said that it stopped: its log line comes when the cancel is accepted.
class log_watch {
public:
    [[nodiscard]] client_options options() {
        client_options made;
        made.on_stderr = [this](std::string_view piece) {
            const std::lock_guard lock(mutex_);
            text_ += piece;
            changed_.notify_all();
        };
        return made;
    }
    [[nodiscard]] bool wait_for(const std::string& text) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return text_.find(text) != std::string::npos; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
};

/// A call that would take long, stopped: the server hears of it, and goes on serving.
void expect_stops(const std::string& example, const std::string& tool, const json::object& arguments) {
    log_watch log;
    auto client = start(example, log.options());
    auto pending = client.call_tool(tool, arguments);
    EXPECT_FALSE(client.list_tools().empty());  // answered after the call was read: it is under way
    EXPECT_TRUE(pending.cancel("enough of " + tool));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_TRUE(log.wait_for("cancelled: peer, enough of " + tool));
    EXPECT_FALSE(client.list_tools().empty());
}

TEST(examples, first_server) {
    auto client = start("01_first_server");
    EXPECT_EQ(text_of(client.call_tool("count", {{"to", 2}})), "counted to 2");
    expect_stops("01_first_server", "count", {{"to", 100'000}});
}

TEST(examples, polling) {
    auto client = start("02_polling");
    EXPECT_EQ(text_of(client.call_tool("next_prime", {{"from", 90}})), "97");
    expect_stops("02_polling", "next_prime", {{"from", 9'000'000'000'000'000'000}});
}

TEST(examples, callback) { expect_stops("03_callback", "query", {}); }

TEST(examples, coroutine) {
    auto client = start("04_coroutine");
    EXPECT_EQ(text_of(client.call_tool("remind", {{"in", 5}, {"text", "now"}})), "now");
    expect_stops("04_coroutine", "remind", {{"in", 600'000}});
}

TEST(examples, child_process) {
    auto client = start("05_child_process");
    EXPECT_EQ(text_of(client.call_tool("shell", {{"line", "echo hello"}})), "hello\n");
    EXPECT_EQ(text_of(client.call_tool("shell", {{"line", "exit 15"}})), "exit status 15");
    EXPECT_EQ(text_of(client.call_tool("shell", {{"line", "kill -TERM $$"}})), "killed by signal 15");
    expect_stops("05_child_process", "shell", {{"line", "sleep 600"}});
}

TEST(examples, deadline) {
    auto client = start("06_deadline");
    EXPECT_EQ(text_of(client.call_tool("refine")), "a good answer");
    const pending_call stubborn = client.call_tool("stubborn");
    EXPECT_EQ(text_of(stubborn), "stopped: it took longer than this server allows");
    EXPECT_TRUE(stubborn.get().result.at("isError").as_bool());
}

TEST(examples, nested_sampling) {
    for (const revision each : {newest_legacy, newest_modern}) {
        client_options options;
        options.revisions = {each};
        options.on_sampling = [](const json::object&, const cancel_token&) {
            return json::object{
                {"role", "assistant"}, {"model", "none"}, {"content", {{"type", "text"}, {"text", "it is short."}}}};
        };
        auto client = start("07_nested_sampling", options);
        EXPECT_EQ(text_of(client.call_tool("summarize", {{"text", "..."}})), "In short: it is short.");
    }
}

/// Reads what a command writes until `text` is there; gives all of it.
std::string read_until(int from, const std::string& text) {
    std::string read;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (read.find(text) == std::string::npos || read.back() != '\n') {
        pollfd ready{from, POLLIN, 0};
        if (std::chrono::steady_clock::now() > until || ::poll(&ready, 1, 1'000) < 0) break;
        std::array<char, 4'096> piece{};
        const ssize_t got = ::read(from, piece.data(), piece.size());
        if (got > 0) read.append(piece.data(), static_cast<std::size_t>(got));
    }
    return read;
}

std::string url_in(const std::string& said) {
    const std::size_t url = said.find("http://");
    EXPECT_NE(url, std::string::npos) << said;
    return url == std::string::npos ? "" : said.substr(url, said.find('\n', url) - url);
}

TEST(examples, http_server) {
    const auto tree = process_tree::start({.argv = {std::string(ANDON_EXAMPLES) + "/10_http_server"}},
                                          {.in = stdio::null, .out = stdio::null, .err = stdio::pipe});
    auto client = client::connect_http(url_in(read_until(tree.err(), "/mcp")));
    std::promise<void> waiting;
    auto pending = client.call_tool("wait", {}, {.on_progress = [&](const progress_update&) { waiting.set_value(); }});
    ASSERT_EQ(waiting.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(pending.cancel("enough"));
    EXPECT_THAT(read_until(tree.err(), "cancelled: "), testing::HasSubstr("cancelled: disconnect"));
}

TEST(examples, http_client) {
    const auto server = process_tree::start({.argv = {std::string(ANDON_EXAMPLES) + "/10_http_server"}},
                                            {.in = stdio::null, .out = stdio::null, .err = stdio::pipe});
    const std::string url = url_in(read_until(server.err(), "/mcp"));
    const auto client = process_tree::start({.argv = {std::string(ANDON_EXAMPLES) + "/11_http_client", url}},
                                            {.in = stdio::null, .out = stdio::pipe, .err = stdio::inherit});
    EXPECT_EQ(read_until(client.out(), "cancelled"),
              "the server speaks 2026-07-28\nat work: waiting\ncancelled: the user pressed Stop\n");
    EXPECT_THAT(read_until(server.err(), "cancelled: "), testing::HasSubstr("cancelled: disconnect"));
}

process_tree run(std::vector<std::string> argv, bool watch_errors = false) {
    argv.front() = std::string(ANDON_EXAMPLES) + '/' + argv.front();
    return process_tree::start({.argv = std::move(argv)}, {.in = stdio::null,
                                                           .out = watch_errors ? stdio::null : stdio::pipe,
                                                           .err = watch_errors ? stdio::pipe : stdio::inherit});
}

TEST(examples, tasks_survive_a_restart) {
    std::string folder = testing::TempDir() + "andon-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string file = folder + "/tasks.db";
    std::string left;
    std::string cancelled;
    {
        auto server = run({"12_task_server", "0", file}, true);
        const std::string url = url_in(read_until(server.err(), "/mcp"));
        const auto start = [&] {
            const auto client = run({"13_task_client", url, "start"});
            std::string id = read_until(client.out(), "\n");
            if (!id.empty()) id.pop_back();
            EXPECT_EQ(id.size(), 40U);
            return id;
        };
        left = start();
        cancelled = start();
        const auto watch = run({"13_task_client", url, "watch", left});
        EXPECT_THAT(read_until(watch.out(), "page"), testing::HasSubstr("working page "));
        const auto cancel = run({"13_task_client", url, "cancel", cancelled});
        EXPECT_THAT(read_until(cancel.out(), "cancelled"), testing::HasSubstr("cancelled the user pressed Stop"));
        EXPECT_THAT(read_until(server.err(), "cancelled: "), testing::HasSubstr(cancelled));
        // Nobody said yet that it is on the disk.
        const auto look = run({"13_task_client", url, "watch", cancelled});
        EXPECT_THAT(read_until(look.out(), "failed"), testing::HasSubstr("failed cancelled by the client"));
        server.kill();
        server.wait();
    }
    const auto server = run({"12_task_server", "0", file}, true);
    const std::string url = url_in(read_until(server.err(), "/mcp"));
    const auto look = run({"13_task_client", url, "watch", cancelled});
    EXPECT_THAT(read_until(look.out(), "failed"), testing::HasSubstr("cancelled cancelled by the client"));
    const auto other = run({"13_task_client", url, "watch", left});
    EXPECT_THAT(read_until(other.out(), "failed"), testing::HasSubstr("the server stopped while it was working"));
}

}  // namespace
}  // namespace andon
