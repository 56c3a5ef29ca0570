// The table of everything in flight, by session, direction and id.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/active_request.hpp"
#include "andon/core/deadlines.hpp"
#include "andon/core/outcomes.hpp"
#include "andon/core/request_key.hpp"
#include "andon/core/session.hpp"

namespace andon {

struct in_flight_limits {
    std::size_t max_per_session = 131'072;  ///< requests at once, both directions together
    std::size_t longest_id = 1'024;         ///< bytes of a string id; at most 65,535
    std::size_t outcomes_kept = 1'024;      ///< the newest; older ones are forgotten
};

/// Why a request was not let in. Each is an invalid request on the wire; the text tells the peer what to do.
enum class begin_refusal : std::uint8_t {
    none,
    duplicate_id,    ///< the same id is in flight in this session and direction (RCV-10)
    id_too_long,     ///<
    too_many,        ///< the session has its maximum in flight
    session_closed,  ///<
};

[[nodiscard]] std::string_view to_string(begin_refusal refusal) noexcept;

struct [[nodiscard]] begin_result {
    active_request request;
    begin_refusal refusal = begin_refusal::none;

    explicit operator bool() const noexcept { return refusal == begin_refusal::none; }
};

struct begin_options {
    /// For people: the method or the tool. Kept up to 127 bytes.
    std::string_view label{};
    /// Counted from the `now` of begin(): there are none where that is unknown_time.
    time_limits limits{};
    /// False: a cancel by the peer is ignored (DIR-4); a deadline, a closed session or an operator still stop it.
    bool peer_may_cancel = true;
};

/// A request as `andon ps` and the board show it.
struct request_info {
    session_id session{};
    direction way = direction::incoming;
    request_id id = 0;
    std::string label;
    request_state state = request_state::running;
    cancel_cause cause = cancel_cause::peer;  ///< with state cancelled
    reason why;
    bool held = false;  ///< accepted, but inside an uninterrupted section: the handler is not told yet (RCV-13)
    time_point started{};
    std::optional<time_point> asked;
    std::optional<time_point> noticed;
};

/// Every call is safe from any thread. Nothing here gets slower with what is in flight: the table is sharded, grows and
/// shrinks a few buckets at a time, and look-ups (is_cancelled(), cancel() of an unknown id) take no lock and leave
/// nothing behind. See docs/design.md.
class in_flight {
public:
    explicit in_flight(const in_flight_limits& limits = {});
    in_flight(const in_flight&) = delete;
    in_flight& operator=(const in_flight&) = delete;
    /// Every session and active_request is gone by now; tokens may stay.
    ~in_flight();

    [[nodiscard]] session open_session();

    /// Lets a request in. Call it in the order of arrival, before anything else sees the request.
    [[nodiscard]] begin_result begin(const session& in, direction way, request_id_view id, time_point now,
                                     const begin_options& options = {});

    /// Lets a request in that is part of another: it belongs to the same session, and the other's cancel or end reaches
    /// it with the cause "parent" (RCV-12). Below one that was cancelled it begins cancelled: then do not send it.
    [[nodiscard]] begin_result begin(const active_request& parent, direction way, request_id_view id, time_point now,
                                     const begin_options& options = {});

    /// Cancels by name, as a peer does. An unknown id costs a look-up and nothing else (RCV-5).
    cancel_result cancel(const request_key& key, cancel_cause cause, std::string_view why, time_point now) noexcept;

    /// For code that has only the two (REG-1): whether that incoming request was cancelled and has not ended.
    [[nodiscard]] bool is_cancelled(session_id session, request_id_view id) const noexcept {
        return is_cancelled({session, direction::incoming, id});
    }
    [[nodiscard]] bool is_cancelled(const request_key& key) const noexcept;

    /// Cancels all that is in flight in one session now, and leaves it open. False: there is no such session.
    bool cancel_session(session_id session, cancel_cause cause, std::string_view why, time_point now) noexcept;

    /// When to call expire() next; empty while nothing has a deadline. It can move nearer with every begin().
    [[nodiscard]] std::optional<time_point> next_wake() const noexcept;
    /// Cancels what has passed its deadline, with the cause "timeout". Says how many it was.
    std::size_t expire(time_point now) noexcept;

    /// All that was in flight during the whole call, each once; of what came or went meanwhile, some. Stops nobody:
    /// no lock is held for more than a few entries.
    [[nodiscard]] std::vector<request_info> list() const;
    [[nodiscard]] std::size_t size() const noexcept;

    /// The newest first.
    [[nodiscard]] std::vector<outcome> recent_outcomes() const;
    [[nodiscard]] cancel_counters counters() const noexcept;

private:
    std::unique_ptr<detail::request_table> table_;
};

}  // namespace andon
