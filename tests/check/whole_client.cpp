// A client that does what `andon check --client` asks for: whole_client stdio|http REVISION
#include <andon/client/client.hpp>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

std::string environment(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value != nullptr ? value : "";
}

andon::client connect(const std::string& transport, andon::client_options options) {
    if (transport == "http") return andon::client::connect_http(environment("ANDON_CHECK_URL"), {}, std::move(options));
    std::istringstream words(environment("ANDON_CHECK_SERVER"));
    andon::command server;
    for (std::string word; words >> word;) server.argv.push_back(word);
    return andon::client::spawn(server, std::move(options));
}

void stop_at_work(andon::client& client, const char* tool) {
    std::promise<void> at_work;
    auto pending = client.call_tool(tool, {}, {.on_progress = [&, first = true](const andon::progress_update&) mutable {
                                        if (std::exchange(first, false)) at_work.set_value();
                                    }});
    at_work.get_future().wait();
    pending.cancel("the user pressed Stop");
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) return 2;
    andon::client_options options;
    options.log = [](andon::log_level, std::string_view) {};
    options.revisions = {andon::revision_from(argv[2]).value()};
    auto client = connect(argv[1], options);
    stop_at_work(client, "slow");
    stop_at_work(client, "answers_late");
    // When this has timed out the late answer, which must do no harm, has come.
    (void)client.call_tool("never_answers", {{"timeout_ms", 600}}, {.timeout = 600ms}).get();
    (void)client.call_tool("hello").get();
    (void)client
        .call_tool("endless_progress", {{"timeout_ms", 700}},
                   {.timeout = 10s, .max_timeout = 700ms, .on_progress = [](const andon::progress_update&) {}})
        .get();
    const auto& policy = andon::policy_of(client.speaks());
    if (policy.task_requests || policy.tasks_extension) {
        auto task = client.call_tool_as_task("make_task");
        (void)task.id();
        task.cancel("the user pressed Stop");
    }
    (void)client.call_tool("hello").get();
    client.close();
    return 0;
} catch (const std::exception& error) {
    std::cerr << "whole_client: " << error.what() << '\n';
    return 1;
}
