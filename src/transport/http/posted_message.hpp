// A message on its way to the server, until its answer is there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "transport/event_loop.hpp"
#include "transport/http/event_cursor.hpp"
#include "transport/http/exchange.hpp"
#include "transport/http/outgoing_message.hpp"

namespace andon::detail {

class http_client_transport;

/// On the loop's thread. What it goes through:
///
///     posting ──202──► over                                            what has no answer: a notification, an answer
///     posting ──JSON, or an error──► answered ──► over
///     posting ──events──► reading ──the answer──► draining ──► over    draining: the connection is worth a moment
///        reading ──the stream breaks──► pausing ──► resuming ──► reading      legacy, if an event had an id; else lost
///     posting ──404 in a session──► waiting ──a new session──► posting        legacy, once: it was not looked at
///     posting ──the headers are wrong──► waiting ──tools/list──► posting      modern, tools/call, once: likewise
///     posting ──cancelled, a moment after it was sent──► straggling ──► over  legacy, see below
///     reading ──cancelled, and it had asked us something──► taking_back ──► over     legacy, see below
///     any ──abandon()──► over: nothing is heard of it, and its connection is closed
///
/// Who may interrupt whom:
///  - A cancel comes from the loop's queue, never from inside a call of ours. If the answer was handed over before, the
///    request is not known here any more; if not, abandon() sees to it that it never is.
///  - Whoever gets a message handed over may close the transport, which abandons us: after each look at the phase.
///  - The request and its cancel travel on two connections (legacy), and the cancel may overtake: a server that has not
///    seen the request ignores the cancel, and works. There is no sign that a request was read before its answer
///    begins. So the cancel of a request that was sent only just now is said twice: at once, and when the answer begins
///    or a moment has passed. A second cancel changes nothing.
///  - What the request asked us the server takes back on the same stream, and nowhere else (RCV-12). So the stream of
///    one that asked is read on for a moment after its cancel, for that and nothing else.
class posted_message final : public std::enable_shared_from_this<posted_message>, private exchange::listener {
public:
    /// Gets the answer instead of the peer; null: there is none.
    using private_answer = std::function<void(const envelope* answer)>;

    posted_message(http_client_transport& over, outgoing_message what, private_answer told = {});

    void post();
    void abandon();
    /// Under the legacy revisions. True: the server has to be told by `line`.
    [[nodiscard]] bool cancel(std::string_view line);
    /// It does not count among what waits any more.
    void taken() noexcept { message_.part.give_back(); }
    /// Instead of an answer: the error that says why there is none.
    void refuse(const std::string& why);

    /// A request that is made for the sake of this one.
    void goes_with(const std::shared_ptr<posted_message>& other) noexcept { helper_ = other; }

    [[nodiscard]] const outgoing_message& message() const noexcept { return message_; }
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }

private:
    enum class phase : std::uint8_t {
        posting,
        reading,
        draining,
        pausing,
        resuming,
        waiting,
        straggling,
        taking_back,
        over
    };
    enum class content : std::uint8_t { none, json, events, error };

    [[nodiscard]] bool is_listening() const noexcept {
        return phase_ == phase::reading || phase_ == phase::taking_back;
    }
    /// Nobody waits for it any more.
    [[nodiscard]] bool is_left_over() const noexcept {
        return phase_ == phase::draining || phase_ == phase::straggling || phase_ == phase::taking_back;
    }

    void on_sent() override;
    void on_head(const response_reader& response) override;
    void on_body(std::string_view piece) override;
    void on_end() override;
    void on_lost(std::string_view why) override;

    void resumed(const response_reader& response);
    void accept(const response_reader& response);
    void read_events(std::string_view piece);
    void receive(std::string text);
    void receive_one(std::string_view line);
    void lose_unreadable(const envelope_fault& fault);
    void answer(const envelope& found, std::string_view line);
    void conclude_error();
    void cancel_again();
    void refuse_with(int code, const std::string& why, const json::value& data);
    void pause(std::string_view why);
    void resume();
    void drain();
    void lose(std::string_view why);
    /// False: this is not the time for it.
    [[nodiscard]] bool wait_for_session();
    [[nodiscard]] bool wait_for_tools(const envelope& error, std::string_view line);

    http_client_transport* over_;
    outgoing_message message_;
    private_answer told_;
    phase phase_ = phase::posting;
    content content_ = content::none;
    std::shared_ptr<exchange> exchange_;
    event_loop::timer timer_;
    event_cursor cursor_;
    std::string session_id_;  // with which it was posted
    std::string status_;      // of the response, as "404 Not Found"
    bool is_json_ = false;
    std::string body_;
    std::string cancelled_line_;
    std::weak_ptr<posted_message> helper_;
    bool asked_ = false;     // a question of the server came on its stream
    bool renewed_ = false;   // posted again in a new session
    bool relisted_ = false;  // posted again with new headers
};

}  // namespace andon::detail
