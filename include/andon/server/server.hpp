// A server: give it tools, then let it serve.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/in_flight.hpp"
#include "andon/server/call.hpp"
#include "andon/server/completion.hpp"
#include "andon/server/http.hpp"
#include "andon/server/prompt.hpp"
#include "andon/server/resource.hpp"
#include "andon/server/tool.hpp"
#include "andon/transport/log.hpp"
#include "andon/transport/transport.hpp"
#include "andon/wire/revision.hpp"

namespace andon {

struct server_options {
    std::string name;
    std::string version = "1.0.0";
    std::string title{};
    std::string instructions{};  ///< for the model: how to use this server
    std::vector<revision> revisions{all_revisions.begin(), all_revisions.end()};
    std::size_t workers = 64;                          ///< threads for blocking handlers, at most
    std::size_t page_size = 250;                       ///< of lists
    in_flight_limits requests{};                       ///< how many may be in flight
    std::size_t most_bytes = std::size_t{256} << 20U;  ///< of arguments in flight, in one session or of one HTTP client
    transport_limits lines{};                          ///< how long a message may be, how much may wait to be sent
    /// When the client is gone or the process is asked to leave: how long handlers have to return.
    duration leave_within = std::chrono::milliseconds(400);
    /// How long a handler waits for what it asks of the client (up to 2025-11-25).
    duration ask_timeout = std::chrono::minutes(10);
    task_options tasks{};  ///< for tools that may be tasks
    /// What the answers of earlier rounds are signed with (2026-07-28); empty: a random key of this process. Servers
    /// that share their clients share the key.
    std::string state_key{};
    log_sink_function log = log_to_stderr;
};

/// Speaks every revision, the legacy and the modern ones on one stream. Handlers never run on the thread that reads, so
/// that a cancel is seen while they work; after it, nothing more is written for that call, whatever the handler does.
/// Things may be added and taken away while it serves, from any thread: clients are told.
class server {
public:
    explicit server(server_options options);
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    ~server();

    /// `f` is `(args, call&) -> result` or `(call&) -> result`, a function or a coroutine that returns async<result>.
    /// Args: JSON, or a struct with BOOST_DESCRIBE_STRUCT, which is checked and gives the schema. Result: text, JSON, a
    /// described struct, or a tool_result. An exception becomes a tool error, an rpc_error an error of the protocol.
    template <class F>
    void tool(tool_options options, F f) {
        detail::complete_options<F>(options);
        add_tool(std::move(options), detail::handler_from<tool_result>(std::move(f)));
    }
    template <class F>
    void tool(std::string_view name, std::string_view description, F f) {
        tool({.name = std::string(name), .description = std::string(description)}, std::move(f));
    }
    /// `f` is `(resource_request, call&) -> text or resource_result`.
    template <class F>
    void resource(const resource_options& options, F f) {
        add_resource(options, detail::handler_from<resource_result>(std::move(f)));
    }
    /// `f` is `(json::object arguments, call&) -> text or prompt_result`.
    template <class F>
    void prompt(const prompt_options& options, F f) {
        add_prompt(options, detail::handler_from<prompt_result>(std::move(f)));
    }
    /// `of`: the name of a prompt or the template of a resource. `f` is `(completion_request, call&) -> strings`.
    template <class F>
    void completion(std::string_view of, F f) {
        add_completion(std::string(of), detail::handler_from<completion_result>(std::move(f)));
    }

    bool remove_tool(std::string_view name);
    bool remove_prompt(std::string_view name);
    bool remove_resource(std::string_view uri);

    /// Tells the clients that have subscribed to it. From any thread.
    void resource_changed(std::string_view uri);

    /// Around every tool call, on its handler's thread; both can ask the call whether it is cancelled (REG-5). What
    /// `before` throws is the answer, and the handler does not run. `after` comes however the handler ended; what it
    /// throws is the answer, unless the handler threw.
    void before_tool(std::function<void(call&)> hook);
    void after_tool(std::function<void(call&)> hook);

    /// Serves one client on standard input and output, and returns when it is gone or the process is asked to leave
    /// (SIGINT, SIGTERM). Handlers that have not returned by then do not hold the process up: it ends here.
    void serve_stdio();
    /// Serves any number of clients over Streamable HTTP, both eras on one endpoint, until the process is asked to
    /// leave (SIGINT, SIGTERM): then every call is told, has `leave_within` to return, and the connections are closed.
    /// `on_listening` is called with the port. Throws where it cannot listen.
    void serve_http(http_options options, const std::function<void(std::uint16_t port)>& on_listening = {});
    /// The same in a thread of this server's. Returns at once, with the port.
    std::uint16_t listen_http(http_options options);
    /// Serves on any transport, in a thread of this server's. Returns at once.
    void serve(std::unique_ptr<transport> over);

    /// What is in flight, and what became of what was cancelled.
    [[nodiscard]] in_flight& requests() noexcept;

private:
    void add_tool(tool_options options, detail::handler run);
    void add_resource(const resource_options& options, detail::handler run);
    void add_prompt(const prompt_options& options, detail::handler run);
    void add_completion(std::string of, detail::handler run);

    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace andon
