// A modern client (2026-07-28) in front of a legacy server (2024-11-05 to 2025-11-25). docs/translation.md has the
// table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "andon/server/call.hpp"
#include "andon/wire/revision.hpp"
#include "gateway/translation/split_subscriptions.hpp"
#include "gateway/translation/step.hpp"

namespace andon::gateway {

/// One session with the server: made when that has answered `initialize`. Modern requests have no session; those that
/// the relay sends to this server come here. As legacy_to_modern it does no I/O and knows no ids, and takes what
/// envelope_reader let through; that a modern request has the `_meta` that it must have was checked by whoever read it.
///
/// A legacy server does not say to which request a log message belongs. Let one session serve one client only, or what
/// one client does is written in the log of another.
class modern_to_legacy {
public:
    /// The params of `initialize`, from the `_meta` of a client's request; what is missing there is ours.
    [[nodiscard]] static std::variant<std::string, refusal> initialize_params(std::string_view raw_meta,
                                                                              revision asked = newest_legacy);

    [[nodiscard]] static std::variant<modern_to_legacy, refusal> begin(std::string_view raw_initialize_result);

    /// The answer to server/discover. `served` is what clients can speak to the relay.
    [[nodiscard]] std::string discover_result(std::span<const revision> served = all_revisions) const;

    /// A request to the server, and what goes with it.
    struct forwarded {
        forward what;
        /// logging/setLevel, to be sent before it. Nobody waits for its answer.
        std::optional<forward> first{};
        /// From which level on the client wants log messages while this request is in flight; none: it wants none.
        std::optional<message_level> log_level{};
    };
    /// subscriptions/listen: the relay gives it a number and calls subscriptions().listen().
    struct listen {};
    /// server/discover: to be answered with discover_result().
    struct discover {};
    using step = std::variant<forwarded, refusal, discover, listen>;
    /// `raw_progress_token` is what the server is to give with its progress, empty where the client asked for none; the
    /// client's own token goes no further.
    [[nodiscard]] step request(std::string_view method, std::string_view raw_params,
                               std::string_view raw_progress_token);
    /// The server's answer to what was forwarded.
    [[nodiscard]] gateway::reply result(std::string_view method, std::string_view raw_result) const;
    /// An error object, for an error object.
    [[nodiscard]] std::string error(std::string_view method, std::string_view raw_error) const;

    /// The answer to a subscriptions/listen that the relay ends.
    [[nodiscard]] std::string listen_result(std::string_view raw_id) const;

    /// A request of the server to the client: only `ping` has an answer.
    [[nodiscard]] static gateway::reply server_request(std::string_view method);

    /// Nothing: it goes no further. Cancels are the relay's.
    [[nodiscard]] std::optional<notification> from_client(std::string_view method, std::string_view raw_params) const;

    /// A log message, for those requests in flight whose log_level is not above its own.
    struct log_message {
        message_level level;
        notification what;
    };
    /// To whom a notification of the server goes: to nobody; to whom its progress token belongs, or where it has none
    /// to any stream of the client; to requests; to subscriptions.
    using news = std::variant<std::monostate, notification, log_message, std::vector<told>>;
    [[nodiscard]] news from_server(std::string_view method, std::string_view raw_params) const;

    [[nodiscard]] split_subscriptions& subscriptions() noexcept { return subscriptions_; }
    /// The server is another process now, and was initialized again: it knows of no log level. After that comes
    /// subscriptions().begin_again().
    void server_restarted() noexcept { level_of_server_.reset(); }

private:
    explicit modern_to_legacy(std::string_view raw_initialize_result);

    const revision_policy* server_;
    std::string raw_capabilities_;  // without tasks
    std::string raw_server_info_;
    std::string raw_instructions_;  // empty: none
    bool logs_;
    bool tasks_;
    std::optional<message_level> level_of_server_;  // the lowest that any client asked for
    split_subscriptions subscriptions_;
};

}  // namespace andon::gateway
