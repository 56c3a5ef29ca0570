// What is behind a `call`: the request, its handler, and the one answer it may have.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/stop_token.hpp"
#include "andon/server/call.hpp"
#include "server/registry.hpp"
#include "server/scheduler.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

class live_task;
class server_session;
struct task_end;

/// What is known of the client, for the length of a call.
struct client_facts {
    json::object capabilities;
    json::object implementation;
};

/// What only a call that asks the client needs (2026-07-28): the answers that came with it, the questions it has.
struct input_round {
    json::object answers;
    json::object used;  // those of them that were asked for: they go along to the next round
    json::object questions;
    std::string request_digest;  // what the state of this request is bound to
    int asked = 0;               // questions that came without a key
};

/// Leaves a handler that has to wait for the client's next round. Not a std::exception: a handler that catches those
/// does not mean this.
struct input_needed {};

/// Made by the session when the request is let in, deletes itself when the work is over. Threads: the loop makes and
/// dispatches it; a worker or the loop runs its handler; any thread may cancel it.
///
/// Whoever moves the request's word out of `running` decides what the client gets:
///   - the handler's end (begin_response): its result;
///   - the peer's cancel, a disconnect, a shutdown: silence (RCV-3, RCV-4);
///   - our own limit, an operator: an error, at once, because the client still waits and did not ask for this. A
///     subscription that we end is not an error: it has its completing response, also at the shutdown (SUB-2).
///
/// A call that is or may become a task works for a second request, the task's, whose token its handler has. As long as
/// there is no task each passes its cancel on to the other; the birth is the answer to the first (docs/tasks.md).
class call_state final : public turn {
public:
    struct request_facts {
        std::string_view raw_id;
        std::string_view raw_progress_token;
        std::string_view uri;                    // of a resource
        std::size_t bytes = 0;                   // of its params
        std::optional<message_level> log_level;  // from which level on this request has log messages
    };

    /// The facts are copied.
    call_state(std::shared_ptr<server_session> in, incoming_request request, const request_facts& facts,
               std::shared_ptr<const client_facts> client, std::shared_ptr<const handler_entry> entry,
               json::value arguments);

    /// On the loop, before dispatch(): it may become that task, or is it from its beginning.
    void may_become(std::shared_ptr<live_task> task, bool at_once);
    /// On the loop: runs it, or queues it.
    void dispatch();

    // For `call`.

    [[nodiscard]] const cancel_token& token() const noexcept { return token_; }
    /// What the handler works for: the wire's request, or the task's.
    [[nodiscard]] active_request& request() noexcept;
    /// Null: it cannot become one.
    [[nodiscard]] const std::shared_ptr<live_task>& task() const noexcept { return task_; }
    [[nodiscard]] bool is_task() const noexcept { return stage_.load(std::memory_order_acquire) == stage::born; }
    [[nodiscard]] const incoming_request& incoming() const noexcept { return incoming_; }
    [[nodiscard]] server_session& session() noexcept { return *session_; }
    [[nodiscard]] conversation& talk() noexcept;
    [[nodiscard]] std::string_view raw_id() const noexcept { return std::string_view(texts_).substr(0, id_size_); }
    [[nodiscard]] std::string_view raw_progress_token() const noexcept {
        return std::string_view(texts_).substr(id_size_, token_size_);
    }
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::optional<message_level> log_level() const noexcept { return log_level_; }
    [[nodiscard]] const client_facts& client() const noexcept { return *client_; }
    [[nodiscard]] const handler_entry& entry() const noexcept { return *entry_; }
    [[nodiscard]] revision speaks() const noexcept { return incoming_.speaks; }
    [[nodiscard]] const revision_policy& policy() const noexcept { return policy_of(incoming_.speaks); }
    [[nodiscard]] std::stop_token stop_token();
    void notice() noexcept;
    /// A message that belongs to this request: it is lost with its cancel. False: it was not taken.
    bool tell(std::string_view line);
    void progress(const progress_update& update);
    /// `then` comes on the loop, or at once where nothing is to be waited for.
    void become_task(std::function<void()> then);
    /// What it asks as a task, with the names it gave.
    [[nodiscard]] json::object ask_as_task(std::vector<input_request> questions);
    [[nodiscard]] async<json::object> async_ask_as_task(std::vector<input_request> questions);

    std::unique_ptr<input_round> round;

private:
    ~call_state();

    /// Where a coroutine is: whoever comes second of "it returned to us" and "it is over" cleans up.
    enum class phase : std::uint8_t { running, returned, over };

    /// Whether there is a task, and who waits for that to be known.
    enum class stage : std::uint8_t { call, being_written, born, refused };

    void submit() noexcept;
    void begin() noexcept override;
    void run_blocking() noexcept;
    void run_coroutine() noexcept;
    void coroutine_over() noexcept;
    void finish_coroutine() noexcept;
    void call_hook(bool before);
    void fail_after_handler(const std::exception_ptr& failure) noexcept;
    /// A failure in the words of the protocol: an error of the tool has no code.
    struct failed {
        int code = 0;
        std::string words;
        json::value data = nullptr;
    };
    void complete(handler_result result) noexcept;
    void fail(const std::exception_ptr& failure) noexcept;
    [[nodiscard]] failed failed_with(const std::exception_ptr& failure) const;
    /// True: the client gets what comes now, and nothing else.
    [[nodiscard]] bool begin_response() noexcept;
    void complete_task(const handler_result& result);
    void fail_task(const failed& how);
    void end_task(task_end how) noexcept;
    void write_task(std::function<void()> then);
    void born(const std::string& refusal) noexcept;
    [[nodiscard]] std::string created_line() const;
    [[nodiscard]] bool cancel_wire() noexcept;
    void cancel_task() noexcept;
    [[nodiscard]] std::string input_required() const;
    [[nodiscard]] std::string written(handler_result result) const;
    [[nodiscard]] std::string stopped_line(cancel_cause cause, const reason& why) const;
    [[nodiscard]] std::string error_line(int code, std::string_view message, const json::value& data = nullptr) const;
    void answer(std::string_view line, int code = 0) noexcept;
    void end() noexcept;
    void on_cancel() noexcept;
    void tell_of_cancel() noexcept;

    /// What few calls need, and ten thousand that wait do not pay for.
    struct extras {
        std::mutex mutex;
        std::unique_ptr<stop_on_cancel> stopping;
        std::optional<double> last_progress;
    };
    [[nodiscard]] extras& more();

    struct cancelled {
        call_state* state;
        void operator()() const noexcept { state->on_cancel(); }
    };
    struct wire_cancelled {
        call_state* state;
        void operator()() const noexcept { state->cancel_task(); }
    };

    std::shared_ptr<server_session> session_;
    incoming_request incoming_;
    std::string texts_;  // the id, the progress token, the URI
    std::shared_ptr<const client_facts> client_;
    std::shared_ptr<const handler_entry> entry_;
    json::value arguments_;
    std::shared_ptr<live_task> task_;
    cancel_token token_;
    cancel_token wire_;  // with a task: of the request that came
    call view_;
    coroutine_run coroutine_;
    std::atomic<extras*> extras_ = nullptr;
    std::uint32_t id_size_;
    std::uint32_t token_size_;
    std::uint32_t bytes_;
    std::optional<message_level> log_level_;
    std::atomic<phase> phase_ = phase::running;
    std::atomic<bool> noticed_ = false;
    std::atomic<stage> stage_ = stage::call;
    bool at_once_ = false;
    bool answered_ = false;
    bool told_ = false;  // of its cancel: the log, and the client where it still waits
    std::unique_ptr<cancel_callback<wire_cancelled>> passed_on_;  // with a task
    std::optional<cancel_callback<cancelled>> callback_;          // last: goes first, and waits for itself
};

}  // namespace andon::detail
