// A legacy client (2024-11-05 to 2025-11-25) in front of a modern server (2026-07-28). docs/translation.md has the
// table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "andon/server/call.hpp"
#include "andon/wire/revision.hpp"
#include "gateway/translation/merged_subscription.hpp"
#include "gateway/translation/step.hpp"

namespace andon::gateway {

/// One client's session: made when it sends `initialize`. It does no I/O and knows no ids; every raw text that it is
/// given has been read by envelope_reader, and is not kept beyond the call. What it gives out is one JSON value each,
/// in which arguments, contents and data have the bytes in which they came.
///
/// The server is never told that the client can be asked (sampling, elicitation, roots) or knows tasks, and the client
/// never that the server has tasks: that is not translated. A server that does it all the same has its answer refused.
class legacy_to_modern {
public:
    /// `server_speaks` is what the server was asked server/discover in.
    [[nodiscard]] static std::variant<legacy_to_modern, refusal> begin(std::string_view raw_initialize_params,
                                                                       std::string_view raw_discover_result,
                                                                       revision server_speaks = newest_modern);

    /// What the client was told that is spoken.
    [[nodiscard]] revision client_speaks() const noexcept { return client_->which; }
    /// The answer to `initialize`.
    [[nodiscard]] const std::string& initialize_result() const noexcept { return raw_initialize_result_; }

    /// A request of the client other than `initialize`. `raw_progress_token` is what the server is to give with its
    /// progress, empty where the client asked for none; the client's own token goes no further.
    using step = std::variant<forward, answer, refusal, listen_step>;
    [[nodiscard]] step request(std::string_view method, std::string_view raw_params,
                               std::string_view raw_progress_token);
    /// The server's answer to what was forwarded.
    [[nodiscard]] gateway::reply result(std::string_view method, std::string_view raw_result) const;
    /// An error object, for an error object.
    [[nodiscard]] std::string error(std::string_view method, std::string_view raw_error) const;

    /// Nothing: it goes no further. Cancels are the relay's.
    [[nodiscard]] std::optional<notification> from_client(std::string_view method, std::string_view raw_params) const;
    /// The same for what the server says, on a subscription too. Its cancels and acknowledgements are the relay's,
    /// which gives them to subscription().
    [[nodiscard]] std::optional<notification> from_server(std::string_view method, std::string_view raw_params) const;

    /// begin() when the client has sent notifications/initialized; then as the server answers.
    [[nodiscard]] merged_subscription& subscription() noexcept { return subscription_; }

private:
    legacy_to_modern(std::string_view raw_initialize_params, revision server_speaks);

    void discovered(std::string_view raw_result);
    [[nodiscard]] forward forwarded(std::string_view method, std::string_view raw_params,
                                    std::string_view raw_progress_token) const;
    [[nodiscard]] step set_level(std::string_view raw_params);
    [[nodiscard]] refusal asks_for_input(std::string_view raw_requests) const;
    [[nodiscard]] refusal made_a_task(std::string_view raw_task_id) const;

    const revision_policy* client_;
    revision server_speaks_;
    std::string raw_meta_;             // of every request, without what differs; the members, without braces
    std::string raw_meta_with_tasks_;  // the same for a request about a task
    std::string raw_initialize_result_;
    bool logs_ = false;                              // the server does
    message_level log_level_ = message_level::info;  // as ours have it until somebody asks for another
    merged_subscription subscription_;
};

}  // namespace andon::gateway
