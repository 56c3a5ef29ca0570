// Who hears of what: the subscriptions of every revision.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "andon/core/async.hpp"
#include "andon/server/call.hpp"
#include "server/registry.hpp"

namespace andon::detail {

class call_state;
class server_session;
class task_desk;

/// The `subscriptions/listen` in flight (2026-07-28). Each is a call that waits for its cancel and nothing else:
/// whether it ends by the client's notification, its disconnect, an operator or the shutdown is the call's business, as
/// with any other. Beside them the sessions that have subscribed to resources (before). Both by what they listen to, so
/// that an event costs what it has listeners. On the loop's thread.
class subscriptions {
public:
    subscriptions();
    subscriptions(const subscriptions&) = delete;
    subscriptions& operator=(const subscriptions&) = delete;
    /// Before anybody listens.
    void ask_about_tasks(task_desk& desk) noexcept { desk_ = &desk; }

    /// Takes what agreed_filter() gave.
    [[nodiscard]] const std::shared_ptr<const handler_entry>& listening() const noexcept { return listening_; }

    void list_changed(offered kind);
    void resource_changed(const std::string& uri);
    void task_changed(const std::string& id, std::string_view raw_members);
    [[nodiscard]] bool hear_of_task(const std::string& id) const { return by_task_.contains(id); }

    /// `resources/subscribe`. False: that is so already.
    bool add(server_session& session, const std::string& uri) { return sessions_[uri].insert(&session).second; }
    bool remove(server_session& session, const std::string& uri);

    /// On one subscription.
    static void tell_task(const call& to, std::string_view raw_members);

private:
    /// Those of one subscription: out of every audience when it ends.
    class place;
    using audience = std::unordered_set<call_state*>;
    using audiences = std::unordered_map<std::string, audience>;

    async<void> listen(json::object agreed, call& call);
    static void tell(const audience& all, std::string_view method, std::string_view raw_members);
    static void tell(call_state& one, std::string_view method, std::string_view raw_members);

    task_desk* desk_ = nullptr;
    std::array<audience, 3> by_list_;
    audiences by_uri_;
    audiences by_task_;
    std::unordered_map<std::string, std::unordered_set<server_session*>> sessions_;
    std::shared_ptr<const handler_entry> listening_;
};

/// What the client asks to hear of, as far as a server of these capabilities tells it. Throws rpc_error.
[[nodiscard]] json::object agreed_filter(const json::object& params, const json::object& capabilities, bool tasks);
/// `notifications/tools/list_changed` and so on.
[[nodiscard]] std::string_view list_changed_method(offered kind) noexcept;

}  // namespace andon::detail
