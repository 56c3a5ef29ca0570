// A client: start or reach a server, then call what it offers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/client/pending_call.hpp"
#include "andon/client/pending_task.hpp"
#include "andon/client/subscription.hpp"
#include "andon/core/cancel_token.hpp"
#include "andon/core/in_flight.hpp"
#include "andon/process/process_tree.hpp"
#include "andon/transport/http_client.hpp"
#include "andon/transport/log.hpp"
#include "andon/transport/transport.hpp"
#include "andon/wire/revision.hpp"

namespace andon {

/// Answers a question of the server's (sampling, elicitation, roots), on a thread of its own. Up to 2025-11-25 the
/// server can take the question back; since 2026-07-28 it goes with the call that it belongs to. Either way the token
/// is cancelled, and nobody wants the answer any more.
using question_handler = std::function<json::object(const json::object& params, const cancel_token& token)>;

struct client_options {
    std::string name = "andon";
    std::string version = "0.1.0";
    std::vector<revision> revisions{all_revisions.begin(), all_revisions.end()};

    duration timeout = std::chrono::seconds(60);          ///< of a call: without a sign of life
    duration max_timeout = std::chrono::minutes(60);      ///< of a call: in all
    duration probe_timeout = std::chrono::seconds(2);     ///< a server that does not answer the probe is a legacy one
    duration connect_timeout = std::chrono::seconds(30);  ///< for the rest of the beginning
    duration leave_within = std::chrono::seconds(2);      ///< how long a server has to exit by itself when we leave

    question_handler on_sampling{};     ///< declares the capability `sampling`
    question_handler on_elicitation{};  ///< declares `elicitation`
    question_handler on_roots{};        ///< declares `roots`
    json::object capabilities{};        ///< more of them
    /// Declares the extension for tasks (2026-07-28): a server may then make a task of a call, which is followed as if
    /// it were the call.
    bool tasks = true;

    /// On the client's thread.
    std::function<void(std::string_view method, const json::object& params)> on_notification{};
    /// What a server that we started writes to standard error; unset, it goes to ours.
    std::function<void(std::string_view piece)> on_stderr{};

    std::size_t workers = 16;  ///< threads for questions, at most
    transport_limits lines{};
    log_sink_function log = log_to_stderr;
};

/// Speaks every revision: it finds out which one the server speaks. Has one thread of its own; every call may come from
/// any thread.
class client {
public:
    /// Starts a server. It ends with the client, and so does everything that it started. Throws where it cannot be
    /// started or does not speak our language.
    [[nodiscard]] static client spawn(const command& what, client_options options = {});
    [[nodiscard]] static client connect(std::unique_ptr<transport> over, client_options options = {});
    /// Over Streamable HTTP, to a URL with http or https. Throws where there is no server, or it does not speak our
    /// language.
    [[nodiscard]] static client connect_http(std::string_view url, http_client_options how = {},
                                             client_options options = {});

    client(client&&) noexcept;
    client& operator=(client&&) noexcept;
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    /// close()
    ~client();

    pending_call call_tool(std::string_view name, json::object arguments = {}, call_options options = {});
    /// A call that outlives its request, and us: 2025-11-25 asks the server for a task, 2026-07-28 lets it make one. A
    /// server that knows no tasks answers as usual, and so does a tool of which list_tools() said that it cannot be
    /// one; one that must be is a task by call_tool(), too.
    pending_task call_tool_as_task(std::string_view name, json::object arguments = {}, follow_options options = {});
    /// Picks up a task again, in another process too.
    pending_task follow_task(std::string_view id, follow_options options = {});
    /// Only tells the server, and waits for its answer.
    pending_call cancel_task(std::string_view id);
    pending_call get_prompt(std::string_view name, json::object arguments = {}, call_options options = {});
    pending_call read_resource(std::string_view uri, call_options options = {});
    /// Any request. `initialize` is the client's own business and is refused.
    pending_call request(std::string_view method, json::object params = {}, call_options options = {});
    subscription listen(subscription_filter what, subscription_options how = {});
    void notify(std::string_view method, const json::object& params = {});

    // All pages. They block, and throw where the server fails.

    [[nodiscard]] json::array list_tools();
    [[nodiscard]] json::array list_prompts();
    [[nodiscard]] json::array list_resources();
    [[nodiscard]] json::array list_resource_templates();
    [[nodiscard]] json::array list_tasks();  ///< 2025-11-25

    [[nodiscard]] revision speaks() const noexcept;
    [[nodiscard]] const json::object& server_info() const noexcept;
    [[nodiscard]] const json::object& server_capabilities() const noexcept;
    [[nodiscard]] const std::string& instructions() const noexcept;
    /// What is in flight, and what became of what was cancelled.
    [[nodiscard]] in_flight& requests() noexcept;

    /// Cancels what is in flight. A server that we started is asked to leave by the end of its input, then by SIGTERM,
    /// then by SIGKILL, with everything that it started; returns when nothing of it is left.
    void close();

private:
    struct state;
    explicit client(std::shared_ptr<state> s) noexcept;
    [[nodiscard]] static client begin(std::unique_ptr<transport> over, client_options options,
                                      std::unique_ptr<process_tree> tree);
    [[nodiscard]] json::array list(std::string_view method, std::string_view member);
    [[nodiscard]] bool asks_for_tasks() const;

    std::shared_ptr<state> state_;
};

}  // namespace andon
