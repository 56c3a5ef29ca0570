// A call that was sent: wait for it, await it, or stop it.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "andon/client/call_outcome.hpp"
#include "andon/core/time.hpp"
#include "andon/wire/message.hpp"

namespace andon {

namespace detail {
class pending_state;
}

struct call_options {
    /// Without an answer or progress for this long it is given up (TIME-1, TIME-3). Unset: the client's.
    std::optional<duration> timeout{};
    /// Given up then, whatever progress came (TIME-4). Unset: the client's.
    std::optional<duration> max_timeout{};
    /// Called on the client's thread.
    std::function<void(const progress_update&)> on_progress{};
    bool progress_restarts_timeout = true;
    /// From which level on the server may send log messages for this call; only 2026-07-28 asks per call.
    std::optional<std::string> log_level{};
};

/// The handle of one call. Dropping it cancels the call, because nobody is left to want its answer; detach() lets go.
/// May be used from any thread, by one at a time; cancel() at any time.
class [[nodiscard]] pending_call {
public:
    explicit pending_call(std::shared_ptr<detail::pending_state> state) noexcept : state_(std::move(state)) {}
    pending_call(pending_call&&) noexcept = default;
    pending_call& operator=(pending_call&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    pending_call(const pending_call&) = delete;
    pending_call& operator=(const pending_call&) = delete;
    ~pending_call();

    /// Stops waiting, and tells the server in the way that the revision and the transport have for it. Returns at once,
    /// with the outcome there: it never waits for the server. False: it was over before.
    bool cancel(std::string_view reason = {});

    [[nodiscard]] bool done() const noexcept;
    /// Blocks until it is over. Not on the client's own thread: co_await there.
    [[nodiscard]] const call_outcome& get() const;
    /// The result, or throws: rpc_error, cancelled_error, or std::runtime_error.
    [[nodiscard]] const json::value& value() const;
    void detach() noexcept { state_.reset(); }

    /// Goes on, on the client's thread.
    [[nodiscard]] bool await_ready() const noexcept { return done(); }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) const;
    [[nodiscard]] const call_outcome& await_resume() const { return get(); }

private:
    std::shared_ptr<detail::pending_state> state_;
};

}  // namespace andon
