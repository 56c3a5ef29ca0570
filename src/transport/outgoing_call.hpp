// A request of ours, until it is answered or given up.
#pragma once

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "andon/client/call_outcome.hpp"
#include "andon/core/active_request.hpp"
#include "andon/core/cancel_callback.hpp"
#include "andon/transport/transport.hpp"
#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"

namespace andon::detail {

class conversation;

/// Who hears of a request in the words of the peer, as they came. On the loop's thread, each for as long as the request
/// lives; the messages are good during the call only.
class raw_listener {
public:
    raw_listener() = default;
    raw_listener(const raw_listener&) = delete;
    raw_listener& operator=(const raw_listener&) = delete;
    virtual ~raw_listener() = default;

    virtual void on_progress(const envelope& message) = 0;
    /// One of the three, once.
    virtual void on_answer(const envelope& message) = 0;
    /// A subscription, which the peer ended by its notification (SUB-2).
    virtual void on_ended(const envelope& message) = 0;
    /// It was cancelled, or nobody is there to answer it any more: the outcome says which.
    virtual void on_given_up(const call_outcome& outcome) = 0;
};

/// Two parties want to end it: the loop, with the peer's answer, and whoever cancels: the caller, its deadline, the
/// parent's cancel, the end of the session. The request's state word says who won, and the winner alone writes the
/// outcome:
///
///     loop:      begin_response() ──won──► outcome = the answer ──► settled
///     canceller: cancel() ──accepted──► (callback, on that thread) outcome = why ──► settled ──► posts: tell the peer
///
/// Only the loop ends the record, and only the loop writes to the peer, so that the cancel is written behind the
/// request and never before it. Where the loop is the canceller it writes at once, before whatever it sends next: a
/// relay keeps the order in which a peer wrote a cancel and what comes behind it. A call that is cancelled before the
/// loop has sent it is never sent.
class outgoing_call : public std::enable_shared_from_this<outgoing_call> {
public:
    struct settings {
        std::string method;
        json::object params{};
        std::optional<std::string> log_level{};
        bool cancellable = true;  // on the wire
        bool at_once = false;     // from the loop: before anything that was posted
        bool progress_restarts_idle = true;
        std::function<void(const progress_update&)> on_progress{};
        std::function<void()> then{};  // as then(), before anything can happen; not where it never began

        // Of a request that is passed on. What it was given is sent as it is; the id is unique for all conversations
        // that share a table.
        std::shared_ptr<raw_listener> raw{};
        std::string raw_params{};
        std::int64_t id = 0;
        std::shared_ptr<reply_path> via{};  // where there is no parent with a stream of its own
    };

    /// `via`: the stream of the request that it is part of; null: the session's own.
    outgoing_call(std::shared_ptr<conversation> in, settings what, std::int64_t id, active_request request,
                  std::shared_ptr<reply_path> via);
    outgoing_call(const outgoing_call&) = delete;
    outgoing_call& operator=(const outgoing_call&) = delete;
    ~outgoing_call();

    /// Any thread. True: this cancel is the one that stands, and the outcome is there.
    bool cancel(cancel_cause cause, std::string_view why);
    /// Any thread but the loop's: until it is settled.
    void wait() const;
    [[nodiscard]] bool settled() const noexcept { return settled_.load(std::memory_order_acquire); }
    /// Where there was nobody to send it to.
    [[nodiscard]] bool never_began() const noexcept { return token_.state() == nullptr; }
    /// Once settled.
    [[nodiscard]] call_outcome& outcome() noexcept { return outcome_; }
    /// Goes on, on the loop's thread, when it is settled. False: it is settled already.
    [[nodiscard]] bool then(std::function<void()> go_on);

    [[nodiscard]] std::int64_t id() const noexcept { return id_; }

private:
    friend class conversation;

    void watch();                              // after construction: its cancel is ours to report
    bool answered(const envelope& message);    // loop; false: nobody waits for it any more
    void progressed(const envelope& message);  // loop
    void ended(const envelope& message);       // loop: a subscription, by the server
    void on_cancel() noexcept;                 // the cancelling thread
    /// The winner. Gives what is to go on then, on the loop.
    [[nodiscard]] std::function<void()> settle(call_outcome outcome);

    struct on_cancelled {
        outgoing_call* call;
        void operator()() const noexcept { call->on_cancel(); }
    };

    std::shared_ptr<conversation> conversation_;
    settings settings_;
    std::int64_t id_;
    std::shared_ptr<reply_path> via_;
    active_request request_;  // the loop's
    cancel_token token_;      // everybody's
    std::optional<cancel_callback<on_cancelled>> callback_;
    std::mutex mutex_;
    std::function<void()> then_;
    call_outcome outcome_;
    std::atomic<bool> settled_ = false;
};

/// What a progress notification says.
void tell_progress(const envelope& message, const std::function<void(const progress_update&)>& told,
                   const log_sink& log);

}  // namespace andon::detail
