// One request of a host, on its way to a server and back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "gateway/config/policy.hpp"
#include "gateway/relay/relayed_call_view.hpp"
#include "transport/conversation.hpp"

namespace andon::gateway {

class call_desk;
class relayed_question;
class upstream;

/// What the calls of one host's session have in common.
struct call_origin {
    std::string server;
    std::string session;
};

/// An answer in other words: one of the two.
struct rewritten_answer {
    std::string raw_result{};
    std::string raw_error{};  ///< with its code
    int code = 0;
};
/// Sees the answer before the host does; nothing: it is passed on as it came.
using answer_filter = std::function<std::optional<rewritten_answer>(const envelope& answer)>;

/// Two requests that share one fate: the host's, which came in, and ours to the server, which hangs below it in the
/// same tree. Whatever ends the host's (its cancel, its time limit, its disconnect, an operator) reaches the server as
/// a cancel of ours by the tree alone; so it is never sent for another request, nor forgotten.
///
///     waiting ──send()──► sent ──answer──► over
///        │                 │ └──the server is gone──► over, with an error
///        └────cancelled────┴──► asked to stop ──► stopped, or ignoring until it is
///
/// Who ends it first for the host is decided by the word of the host's request, as everywhere; the rest of this class
/// runs on the loop's thread and only follows that decision. It lives until it is over for the host and, if it was
/// asked to stop, until it is known whether it did.
class relayed_call final : public detail::raw_listener, public std::enable_shared_from_this<relayed_call> {
public:
    relayed_call(call_desk& desk, std::shared_ptr<detail::conversation> host, detail::incoming_request request,
                 const envelope& message, std::shared_ptr<const call_origin> origin, const call_policy& policy);

    /// After construction: it is in flight from now on.
    void begin();
    /// Over that server, now.
    void send(const std::shared_ptr<upstream>& to);
    /// The host gets an error of ours.
    void fail(int code, std::string_view words, call_end end);
    /// The host gets an answer of ours.
    void answer(std::string_view raw_result);
    void stop_by_operator(std::string_view reason, std::string_view name);

    /// In place of what the host wrote; before it is sent.
    void rewrite(std::string method, std::string raw_params);
    void filter(answer_filter sees) { filter_ = std::move(sees); }
    /// When it is over for the host.
    void when_answered(std::function<void(const relayed_call&)> told) { when_answered_ = std::move(told); }
    /// Called when a server is found for it, in the moment before it is sent: false, and it was dealt with otherwise.
    void prepare(std::function<bool(relayed_call&, upstream&)> last) { prepare_ = std::move(last); }
    /// Sees the first answer before anybody: true, and it was sent again in other words.
    void on_first_answer(std::function<bool(relayed_call&, const envelope&)> sees) { first_answer_ = std::move(sees); }
    [[nodiscard]] const std::shared_ptr<upstream>& via() const noexcept { return via_; }
    /// What the server is to give with its progress; empty where the host asked for none.
    [[nodiscard]] std::string wire_token() const {
        return raw_token_.empty() ? std::string() : std::to_string(number_);
    }
    /// When it is over, and it is known whether it stopped.
    void when_over(std::function<void(const relayed_call&)> told) { when_over_ = std::move(told); }

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] std::int64_t wire_id() const noexcept { return static_cast<std::int64_t>(number_); }
    [[nodiscard]] const std::string& method() const noexcept { return method_; }
    [[nodiscard]] const std::string& tool() const noexcept { return tool_; }
    [[nodiscard]] const std::string& raw_params() const noexcept { return raw_params_; }
    [[nodiscard]] const std::string& raw_id() const noexcept { return raw_id_; }
    [[nodiscard]] const std::string& server() const noexcept { return origin_->server; }
    [[nodiscard]] const std::string& session() const noexcept { return origin_->session; }
    [[nodiscard]] const call_policy& policy() const noexcept { return policy_; }
    [[nodiscard]] revision speaks() const noexcept { return in_.speaks; }
    [[nodiscard]] call_stage stage() const noexcept { return stage_; }
    /// Of the tasks that it makes and asks about; empty: whoever is there.
    [[nodiscard]] const std::string& owner() const noexcept { return in_.by().owner; }
    /// Whether its answer may be a task, by what it says: asked for (2025-11-25), or declared (2026-07-28).
    [[nodiscard]] bool may_be_task() const;
    /// Of tasks/result, once it is sent: the task whose end it waits for. Of others empty.
    [[nodiscard]] const std::string& awaited_task() const noexcept { return awaited_task_; }
    /// That task has given a sign of life, which counts as progress does.
    void task_goes_on();
    /// By the host, which has neither cancelled it nor been answered.
    [[nodiscard]] bool is_waited_for() const noexcept { return !over_for_host_ && !token_.cancelled(); }
    /// A question of the server's that goes to the host on its stream, since it is the only call there.
    void comes_with(const std::shared_ptr<relayed_question>& question);
    /// Where what belongs to it goes.
    [[nodiscard]] const detail::answer_path& to_host() const noexcept { return in_.to; }
    void tell_host(std::string_view line);
    /// What the server said of it may not have been read yet: its time without a sign of life begins anew.
    void seems_alive() noexcept;
    /// To the server.
    [[nodiscard]] time_point sent() const noexcept { return sent_; }
    [[nodiscard]] relayed_call_view view() const;
    [[nodiscard]] journal_entry entry() const;
    [[nodiscard]] call_end end() const noexcept { return end_; }
    [[nodiscard]] bool asked_to_stop() const noexcept { return asked_ != time_point(); }
    [[nodiscard]] cancel_cause cause() const noexcept { return token_.cause(); }
    [[nodiscard]] stop_evidence evidence() const noexcept { return evidence_; }
    [[nodiscard]] std::optional<duration> time_to_stop() const noexcept;

    // What is heard and seen of it once it was asked to stop.

    [[nodiscard]] time_point asked() const noexcept { return asked_; }
    void late_answer();
    void late_message();
    void ignores();
    /// It was taken for stopped, and was heard of again.
    void goes_on();
    /// Between its progress notifications, as long as they were wanted; zero: there were none.
    [[nodiscard]] duration cadence() const noexcept { return cadence_; }
    /// It is gone with it, and these words say how.
    void server_gone(std::string_view why) { fail(error_code::internal_error, why, call_end::crashed); }
    void stopped(stop_evidence how, time_point when, std::uint32_t killed = 0);

private:
    void on_progress(const envelope& message) override;
    void on_answer(const envelope& message) override;
    void on_ended(const envelope& message) override;
    void on_given_up(const call_outcome& outcome) override;

    struct on_host_cancel {
        relayed_call* call;
        void operator()() const noexcept;
    };

    /// False: the host's cancel was first, and is about to be heard of.
    [[nodiscard]] bool take_answer();
    void answer_error(std::string_view line, int code);
    void over_for_host();
    void host_gave_up();
    void end_stream();
    void let_go_of_stream();
    void count_as_ignored();
    void leave();

    call_desk* desk_;
    std::shared_ptr<detail::conversation> host_;
    detail::incoming_request in_;
    cancel_token token_;
    std::shared_ptr<const call_origin> origin_;
    call_policy policy_;
    std::uint64_t number_;
    std::string raw_id_;
    std::string raw_token_;
    std::string method_;
    bool handshake_;  // whatever it is called in other words
    std::string tool_;
    std::string traceparent_;
    std::string raw_params_;
    std::string raw_progress_;  // the last one's params
    std::shared_ptr<upstream> via_;
    pid_t pid_ = 0;
    answer_filter filter_;
    std::function<void(const relayed_call&)> when_over_;
    std::function<void(const relayed_call&)> when_answered_;
    std::function<bool(relayed_call&, upstream&)> prepare_;
    std::function<bool(relayed_call&, const envelope&)> first_answer_;
    std::vector<std::weak_ptr<relayed_question>> questions_;
    std::string operator_name_;
    time_point sent_{};
    time_point progressed_{};
    duration cadence_{};
    std::chrono::system_clock::time_point started_at_;
    std::chrono::system_clock::time_point ended_at_{};
    time_point asked_{};
    std::optional<time_point> stopped_at_;
    call_stage stage_ = call_stage::running;
    call_end end_ = call_end::completed;
    stop_evidence evidence_ = stop_evidence::none;
    int error_code_ = 0;
    std::uint32_t late_ = 0;
    std::uint32_t killed_ = 0;
    std::string awaited_task_;
    bool may_be_task_ = false;
    bool ignored_ = false;
    bool over_for_host_ = false;
    bool answered_late_ = false;
    bool left_ = false;
    std::optional<cancel_callback<on_host_cancel>> callback_;  // last: goes first
};

/// For a task of 2025-11-25, from the params of tools/call.
[[nodiscard]] bool asks_for_task(std::string_view raw_params);
/// Of a result that is a task; empty: it is none.
[[nodiscard]] std::string task_in(std::string_view raw_result);
/// By `taskId`, in the params of what is said of a task; empty: there is none.
[[nodiscard]] std::string task_named_in(std::string_view raw_params);
/// Of an error object.
[[nodiscard]] int code_in(std::string_view raw_error);
/// JSON as it came over HTTP may have line breaks between its tokens; on a stream of lines it must not.
[[nodiscard]] std::string on_one_line(std::string text);
/// `text` with the part that `old` is a view of replaced.
[[nodiscard]] std::string spliced(std::string_view text, std::string_view old, std::string_view by);

}  // namespace andon::gateway
