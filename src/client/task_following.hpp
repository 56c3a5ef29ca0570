// A task of the server's, looked at until it is over.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "andon/client/pending_task.hpp"
#include "andon/core/cancel_callback.hpp"
#include "client/client_session.hpp"
#include "client/question_round.hpp"
#include "transport/outgoing_call.hpp"

namespace andon::detail {

/// On the loop's thread:
///
///     waiting ──the interval is over──► looking ──working──────────► waiting
///        ▲                                 │ └────terminal─────────► over
///        │                                 └─input required─► answering (the extension), tasks/update ──► waiting
///        │                                                    fetching (2025-11-25): tasks/result blocks, and brings
///        └──a request was lost, or refused for now            the questions as requests of the server's ──► over
///
/// A task outlives connections, so a request that gets lost is tried again a few times before the task is given up.
class task_following : public std::enable_shared_from_this<task_following> {
public:
    /// `over` is called once, on any thread, unless it was stopped.
    struct circumstances {
        bool ends_with_us;                      // when this client leaves, the task is cancelled
        std::optional<std::int64_t> request{};  // that it came of, if that was ours
    };
    task_following(std::shared_ptr<client_session> in, follow_options options, circumstances where,
                   std::function<void(call_outcome)> over);
    task_following(const task_following&) = delete;
    task_following& operator=(const task_following&) = delete;

    /// What a CreateTaskResult of either dialect says of its task; nothing where it is none.
    [[nodiscard]] static std::optional<json::object> created_by(const json::object& result);

    /// With what is known of the task; with its id only, it is looked at first.
    void begin(const json::object& task);
    /// Nobody waits for it any more. The task goes on.
    void stop();
    [[nodiscard]] static task_report report_from(const json::object& task);

private:
    [[nodiscard]] bool extension() const noexcept;
    void look_soon();
    void look();
    void looked(call_outcome outcome);
    void fetch();
    void answer(const json::object& task);
    void update(json::object answers);
    void tell(const json::object& task);
    void end(call_outcome outcome);
    /// True: it is to be tried again, which is seen to.
    bool try_again(const call_outcome& outcome);
    void on_cancel() noexcept;
    void leave();
    void ask(std::string_view method, json::object params, std::optional<duration> timeout,
             void (task_following::*then)(call_outcome));
    void updated(call_outcome outcome);
    void fetched(call_outcome outcome);
    void looked_back(call_outcome outcome);

    std::shared_ptr<client_session> session_;
    follow_options options_;
    circumstances where_;
    std::function<void(call_outcome)> over_;
    task_report report_;
    std::chrono::milliseconds interval_{250};  // until the server has named its own
    event_loop::timer timer_;
    std::shared_ptr<outgoing_call> current_;
    cancel_token thinking_;
    std::unordered_set<std::string> answered_;  // questions: the server may show them again
    call_outcome failed_with_;                  // until it is known how the task ended
    int failures_ = 0;
    bool stopped_ = false;

    struct cancelled {
        task_following* self;
        void operator()() const noexcept { self->on_cancel(); }
    };
    active_request work_;  // in the table: it has its time, and ends with the session
    cancel_token token_;
    std::optional<cancel_callback<cancelled>> callback_;
};

}  // namespace andon::detail
