// A peer on a transport: the state machine, its bytes, and who is told.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "andon/peer/peer.hpp"
#include "andon/transport/log.hpp"
#include "andon/transport/transport.hpp"
#include "transport/event_loop.hpp"
#include "transport/outgoing_call.hpp"
#include "transport/remarks.hpp"

namespace andon::detail {

/// Where the answer to a request goes.
struct answer_path {
    std::shared_ptr<batch_answers> batch{};  // among the others of its batch
    std::shared_ptr<reply_path> reply{};     // null: the transport
};

/// On whose behalf requests come: where a conversation is with one alone, there is none.
struct claimant {
    std::string owner{};       // of the tasks it makes and asks about; empty: whoever is there
    std::string counts_for{};  // whose limits they count against
};

/// A request that came in, in the hands of whoever answers it.
struct incoming_request {
    active_request request;
    revision speaks = newest_legacy;
    answer_path to{};
    session_id scope{};  // of its id
    std::shared_ptr<const claimant> from{};

    [[nodiscard]] const claimant& by() const noexcept {
        static const claimant nobody;
        return from ? *from : nobody;
    }
};

/// How a message came that was not read from the transport.
struct arrival {
    message_scope scope{};
    std::shared_ptr<reply_path> reply{};
    std::shared_ptr<const claimant> from{};
};

class conversation final : public std::enable_shared_from_this<conversation>, private transport::events {
public:
    /// Called on the loop's thread.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;
        /// The message is good during the call only.
        virtual void on_request(incoming_request request, const envelope& message) = 0;
        virtual void on_notification(const envelope& message) = 0;
        /// A result that came after its request was given up.
        virtual void on_late_result(const envelope& message) { static_cast<void>(message); }
        /// Any answer, or progress, to what is not waited for any more.
        virtual void on_unclaimed(const envelope& message) { static_cast<void>(message); }
        virtual void on_established() = 0;
        /// As transport::events::on_crowded().
        virtual void on_crowded(bool crowded) { static_cast<void>(crowded); }
        /// Once: everything in flight was cancelled.
        virtual void on_ended(std::string_view why) = 0;

    protected:
        ~owner() = default;
    };

    /// What all conversations of one server or client share, and what must outlive every request.
    struct surroundings {
        event_loop loop;
        in_flight table;
        log_sink log;

        explicit surroundings(const in_flight_limits& limits = {}) : table(limits) { loop.keep_deadlines_of(table); }
    };

    conversation(std::shared_ptr<surroundings> around, peer_settings settings, std::unique_ptr<transport> over,
                 owner& told);

    // On the loop's thread.

    /// In the log, as remarks::name().
    void name_peer(std::string as) { remarks_.name(std::move(as)); }
    void open();
    /// A message that came by another way than the transport: by a POST.
    void receive(const envelope& message, const arrival& how);
    void receive_batch(std::string_view line, const arrival& how);
    /// As transport::leave().
    void leave(const std::function<void()>& done) { closed_ ? done() : transport_->leave(done); }
    /// As transport::drop_cancelled().
    void drop_cancelled() {
        if (!closed_) transport_->drop_cancelled();
    }
    /// As transport::hold().
    void hold(bool wanted) {
        if (!closed_) transport_->hold(wanted);
    }
    /// Ends it: what is in flight, in both directions, is cancelled.
    void close(cancel_cause cause, std::string_view why);
    [[nodiscard]] const peer& protocol() const noexcept { return peer_; }
    /// As peer::adopt().
    void adopt(revision agreed) noexcept { peer_.adopt(agreed); }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    /// By the peer: it was not we who closed it. Once it is over.
    [[nodiscard]] bool was_left() const noexcept { return left_; }
    /// It ended because the peer did not read what it was sent.
    [[nodiscard]] bool given_up() const noexcept { return unread_; }

    // From any thread.

    bool send(std::string_view line, const cancel_token* of = nullptr) { return transport_->send(line, of); }
    /// The answer to a request that came in; empty where it has none. `code`: of an error.
    void answer(const answer_path& to, std::string_view line, int code = 0);
    /// The same for a request that was cancelled: after what its own requests have to say of that.
    void answer_last(const answer_path& to, std::string line);
    /// What belongs to one request, as long as that is not cancelled.
    bool send(const answer_path& to, std::string_view line, const cancel_token* of) {
        return to.reply ? to.reply->send(line, of) : send(line, of);
    }
    void post(job work) { around_->loop.post(std::move(work)); }
    [[nodiscard]] bool here() const noexcept { return around_->loop.here(); }
    [[nodiscard]] event_loop& loop() noexcept { return around_->loop; }
    [[nodiscard]] in_flight& table() noexcept { return around_->table; }
    [[nodiscard]] session_id id() const noexcept { return session_.id(); }
    void log(log_level level, std::string_view text) const { around_->log(level, text); }
    /// On the loop: after whatever is to go on now has gone on. Writing a line takes longer than telling a handler.
    void log_soon(log_level level, std::string text);

    /// Begins a request to the peer. With a parent, the parent's cancel or end reaches it. It is settled from the start
    /// where there is nobody to send it to.
    [[nodiscard]] std::shared_ptr<outgoing_call> request(outgoing_call::settings what, const time_limits& limits,
                                                         const incoming_request* parent = nullptr);
    /// The same for one that is passed on: part of a request in another conversation, which shares the table.
    [[nodiscard]] std::shared_ptr<outgoing_call> pass_on(outgoing_call::settings what, const active_request& parent);

    /// On the loop, while it is closed: a request whose answer nobody will hear.
    void last_words(std::string_view method, json::object params);
    /// On the loop: where the progress goes of a request that was answered with a task; nothing: nowhere any more.
    void on_progress_of(std::int64_t id, std::function<void(const progress_update&)> told);

    /// Work of ours that belongs to the session, such as thinking about what the peer wants to know: it is in the
    /// table, has its time, and ends with the session. Nothing is sent.
    [[nodiscard]] begin_result begin_own_work(std::string_view label, const time_limits& limits);

private:
    friend class outgoing_call;

    void on_line(std::string_view line) override;
    void on_line_too_long(const skimmed_line& line) override;
    void on_closed(std::string_view why) override;
    void on_given_up(std::string_view why) override;
    void on_crowded(bool crowded) override;
    void on_request_lost(std::int64_t id, std::string_view why) override;
    void on_remark(log_level level, std::string_view text) override;
    void take(peer_step step, const arrival& how);
    void lose_answer(std::optional<std::int64_t> id, std::string_view why);
    void lose_answers(const std::vector<std::int64_t>& ids, std::string_view why);
    void take_unclaimed(const envelope& message);
    [[nodiscard]] std::shared_ptr<outgoing_call> begin(outgoing_call::settings what, std::int64_t id,
                                                       begin_result begun, std::shared_ptr<reply_path> via);
    void remember(const outgoing_call& given_up);
    void start(outgoing_call& call);
    void take_back(const outgoing_call& call);
    void give_up(outgoing_call& call);
    void tell(const outgoing_call& call, std::string_view line);
    void watch_handshake();

    std::shared_ptr<surroundings> around_;
    session session_;
    peer peer_;
    std::unique_ptr<transport> transport_;
    owner* owner_;
    event_loop::timer handshake_;
    remarks remarks_;
    std::unordered_map<std::int64_t, std::shared_ptr<outgoing_call>> outgoing_;
    std::atomic<std::int64_t> next_id_ = peer::first_id;
    std::vector<log_line> log_queue_;            // the loop's
    std::unordered_set<std::int64_t> given_up_;  // calls that may be answered with a task all the same
    std::deque<std::int64_t> given_up_first_;
    std::unordered_map<std::int64_t, std::function<void(const progress_update&)>> progress_of_tasks_;
    bool left_ = false;  // by the peer, and not by us
    bool closed_ = false;
    bool unread_ = false;
};

}  // namespace andon::detail
