// One client of a server.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "andon/server/server.hpp"
#include "server/call_state.hpp"
#include "server/http_service.hpp"
#include "server/input_state.hpp"
#include "server/message_level.hpp"
#include "server/registry.hpp"
#include "server/scheduler.hpp"
#include "server/subscriptions.hpp"
#include "server/task_desk.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

/// What the sessions of a server share.
struct server_facilities {
    explicit server_facilities(server_options given);

    [[nodiscard]] json::object implementation() const;
    [[nodiscard]] json::object capabilities() const;

    void call_began() noexcept { live_calls.fetch_add(1, std::memory_order_relaxed); }
    /// From any thread. Once the server is leaving, the last one ends the loop.
    void call_ended() noexcept {
        if (live_calls.fetch_sub(1) == 1 && leaving) around->loop.stop();
    }
    /// Ends the loop when no call is left. True: none is.
    bool leave_when_idle() noexcept {
        leaving = true;
        if (live_calls != 0) return false;
        around->loop.stop();
        return true;
    }

    server_options options;
    std::atomic<std::size_t> live_calls = 0;
    std::atomic<bool> leaving = false;
    std::shared_ptr<conversation::surroundings> around;
    registry offers;
    subscriptions listeners;  // the loop's
    task_desk tasks;
    input_state states;
    std::mutex hooks_mutex;
    std::shared_ptr<const std::function<void(call&)>> before;
    std::shared_ptr<const std::function<void(call&)>> after;
    scheduler turns;  // last: its threads use the rest
};

class server_session final : public std::enable_shared_from_this<server_session>,
                             public conversation::owner,
                             public http_service::guest {
public:
    server_session(std::shared_ptr<server_facilities> with, std::unique_ptr<transport> over,
                   std::function<void()> on_end, bool stateless = false);

    // On the loop.
    void open();
    void close(cancel_cause cause, std::string_view why) override;
    [[nodiscard]] bool accepted() const noexcept override { return conversation_->protocol().established(); }
    void list_changed(offered kind);

    // From any thread.
    [[nodiscard]] server_facilities& facilities() noexcept { return *facilities_; }
    [[nodiscard]] conversation& talk() noexcept override { return *conversation_; }
    /// Arguments that calls in flight hold.
    void hold_bytes(std::size_t bytes) noexcept { bytes_held_.fetch_add(bytes, std::memory_order_relaxed); }
    void give_back_bytes(std::size_t bytes) noexcept { bytes_held_.fetch_sub(bytes, std::memory_order_relaxed); }
    /// From which level on a legacy session wants log messages.
    [[nodiscard]] message_level log_level() const noexcept { return log_level_.load(std::memory_order_relaxed); }
    [[nodiscard]] const std::string& raw_server_meta() const noexcept { return raw_server_meta_; }

private:
    void on_request(incoming_request request, const envelope& message) override;
    void on_notification(const envelope& message) override;
    void on_established() override;
    void on_ended(std::string_view why) override;

    /// How a tool is run for that client.
    struct way_to_run {
        bool may_be_task = false;
        bool at_once = false;
        std::optional<std::chrono::milliseconds> ttl{};
    };
    [[nodiscard]] way_to_run how_to_run(const handler_entry& tool, const json::object& params,
                                        const client_facts& client, const revision_policy& policy) const;
    [[nodiscard]] begin_options options_for(const envelope& message) const;
    /// Null: it was answered. Throws rpc_error.
    [[nodiscard]] std::shared_ptr<const handler_entry> find_handler(const incoming_request& request,
                                                                    std::string_view method, json::object& params,
                                                                    json::value& arguments);
    [[nodiscard]] std::string list(std::string_view method, const json::object& params, const revision_policy& policy);
    [[nodiscard]] std::shared_ptr<const client_facts> facts_of(const incoming_request& request,
                                                               const envelope& message) const;
    void set_log_level(const json::object& params);
    void subscribe(const json::object& params, bool wanted);
    void answer(incoming_request request, std::string_view line, int code = 0);

    std::shared_ptr<server_facilities> facilities_;
    std::function<void()> on_end_;
    std::shared_ptr<conversation> conversation_;
    std::shared_ptr<const client_facts> legacy_client_;
    std::string raw_server_meta_;
    std::unordered_set<std::string> subscribed_;  // up to 2025-11-25; the loop's
    std::atomic<std::size_t> bytes_held_ = 0;
    std::atomic<message_level> log_level_ = message_level::info;
};

/// `members` as a whole result of that revision.
[[nodiscard]] std::string whole_result(std::string_view raw_members, const revision_policy& policy,
                                       std::string_view raw_meta);

}  // namespace andon::detail
