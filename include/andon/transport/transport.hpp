// Lines to and from one peer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andon/core/cancel_token.hpp"
#include "andon/transport/log.hpp"
#include "andon/wire/line_skimmer.hpp"

namespace andon {

namespace detail {
class event_loop;
}

struct transport_limits {
    std::size_t longest_line = std::size_t{16} << 20U;  ///< of what comes in
    std::size_t waiting_soft = std::size_t{1}
                               << 20U;  ///< of what goes out: above it, progress and log messages are lost
    std::size_t waiting_high = std::size_t{4} << 20U;   ///< above it, the owner is told that there is a crowd
    std::size_t waiting_hard = std::size_t{64} << 20U;  ///< above it, the peer is taken for gone
    bool lone_surrogates = false;                       ///< over HTTP, as envelope_limits has it
    /// At the end: how long what is waiting to be sent may hold up the leaving.
    std::chrono::milliseconds linger{300};
};

/// Where what belongs to one request goes: its progress, its questions, its answer. On a stream of lines that is the
/// stream; over HTTP it is the response to the request's own POST. Every call from any thread.
class reply_path {
public:
    reply_path() = default;
    reply_path(const reply_path&) = delete;
    reply_path& operator=(const reply_path&) = delete;
    virtual ~reply_path() = default;

    /// A request that is answered here was let in. Before any other call for it.
    virtual void request_began(const cancel_token& /*request*/) {}
    /// As transport::send().
    virtual bool send(std::string_view line, const cancel_token* owner) = 0;
    /// The last: `code` is that of an error, 0 where it is none.
    virtual void answer(std::string_view line, int code) = 0;
    /// An answer of the protocol itself: the request reached no handler.
    virtual void refuse(std::string_view line, int code) { answer(line, code); }
    /// No answer comes: the request was cancelled, or what was sent has none.
    virtual void no_answer() = 0;
    /// Over HTTP, where the client can come back for the rest: its connection ends now.
    virtual void let_go_of_connection() {}
};

/// One peer, message by message. Reading never waits for a handler, and writing never holds reading up.
class transport {
public:
    /// Called on the loop's thread.
    class events {
    public:
        events() = default;
        events(const events&) = delete;
        events& operator=(const events&) = delete;
        /// Readable for line_splitter::padding bytes behind its end, and only during the call.
        virtual void on_line(std::string_view line) = 0;
        /// It was not kept; what was seen of it.
        virtual void on_line_too_long(const skimmed_line& line) = 0;
        /// No line comes any more. Once.
        virtual void on_closed(std::string_view why) = 0;
        /// The same, because the peer does not read what it is sent.
        virtual void on_given_up(std::string_view why) { on_closed(why); }
        /// More is waiting to be sent than the high-water mark; or, after that, no more than a quarter of it. May come
        /// from inside send(), on the loop's thread.
        virtual void on_crowded(bool crowded) { static_cast<void>(crowded); }
        /// No answer to this request of ours comes any more, while the others live on: over HTTP each has a stream of
        /// its own.
        virtual void on_request_lost(std::int64_t id, std::string_view why) {
            static_cast<void>(id);
            static_cast<void>(why);
        }
        /// Something for the log; safe to show.
        virtual void on_remark(log_level level, std::string_view text) {
            static_cast<void>(level);
            static_cast<void>(text);
        }

    protected:
        ~events() = default;
    };

    transport() = default;
    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;
    virtual ~transport() = default;

    virtual void open(detail::event_loop& loop, events& to) = 0;
    /// From any thread. With an owner, the line is dropped when the owner is cancelled before it left. False: the line
    /// was not taken, because too much is waiting or nobody is there.
    virtual bool send(std::string_view line, const cancel_token* owner) = 0;
    /// On the loop's thread: nobody waits for the answer to this request of ours any more. `line` is the notification
    /// that says so; empty where the peer is not to be told. What tells it is the transport's business (SND-3 to
    /// SND-5).
    virtual void cancel_request(std::int64_t id, std::string_view line) {
        static_cast<void>(id);
        if (!line.empty()) send(line, nullptr);
    }
    /// On the loop's thread: while it is held no line is handed out, and the peer has to wait with what it writes once
    /// the pipe is full. Writing goes on. One that is gone is noticed all the same, and what it had written is handed
    /// out before that is told.
    virtual void hold(bool wanted) { static_cast<void>(wanted); }
    /// On the loop's thread: a request was cancelled, and what waits to be sent for it makes no crowd any more.
    virtual void drop_cancelled() {}
    /// On the loop's thread, before close(): takes leave without holding up the loop, which others need. `done`, once,
    /// when close() will not wait for anything any more.
    virtual void leave(const std::function<void()>& done) { done(); }
    /// On the loop's thread: writes what is waiting, as far as the peer takes it at once, and says nothing more.
    virtual void close() = 0;
};

/// Standard input and output of this process.
[[nodiscard]] std::unique_ptr<transport> stdio_transport(const transport_limits& limits = {});
/// Descriptors that the transport then owns; they may be the same.
[[nodiscard]] std::unique_ptr<transport> descriptor_transport(int in, int out, const transport_limits& limits = {});
/// Two ends inside one process, for tests and for a client and a server in one program.
[[nodiscard]] std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> transport_pair(
    const transport_limits& limits = {});

}  // namespace andon
