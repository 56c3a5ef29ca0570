// A call, as its handler sees it.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "andon/core/async.hpp"
#include "andon/core/cancel_callback.hpp"
#include "andon/core/request_key.hpp"
#include "andon/process/process_tree.hpp"
#include "andon/wire/error.hpp"
#include "andon/wire/revision.hpp"

namespace andon {

namespace detail {
class call_state;
class subscriptions;
class task_desk;
}  // namespace detail

/// Of a log message to the client, as in RFC 5424.
enum class message_level : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

/// How a command ended, and what it wrote.
struct run_result {
    exit_status status{};
    std::string output{};      ///< standard output, as far as nobody took it piece by piece
    std::uint32_t killed = 0;  ///< processes that it left behind and that were ended
};

/// Something to be asked of the client: `sampling/createMessage`, `elicitation/create` or `roots/list`.
struct input_request {
    std::string key;  ///< names it among the questions of this call
    std::string method;
    json::object params{};
};

/// Everything that waits here ends when the call is cancelled, by throwing cancelled_error: let it pass, and nothing
/// more is to be done. Names with `async_` are for coroutines (`co_await`), the others block their thread. May be used
/// from several threads of the handler's, until the handler returns.
class call {
public:
    explicit call(detail::call_state& state) noexcept : state_(&state) {}
    call(const call&) = delete;
    call& operator=(const call&) = delete;

    // To stop when it should.

    /// Cheap enough for the inside of any loop.
    [[nodiscard]] bool cancelled() const noexcept {
        if (!token().cancelled()) return false;
        notice();
        return true;
    }
    void throw_if_cancelled() const {
        if (cancelled()) token().throw_if_cancelled();
    }
    /// Once cancelled.
    [[nodiscard]] cancel_cause cause() const noexcept { return token().cause(); }
    [[nodiscard]] std::string reason() const { return std::string(token().why().text()); }
    [[nodiscard]] const cancel_token& token() const noexcept;
    /// For whatever the standard library can stop.
    [[nodiscard]] std::stop_token stop_token() const;
    /// Runs `f` on the cancelling thread, as long as the object that is returned lives.
    template <std::invocable F>
    [[nodiscard]] auto on_cancel(F f) const {
        auto told = [this, f = std::move(f)]() mutable {
            notice();
            f();
        };
        return cancel_callback<decltype(told)>(token(), std::move(told));
    }
    /// While `f` runs a cancel waits (RCV-13).
    template <std::invocable F>
    decltype(auto) uninterrupted(F&& f) const {
        const uninterrupted_section section(token());
        return std::forward<F>(f)();
    }
    /// When it will be stopped as things stand.
    [[nodiscard]] std::optional<time_point> deadline() const noexcept;

    // To wait.

    void sleep_for(duration how_long) const;
    /// True: there is something to read. False: the time is over.
    [[nodiscard]] bool wait_readable(int fd, std::optional<duration> limit = std::nullopt) const;
    /// As cv.wait(lock, done). Whoever cancels takes the mutex for a moment: hold it for moments only.
    template <class Predicate>
    void wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, Predicate done) const;
    /// Runs a command whose whole tree dies with the call. `on_output` gets what it writes, as it comes.
    run_result run(const command& what, const std::function<void(std::string_view)>& on_output = {}) const;

    [[nodiscard]] async<void> async_sleep_for(duration how_long) const;
    [[nodiscard]] async<bool> async_wait_readable(int fd, std::optional<duration> limit = std::nullopt) const;
    [[nodiscard]] async<run_result> async_run(command what, std::function<void(std::string_view)> on_output = {}) const;
    class cancel_wait;
    /// Until it is cancelled, without throwing.
    [[nodiscard]] cancel_wait async_cancelled() const noexcept;

    // To tell the client.

    /// Sent if the client asked for it, and only while it grows.
    void progress(double done, std::optional<double> total = std::nullopt, std::string_view message = {}) const;
    void log(message_level level, const json::value& data, std::string_view logger = {}) const;
    /// Over HTTP in 2025-11-25: ends the client's connection, not the call. The client comes back for what it missed.
    void let_go_of_connection() const;

    // To outlive the request.

    /// For a tool with `task_on_demand`: answers the client with a task that this call is from now on. True: it is one.
    /// False: it stays a call, because the client does not know tasks or too many are being worked on.
    bool become_task() const;
    [[nodiscard]] async<bool> async_become_task() const;
    /// Of the task that this call is; empty where it is none.
    [[nodiscard]] std::string_view task_id() const noexcept;

    // To ask the client. Up to 2025-11-25 a request of ours goes to it, and is cancelled with this call. Since
    // 2026-07-28 there are none: the question becomes the answer of this call, the client calls again with what was
    // asked, and the handler runs again from its beginning, up to here. Keep side effects behind the questions, and ask
    // from one thread.

    [[nodiscard]] json::object sample(json::object params, std::string key = {}) const;
    [[nodiscard]] json::object elicit(json::object params, std::string key = {}) const;
    [[nodiscard]] json::object roots(std::string key = {}) const;
    /// Several at once: the answers by key.
    [[nodiscard]] json::object ask(std::vector<input_request> questions) const;
    [[nodiscard]] async<json::object> async_sample(json::object params, std::string key = {}) const;
    [[nodiscard]] async<json::object> async_elicit(json::object params, std::string key = {}) const;
    [[nodiscard]] async<json::object> async_roots(std::string key = {}) const;
    [[nodiscard]] async<json::object> async_ask(std::vector<input_request> questions) const;

    // About it.

    [[nodiscard]] std::string_view raw_id() const noexcept;  ///< the request's id, as JSON
    [[nodiscard]] std::string_view name() const noexcept;    ///< of the tool, prompt or resource
    [[nodiscard]] revision speaks() const noexcept;
    [[nodiscard]] session_id session() const noexcept;
    [[nodiscard]] const json::object& client_capabilities() const noexcept;
    [[nodiscard]] const json::object& client_info() const noexcept;
    /// Whether the client said that it can, as `{"sampling", "tools"}` or `{"elicitation"}`.
    [[nodiscard]] bool client_can(std::initializer_list<std::string_view> path) const noexcept;

private:
    friend class detail::subscriptions;
    friend class detail::task_desk;

    void must_be_free_to_block(const char* name) const;
    void notice() const noexcept;
    void resume_soon(std::coroutine_handle<> waiting) const;

    detail::call_state* state_;
};

/// What `co_await call.async_cancelled()` is: one registration in the coroutine's own frame, and no thread.
class [[nodiscard]] call::cancel_wait {
public:
    explicit cancel_wait(const call& of) noexcept : call_(&of) {}
    [[nodiscard]] bool await_ready() const noexcept { return call_->cancelled(); }
    void await_suspend(std::coroutine_handle<> waiting) { callback_.emplace(call_->token(), resume{call_, waiting}); }
    void await_resume() noexcept {
        callback_.reset();
        static_cast<void>(call_->cancelled());
    }

private:
    struct resume {
        const call* of;
        std::coroutine_handle<> waiting;
        void operator()() const noexcept { of->resume_soon(waiting); }
    };
    const call* call_;
    std::optional<cancel_callback<resume>> callback_;
};

inline call::cancel_wait call::async_cancelled() const noexcept { return cancel_wait(*this); }

template <class Predicate>
void call::wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, Predicate done) const {
    must_be_free_to_block("wait");
    // The callback takes the mutex, so that it cannot fall between the check and the sleep; it must therefore not be
    // made or destroyed under the mutex.
    std::mutex& mutex = *lock.mutex();
    lock.unlock();
    {
        const cancel_callback wake(token(), [&] {
            const std::lock_guard held(mutex);
            cv.notify_all();
        });
        lock.lock();
        cv.wait(lock, [&] { return token().cancelled() || done(); });
        lock.unlock();
    }
    lock.lock();
    if (!done()) throw_if_cancelled();
}

}  // namespace andon
