// Calls every tool of a server such as everything_server, stops some of them in every way there is, and says what
// became of each. Or does what the official conformance suite wants of a client.
#include <andon/client/client.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "conformance_scenarios.hpp"

namespace {

using andon::call_status;
using namespace std::chrono_literals;

constexpr const char* usage = R"(usage: everything_client [options] COMMAND [ARGUMENT...]
       everything_client [options] URL

Starts the MCP server COMMAND, or connects to the one at URL (http or https), calls its tools, cancels and times out some
of the calls, and prints one line each.
Exit status: 0 when every call ended as it should, 1 when not, 2 for a wrong command line.

Options:
  --revision R    speak only this revision of the protocol: 2024-11-05 ... 2026-07-28 (default: find out)
  --json          one JSON object a line
  --token T       send this bearer token
  --ca-file F     trust the certificates in F (PEM) instead of the system's
  --help          this text

Environment:
  MCP_CONFORMANCE_SCENARIO            run this client scenario of @modelcontextprotocol/conformance instead
  MCP_CONFORMANCE_CONTEXT             what goes with it, as JSON
  MCP_CONFORMANCE_PROTOCOL_VERSION    speak no newer revision
)";

struct settings {
    bool json = false;
    andon::client_options client{};
    andon::http_client_options http{};
    std::vector<std::string> command;

    [[nodiscard]] bool over_http() const {
        return command.front().starts_with("http://") || command.front().starts_with("https://");
    }
};

class report {
public:
    explicit report(bool json) : json_(json) {}
    void add(const std::string& what, const andon::call_outcome& outcome, call_status expected) {
        const bool good = outcome.status == expected;
        all_good_ = all_good_ && good;
        if (json_) {
            std::cout << andon::json::serialize(
                             andon::json::object{{"call", what}, {"outcome", to_string(outcome.status)}, {"ok", good}})
                      << '\n';
        } else {
            std::cout << (good ? "ok    " : "WRONG ") << what << ": " << to_string(outcome.status)
                      << (outcome.message.empty() ? "" : ", " + outcome.message) << '\n';
        }
    }
    [[nodiscard]] bool all_good() const { return all_good_; }

private:
    bool json_;
    bool all_good_ = true;
};

/// Starts a call and stops it as soon as the server shows that it is at work.
void stop_at_first_progress(andon::client& client, report& told, const std::string& tool) {
    std::promise<void> at_work;
    auto pending = client.call_tool(tool, {{"ms", 60'000}, {"tick_ms", 5}, {"key", tool}},
                                    {.on_progress = [&, first = true](const andon::progress_update&) mutable {
                                        if (std::exchange(first, false)) at_work.set_value();
                                    }});
    // Or it has ended, for whatever reason, and says so below.
    const auto working = at_work.get_future();
    while (working.wait_for(20ms) != std::future_status::ready && !pending.done()) continue;
    pending.cancel("the user pressed Stop");
    told.add(tool + ", stopped at work", pending.get(), call_status::cancelled);
}

void run(andon::client& client, report& told) {
    told.add("echo", client.call_tool("echo", {{"text", "hello"}}).get(), call_status::completed);
    told.add("wait", client.call_tool("wait", {{"ms", 20}, {"tick_ms", 5}, {"key", "w"}}).get(),
             call_status::completed);
    stop_at_first_progress(client, told, "wait");
    {
        auto pending = client.call_tool("park", {{"key", "p"}});
        pending.cancel("the user pressed Stop");
        told.add("park, stopped", pending.get(), call_status::cancelled);
    }
    told.add("park, too slow", client.call_tool("park", {{"key", "t"}}, {.timeout = 50ms}).get(),
             call_status::timed_out);
    told.add(
        "wait, too long in all",
        client.call_tool("wait", {{"ms", 60'000}, {"tick_ms", 5}, {"key", "m"}}, {.timeout = 10s, .max_timeout = 100ms})
            .get(),
        call_status::timed_out);
    {
        auto pending = client.call_tool("spin", {{"ms", 60'000}, {"key", "s"}});
        pending.cancel("the user pressed Stop");
        told.add("spin, stopped", pending.get(), call_status::cancelled);
    }
    told.add("ask", client.call_tool("ask", {{"key", "a"}}).get(), call_status::completed);
    told.add("no such tool", client.call_tool("no_such_tool").get(), call_status::failed);
    told.add("echo again", client.call_tool("echo", {{"text", "still here"}}).get(), call_status::completed);
}

andon::json::object sample(const andon::json::object&, const andon::cancel_token&) {
    return {{"role", "assistant"}, {"content", {{"type", "text"}, {"text", "Hello."}}}, {"model", "none"}};
}

bool parse(int argc, char** argv, settings& given) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; ++i) {
        const std::string option = argv[i];
        if (option == "--json") {
            given.json = true;
        } else if (option == "--revision" && i + 1 < argc) {
            const auto which = andon::revision_from(argv[++i]);
            if (!which) {
                std::cerr << "everything_client: there is no revision " << argv[i] << '\n';
                return false;
            }
            given.client.revisions = {*which};
        } else if (option == "--token" && i + 1 < argc) {
            given.http.bearer_token = argv[++i];
        } else if (option == "--ca-file" && i + 1 < argc) {
            given.http.ca_file = argv[++i];
        } else if (option == "--") {
            ++i;
            break;
        } else {
            std::cerr << "everything_client: no such option: " << option << "\n\n" << usage;
            return false;
        }
    }
    for (; i < argc; ++i) given.command.emplace_back(argv[i]);
    if (given.command.empty()) std::cerr << "everything_client: which server?\n\n" << usage;
    return !given.command.empty();
}

std::string environment(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value != nullptr ? value : "";
}

/// As the conformance suite starts us.
int run_scenario(const settings& given, const std::string& scenario) {
    andon::client_options options = given.client;
    conformance::prepare(options);
    const auto newest = andon::revision_from(environment("MCP_CONFORMANCE_PROTOCOL_VERSION"));
    if (newest) std::erase_if(options.revisions, [&](andon::revision each) { return each > *newest; });
    const std::string context = environment("MCP_CONFORMANCE_CONTEXT");
    auto client = andon::client::connect_http(given.command.front(), given.http, options);
    conformance::run(client, scenario,
                     context.empty() ? andon::json::object() : andon::json::parse(context).as_object());
    return 0;
}

andon::client connect(const settings& given) {
    if (given.over_http()) return andon::client::connect_http(given.command.front(), given.http, given.client);
    return andon::client::spawn({.argv = given.command}, given.client);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
        std::cout << usage;
        return 0;
    }
    settings given;
    given.client.on_sampling = sample;
    if (!parse(argc, argv, given)) return 2;
    const std::string scenario = environment("MCP_CONFORMANCE_SCENARIO");
    if (given.over_http() && !scenario.empty()) return run_scenario(given, scenario);
    auto client = connect(given);
    report told(given.json);
    run(client, told);
    return told.all_good() ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << "everything_client: " << error.what() << '\n';
    return 1;
}
