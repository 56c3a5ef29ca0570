// The answer to one POST, or a GET's stream: messages until the last one, and whoever listens to them now.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/session.hpp"
#include "andon/transport/transport.hpp"
#include "transport/event_loop.hpp"
#include "transport/http/http_connection.hpp"

namespace andon::detail {

class message_stream;

/// What all streams together keep for clients that were cut off. When it is too much, the stream that keeps something
/// for the longest time forgets it: one whose client was sent all of that, as long as there is any. On the loop.
class kept_budget {
public:
    explicit kept_budget(std::size_t most = std::numeric_limits<std::size_t>::max()) noexcept : most_(most) {}
    void add(message_stream& by, std::size_t bytes);
    void remove(message_stream& by, std::size_t bytes) noexcept;
    /// Whether it keeps what no client was sent.
    void owes(message_stream& by, bool owes) noexcept;
    [[nodiscard]] std::size_t used() const noexcept { return used_; }

private:
    std::size_t most_;
    std::size_t used_ = 0;
    [[nodiscard]] std::list<message_stream*>& those_like(const message_stream& by) noexcept;

    std::list<message_stream*> sent_;  // the oldest first, in both
    std::list<message_stream*> owed_;
};

/// What a stream of messages is allowed, and how it ends.
struct message_stream_settings {
    std::vector<std::string> raw_ids{};  // of the requests that it answers
    bool batch = false;                  // they came in one, and so do the answers
    std::string event_prefix{};          // of event ids; empty: the stream cannot be resumed, and nothing is kept
    std::string headers{};               // more of them, for the answer
    bool of_session = false;             // it is a session's own: it goes on from one GET to the next
    bool modern = false;       // the client's leaving is its cancel, and after a cancel there is not one more byte
    bool wants_events = true;  // the client takes an answer in events
    bool wants_json = true;    // and a plain one
    bool primed = false;       // the first event is an id alone, so that the client can come back (2025-11-25)
    std::chrono::milliseconds retry{1'000};             // when a client that was cut off should come back
    std::size_t keep_bytes = std::size_t{256} << 10U;   // for one that was; again as much of what it was not sent
    std::shared_ptr<kept_budget> kept_by_all{};         // null: nobody counts
    std::size_t queue_bytes = std::size_t{256} << 10U;  // on their way to the loop: above it progress is lost
};

/// Filled from any thread, emptied on the loop's. Whether the answer is plain JSON or events is decided when the first
/// message is due:
///
///     undecided ──answer──► over, plain JSON
///         │ └──no_answer──► over: 202, or the error -32800 where a body is waited for (HTTP-3)
///         └──a message, or a while of silence──► events ──answer, no_answer──► over
///
/// Beside that there is somebody listening or not. Under the modern revisions the listener's leaving is the end, and
/// the request is cancelled with the connection's scope. Under the legacy ones it changes nothing: what comes is kept,
/// up to a bound, for a client that comes back with the id of the last event that it saw. One that does not read is
/// made to leave, which is no different. Whoever fills the stream is held up before anything is forgotten that no
/// client was sent, whether one listens and does not read, or none listens:
///
///     listening ──more than the mark waits in the connection──► crowded ──it was read──► listening
///         └──────────────────────────┬──────────────────────────────┘
///                                 it is gone
///                                    ▼
///     away ──more than half of what may be kept was sent to nobody──► crowded ──it comes back──► listening
///                                                                        └──cancelled, for want of a client──► over
///
/// A session's own stream is never crowded while nobody listens, for nobody has to; nor is one that a client came back
/// to in vain, too late for what was forgotten.
class message_stream final : public reply_path,
                             public http_connection::answering,
                             public std::enable_shared_from_this<message_stream> {
public:
    /// Deleted on the loop's thread, whoever lets go of it last.
    [[nodiscard]] static std::shared_ptr<message_stream> make(event_loop& loop, message_stream_settings settings);
    ~message_stream() override;

    // From any thread, the first on the loop's.

    void request_began(const cancel_token& request) override;
    bool send(std::string_view line, const cancel_token* owner) override;
    void answer(std::string_view line, int code) override;
    void refuse(std::string_view line, int code) override;
    void no_answer() override;
    void let_go_of_connection() override;

    // On the loop.

    void attach(http_connection& listener);
    /// The client comes back: what it has not seen is sent again. False: some of that is gone.
    [[nodiscard]] bool resume(http_connection& listener, std::uint64_t last_seen);
    /// A GET's: what nobody was there to hear comes first.
    void listen(http_connection& listener);
    /// Cuts the listener off, who may come back.
    void disconnect_listener();
    [[nodiscard]] bool listened_to() const noexcept { return listener_ != nullptr; }
    [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
    [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

    /// When the client was gone for so long, the requests that are answered here are cancelled. Set before attach().
    void cancel_when_abandoned(duration after) { abandoned_after_ = after; }
    /// Once, when the last message was given away.
    void when_over(std::function<void()> work) { when_over_ = std::move(work); }
    /// Told on the loop when more is sent here than is read, and when that is over.
    void when_crowded(std::function<void(bool)> told) { when_crowded_ = std::move(told); }
    /// A scope of ids that lives as long as the stream.
    void keep(session scope) { scope_.emplace(std::move(scope)); }
    [[nodiscard]] const session* scope() const noexcept { return scope_ ? &*scope_ : nullptr; }

private:
    friend class kept_budget;
    enum class phase : std::uint8_t { undecided, events, over };
    enum class what : std::uint8_t { message, answer, nothing };
    struct item {
        what kind;
        std::string line;
        cancel_token owner;
        bool has_owner;
        int code;
    };
    struct kept_event {
        std::uint64_t number;
        std::string line;
        cancel_token owner;
        bool has_owner;
    };

    message_stream(event_loop& loop, message_stream_settings settings);
    /// Under the mutex. False: there is too much on its way already.
    bool queue(item next);
    void empty_queue();
    bool deliver(std::string_view line, const cancel_token* owner);
    void deliver_answer(std::string_view line, int code);
    void deliver_nothing();
    [[nodiscard]] std::string cancelled_answer() const;
    bool become_events();
    void finish();
    void listener_left();
    void wait_for_return();
    void look_for_absence();
    void replay(http_connection& listener, std::uint64_t last_seen);
    void keep_event(std::string_view line, const cancel_token* owner);
    void forget_oldest();
    void forget_kept();
    [[nodiscard]] std::string event_id(std::uint64_t number) const;
    [[nodiscard]] int status_of(int code) const noexcept;
    void on_quiet() override;
    void on_crowded(bool crowded) override;
    void on_disconnected() override;

    event_loop* loop_;
    message_stream_settings settings_;
    http_connection* listener_ = nullptr;
    phase phase_ = phase::undecided;
    std::uint64_t last_number_ = 0;
    std::uint64_t handed_out_ = 0;  // the last that somebody listened to
    std::deque<kept_event> kept_;
    std::size_t kept_bytes_ = 0;
    std::size_t unsent_ = 0;                          // bytes of these that no kernel was given, while nobody listens
    bool came_in_vain_ = false;                       // somebody, since the last one listened
    std::list<message_stream*>::iterator in_budget_;  // while anything is kept
    bool owes_ = false;
    std::function<void()> when_over_;
    std::function<void(bool)> when_crowded_;
    bool crowded_ = false;
    std::optional<duration> abandoned_after_;
    std::vector<cancel_token> requests_;  // that are answered here, where the client's absence may cancel them
    std::unique_ptr<event_loop::timer> abandoned_;
    std::optional<session> scope_;

    std::mutex mutex_;
    std::vector<item> queue_;       // under the mutex
    std::size_t queued_bytes_ = 0;  // likewise, of messages
    bool told_ = false;             // under the mutex: the loop was told of it
    bool closed_to_send_ = false;   // under the mutex
};

}  // namespace andon::detail
