// What is behind a subscription.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "andon/client/subscription.hpp"
#include "andon/core/cancel_callback.hpp"
#include "client/client_session.hpp"
#include "transport/outgoing_call.hpp"

namespace andon::detail {

/// On the loop's thread, but for what its handle asks:
///
///     asking ──acknowledged──► listening
///        ▲ └──────┬────────────────┘ ended by the server: its response, its cancel, or the end of the stream (SUB-2)
///        │        ▼
///        └──── pausing, with listen_again              ended by us, by a refusal, with the session: over
class subscription_state : public std::enable_shared_from_this<subscription_state> {
public:
    subscription_state(std::shared_ptr<client_session> in, subscription_filter what, subscription_options how);
    subscription_state(const subscription_state&) = delete;
    subscription_state& operator=(const subscription_state&) = delete;

    /// From any thread.
    void start();
    bool end(std::string_view reason);
    [[nodiscard]] bool done() const;
    [[nodiscard]] bool here() const noexcept { return session_->talk().here(); }
    [[nodiscard]] json::object wait_until_listening();
    [[nodiscard]] subscription_end wait_until_over();

    [[nodiscard]] bool wants(const std::string& uri) const { return uris_.contains(uri); }
    /// Which request of ours a notification names (2026-07-28).
    [[nodiscard]] static std::optional<std::int64_t> request_of(const json::object& params);
    /// On the loop: a notification that may be ours.
    void take(std::string_view method, const json::object& params);

private:
    using by = subscription_end::by;

    void begin();
    void listen();
    void subscribe();
    void take_back(std::string_view reason);
    void listening(json::object agreed);
    void ended(subscription_end how);
    void over(subscription_end how);
    void stop();
    void tell(std::string_view method, const json::object& params);
    [[nodiscard]] bool wanted(std::string_view method, const json::object& params) const;
    [[nodiscard]] bool modern() const noexcept;

    struct cancelled {
        subscription_state* self;
        void operator()() const noexcept { self->on_cancel(); }
    };
    void on_cancel() noexcept;

    std::shared_ptr<client_session> session_;
    const subscription_filter filter_;
    const subscription_options options_;
    const std::unordered_set<std::string> uris_;
    const std::unordered_set<std::string> tasks_;
    event_loop::timer pause_timer_;
    duration pause_;
    time_point listening_since_{};
    std::vector<std::shared_ptr<outgoing_call>> asked_;
    std::int64_t id_ = 0;
    std::size_t unanswered_ = 0;
    bool is_listening_ = false;
    active_request work_;  // in the table: it ends with the session
    cancel_token token_;
    std::optional<cancel_callback<cancelled>> callback_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<json::object> agreed_;
    std::optional<subscription_end> over_;
};

}  // namespace andon::detail
