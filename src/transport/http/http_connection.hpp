// One connection of an HTTP client: requests in, answers out, and word of it when the client is gone.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/session.hpp"
#include "andon/core/time.hpp"
#include "transport/event_loop.hpp"
#include "transport/http/byte_stream.hpp"
#include "transport/http/request_reader.hpp"
#include "transport/outbox.hpp"

namespace andon::detail {

struct http_connection_limits {
    http_request_limits request{};
    std::size_t pipelined = std::size_t{64} << 10U;  // bytes that may come ahead, while a request is being answered
    outbox_limits waiting{.soft = std::size_t{256} << 10U, .hard = std::size_t{4} << 20U};
    duration receive_within = std::chrono::seconds(30);  // from the first byte of a request to its last
    duration idle = std::chrono::minutes(2);             // between two requests
    duration stalled = std::chrono::seconds(30);         // while the client reads nothing of what waits for it
    duration quiet = std::chrono::seconds(15);           // without a byte to the client that waits for an answer
};

/// Everything on the loop's thread. A request is read whole and handed to the owner; from then on until its answer is
/// complete the connection is the request's:
///
///     reading ──a whole request──► answering ──respond(), end_events()──► reading, or closed
///        └──────── the client is gone, too slow, or breaks the rules ─────────┴──► closed
///
/// It reads on while a request is being answered, because that is how it hears that the client has left: the end of
/// input is that, also where only the client's sending half was closed; bytes are not, they belong to the next request.
class http_connection final : public std::enable_shared_from_this<http_connection> {
public:
    /// Who answers the request that was read.
    class answering {
    public:
        answering() = default;
        answering(const answering&) = delete;
        answering& operator=(const answering&) = delete;
        /// Nothing was sent for a while: a proxy may take the connection for dead, and so may we.
        virtual void on_quiet() = 0;
        /// The client reads more slowly than it is sent events, or does not any more.
        virtual void on_crowded(bool crowded) { static_cast<void>(crowded); }
        /// The client is gone before the answer was complete. Once, and the connection is not to be used any more.
        virtual void on_disconnected() = 0;

    protected:
        ~answering() = default;
    };

    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;
        virtual void on_request(http_connection& from, http_request request) = 0;
        /// Its last answer is on its way, to the last byte. It may be that this is never heard.
        virtual void on_last_written(http_connection& /*from*/) {}
        /// The last that is heard of it.
        virtual void on_closed(http_connection& from) = 0;

    protected:
        ~owner() = default;
    };

    http_connection(event_loop& loop, byte_stream stream, bool tls, std::string address,
                    const http_connection_limits& limits, owner& told);
    ~http_connection();

    void open();
    /// At once, with whatever is in progress.
    void close(std::string_view why);

    // For whoever answers.

    void answered_by(std::shared_ptr<answering> who) {
        answering_ = std::move(who);
        crowded_ = false;
    }
    /// Told, in words for the log, when the client does not read what this request brought it, and is cut off.
    void when_cut_off(std::function<void(std::string_view)> told) { when_cut_off_ = std::move(told); }
    /// A whole answer. `extra`: lines of headers, each with its end.
    void respond(int status, std::string_view content_type, std::string_view body, std::string_view extra = {});
    /// The beginning of an answer in events.
    void begin_events(std::string_view extra = {});
    /// As outbox::put(): `of` is asked again before the bytes leave. False: it was dropped, or the client is gone.
    bool event(std::string_view framed, const cancel_token* of, outbox::loss may_be = outbox::loss::allowed);
    void end_events();
    [[nodiscard]] bool open_now() const noexcept { return !closed_; }
    /// Bytes that the kernel has not taken.
    [[nodiscard]] std::size_t unwritten() const noexcept { return outbox_.waiting(); }
    /// No request is being answered, and nothing waits to be written.
    [[nodiscard]] bool at_rest() const noexcept { return !busy_ && outbox_.waiting() == 0; }
    /// After the present answer, be it given already, the connection ends.
    void last_answer();

    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    /// The scope of ids that come on this connection and belong to no other session. Made when it is first asked for.
    [[nodiscard]] const session& scope(in_flight& table);
    void close_scope(cancel_cause cause, std::string_view why);

private:
    /// As soon as whoever is answering is done with what it is in the middle of.
    void close_soon(std::string_view why);
    void tell_of_cut(std::string_view how);
    void look_for_timeout();
    void fail();
    void overflow();
    void read_later();
    void on_readable();
    void take(std::string_view bytes);
    void advance(std::string_view bytes);
    void fault(int status, std::string_view why);
    void put(std::string_view bytes);
    void complete();
    void go_on_later();
    void flush();
    void write_later();
    void look_for_crowd();
    void forget_answering();
    void drain();
    void arm();
    void on_time();
    [[nodiscard]] time_point due() const noexcept;
    /// The client has to read what it asked for before it is given more.
    [[nodiscard]] bool choked() const noexcept { return blocked_ && outbox_.waiting() > limits_->waiting.hard; }

    event_loop* loop_;
    byte_stream stream_;
    std::string address_;
    const http_connection_limits* limits_;
    owner* owner_;
    std::unique_ptr<event_loop::watch> watch_;
    event_loop::timer timer_;
    std::optional<time_point> armed_;
    std::unique_ptr<request_reader> reader_;  // while a request is on its way
    std::string input_;                       // read, and not used yet
    outbox outbox_;
    std::shared_ptr<answering> answering_;
    std::function<void(std::string_view)> when_cut_off_;
    std::optional<session> scope_;
    time_point active_;  // when something last happened that the present state waits for
    bool tls_;
    bool busy_ = false;       // a request is being answered
    bool inside_ = false;     // advance() is at work, and goes on when the answer was given at once
    bool keep_alive_ = true;  // after the present answer
    bool chunks_ = true;      // the client of the present request understands them
    bool head_only_ = false;  // it was a HEAD: the answer has no body, whatever its length says
    bool blocked_ = false;    // the client has to read before more can be written
    bool crowded_ = false;    // and whoever answers knows
    bool leaving_ = false;    // closed when everything was written
    bool draining_ = false;   // it was, and the client is still sending
    bool closed_ = false;
};

/// `OK`, `Not Found`
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

}  // namespace andon::detail
