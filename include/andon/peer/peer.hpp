// The protocol without I/O: one side of one session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "andon/core/in_flight.hpp"
#include "andon/wire/envelope.hpp"
#include "andon/wire/line_skimmer.hpp"
#include "andon/wire/message.hpp"
#include "andon/wire/revision.hpp"

namespace andon {

enum class peer_role : std::uint8_t { server, client };

/// Who we are, and what we can.
struct peer_settings {
    peer_role role = peer_role::server;
    json::object implementation{};  ///< `name` and `version`, for the other side
    json::object capabilities{};    ///<
    json::object task_requests{};   ///< `capabilities.tasks` of 2025-11-25; empty: there are none
    bool tasks_extension = false;   ///< `io.modelcontextprotocol/tasks` of 2026-07-28
    std::string instructions{};     ///< a server's
    bool stateless = false;         ///< a server whose requests come from many clients: initialize changes nothing
    /// Somebody else's words are passed on: nothing is answered here that the other end can answer, the handshake
    /// included, and what it agreed on is told by adopt().
    bool relays = false;
    /// What we speak. A client tries the modern ones first, then the newest legacy one.
    std::vector<revision> revisions{all_revisions.begin(), all_revisions.end()};
    /// How long a client waits for the answer to its probe before it takes the server for a legacy one.
    duration probe_timeout = std::chrono::seconds(2);
    /// How long it waits for the answer to initialize.
    duration handshake_timeout = std::chrono::seconds(30);
    envelope_limits limits{};
    /// What applies to a request from its first moment: time limits, whether the peer may cancel it.
    std::function<begin_options(const envelope&)> options_for{};
};

/// The answers to one batch: sent as one array when the last is there; what was cancelled is left out. Any thread.
class batch_answers {
public:
    explicit batch_answers(std::size_t expected) : expected_(expected) {}
    /// Empty: that one has no answer. Gives the whole line once the last came; empty where there is nothing to say.
    [[nodiscard]] std::optional<std::string> add(std::string_view answer);

private:
    std::mutex mutex_;
    std::size_t expected_;
    std::string body_;
};

/// What is known of a message that did not come on the session's own stream, but by a POST.
struct message_scope {
    const session* in = nullptr;       ///< whose ids it uses; null: the peer's own session's
    std::optional<revision> speaks{};  ///< of a legacy request that belongs to no session: its header says
    bool in_batch = false;
};

/// What to do next.
enum class next_step : std::uint8_t {
    nothing,              ///< `note` says what was ignored, where it is worth a line in the log
    send,                 ///< `bytes` go to the peer
    handle_request,       ///< `request` is in flight: answer it, once, unless it is cancelled
    handle_notification,  ///< `message` has it
    settle,               ///< `message` answers the request of ours that `context` belongs to
    progress,             ///< `message` tells of the request of ours that `context` belongs to
    ended_by_peer,        ///< `message` ends the subscription of ours that `context` belongs to (SUB-2)
    established,          ///< the session can be used; `bytes`, if any, go to the peer first
    failed,               ///< it never will be: `note` says why
};

/// Good until the peer is asked again.
struct peer_step {
    next_step what = next_step::nothing;
    std::string bytes{};
    std::string note{};
    int code = 0;              ///< with send: that of the error, if it is one
    bool unclaimed = false;    ///< `message` is an answer, or progress, to what is not waited for any more
    bool malformed = false;    ///< the note is of something that no peer should send (RCV-6)
    bool lost_answer = false;  ///< it was an answer to us, to this request if that could be read
    std::optional<std::int64_t> answered{};
    const envelope* message = nullptr;
    active_request request{};
    revision speaks = newest_legacy;  ///< with handle_request: by which revision it is to be answered
    void* context = nullptr;
    std::shared_ptr<batch_answers> batch{};  ///< with handle_request and send: the answer goes in here
};

/// A state machine that is fed with lines, with our own commands and with the time. It knows no socket and no thread:
/// one caller at a time. What it hands out (requests in flight) may be used from any thread.
///
/// Server:  unknown ──initialize──► legacy. A request with modern `_meta` is served as such in any state.
/// Client:  idle ──open()──► probing ──a modern answer──► modern
///                              └──any other, or silence──► initializing ──► legacy; or modern, by a late answer
class peer {
public:
    peer(peer_settings settings, in_flight& table, const session& in);

    // What comes in.

    [[nodiscard]] peer_step receive(std::string_view line, time_point now);
    /// One that was read already.
    [[nodiscard]] peer_step receive(const envelope& message, const message_scope& scope, time_point now);
    /// A line that holds several messages (2025-03-26): each is a step of its own. Where it cannot be read as a whole,
    /// `refused` says why. A client that asks for `lost` gets what can be told apart all the same, and there the ids of
    /// the answers that cannot.
    [[nodiscard]] std::vector<std::string_view> split(std::string_view line, peer_step& refused,
                                                      std::vector<std::int64_t>* lost = nullptr);
    [[nodiscard]] peer_step receive_of_batch(std::string_view message, std::shared_ptr<batch_answers> batch,
                                             message_scope scope, time_point now);
    /// A step for each message that was seen in it, and for what was not seen.
    [[nodiscard]] std::vector<peer_step> line_too_long(const skimmed_line& line);

    // A client's beginning.

    [[nodiscard]] peer_step open(time_point now);
    /// When to call expire(), while the session is not established.
    [[nodiscard]] std::optional<time_point> next_wake() const noexcept { return wake_; }
    [[nodiscard]] peer_step expire(time_point now);
    /// No answer to this request comes any more. Of what belongs to the handshake: it goes on, or has failed.
    [[nodiscard]] peer_step lost(std::int64_t id, std::string_view why, time_point now);

    // With peer_settings::relays, in place of a handshake of our own: what was agreed on.

    void adopt(revision agreed) noexcept;

    // Requests of ours. Ids are ours to choose; the first ones belong to the handshake.

    static constexpr std::int64_t first_id = 16;

    struct outgoing {
        std::string_view method;
        json::object params{};
        bool progress = false;                        ///< ask for it
        std::optional<std::string_view> log_level{};  ///< for this request, where the revision has that
        void* context = nullptr;                      ///< comes back with what is heard of it
        /// Params as they are to be sent, in place of all of these but the context.
        std::optional<std::string_view> raw_params{};
    };
    /// The bytes to send.
    [[nodiscard]] std::string start(std::int64_t id, outgoing request);
    /// It is no longer waited for. The bytes that tell the peer, empty where it must not be told: it was never sent,
    /// or it was answered (DIR-3).
    [[nodiscard]] std::string cancel(std::int64_t id, std::string_view reason);
    /// It was answered, or there is nobody to answer.
    void forget(std::int64_t id) { outgoing_.erase(id); }

    // What is known of the other side.

    [[nodiscard]] bool established() const noexcept { return state_ == state::legacy || state_ == state::modern; }
    /// Its handshake.
    [[nodiscard]] bool failed() const noexcept { return state_ == state::failed; }
    /// Agreed for the session: meaningful once it is established; a server takes it from each request.
    [[nodiscard]] revision speaks() const noexcept { return speaks_; }
    [[nodiscard]] const revision_policy& policy() const noexcept { return policy_of(speaks_); }
    /// Under legacy the other side's; of a modern client only per request.
    [[nodiscard]] const json::object& their_capabilities() const noexcept { return their_capabilities_; }
    [[nodiscard]] const json::object& their_implementation() const noexcept { return their_implementation_; }
    [[nodiscard]] const std::string& their_instructions() const noexcept { return their_instructions_; }
    [[nodiscard]] const peer_settings& settings() const noexcept { return settings_; }
    /// For `_meta` of every modern result.
    [[nodiscard]] const std::string& raw_server_meta() const noexcept { return raw_server_meta_; }

private:
    enum class state : std::uint8_t { unknown, probing, initializing, legacy, modern, failed };

    [[nodiscard]] peer_step read(std::string_view line, const message_scope& scope, time_point now);
    [[nodiscard]] peer_step fault(const envelope_fault& found) const;
    [[nodiscard]] peer_step no_batches() const;
    [[nodiscard]] peer_step too_long(const skimmed_message& seen, std::size_t longest);
    [[nodiscard]] bool can_echo(std::string_view raw_id);
    [[nodiscard]] bool takes_batches() const noexcept { return state_ == state::legacy && policy().batches; }
    [[nodiscard]] bool takes_requests() const noexcept;
    [[nodiscard]] peer_step on_request(const envelope& message, const message_scope& scope, time_point now);
    [[nodiscard]] peer_step pass_on(const envelope& message, const message_scope& scope, time_point now);
    [[nodiscard]] peer_step on_notification(const envelope& message, const message_scope& scope, time_point now);
    [[nodiscard]] peer_step on_cancelled(const envelope& message, const message_scope& scope, time_point now);
    [[nodiscard]] peer_step on_answer(const envelope& message, time_point now);
    [[nodiscard]] peer_step on_handshake(const envelope& message, time_point now);
    [[nodiscard]] peer_step on_discovered(const envelope& message, time_point now);
    [[nodiscard]] peer_step on_initialize(const envelope& message);
    [[nodiscard]] peer_step on_discover(const envelope& message) const;
    [[nodiscard]] peer_step let_in(const envelope& message, const message_scope& scope, revision speaks,
                                   time_point now);
    [[nodiscard]] peer_step refuse(const envelope& message, int code, std::string_view why,
                                   const json::value& data = nullptr) const;
    [[nodiscard]] peer_step initialize(time_point now);
    [[nodiscard]] peer_step fail(std::string why);
    [[nodiscard]] peer_step refuse_version(const envelope& message, std::string_view named) const;
    [[nodiscard]] std::optional<revision> of_request(const envelope& message, const message_scope& scope,
                                                     peer_step& refused) const;
    [[nodiscard]] const session& scope_of(const message_scope& scope) const noexcept {
        return scope.in != nullptr ? *scope.in : *session_;
    }
    [[nodiscard]] json::object capabilities_in(revision speaks) const;
    [[nodiscard]] json::object meta(revision speaks) const;
    [[nodiscard]] json::array supported() const;
    [[nodiscard]] bool supports(revision which) const noexcept;
    [[nodiscard]] std::optional<revision> newest(era of) const noexcept;
    [[nodiscard]] std::optional<revision> common(const json::value* names, era of) const noexcept;

    peer_settings settings_;
    in_flight* table_;
    const session* session_;
    envelope_reader reader_;
    state state_ = state::unknown;
    revision speaks_ = newest_legacy;
    std::optional<time_point> wake_;
    bool asked_again_ = false;  // a modern server, in the same revision
    json::object their_capabilities_;
    json::object their_implementation_;
    std::string their_instructions_;
    std::string raw_server_meta_;
    struct waited_for {
        void* context;
        bool subscription;  // which the server may end
    };
    std::unordered_map<std::int64_t, waited_for> outgoing_;
    std::string id_storage_;
};

}  // namespace andon
