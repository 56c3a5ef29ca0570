// What clients of 2026-07-28 listen to.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "andon/core/async.hpp"
#include "andon/server/call.hpp"
#include "server/registry.hpp"

namespace andon::detail {

class call_state;

/// The `subscriptions/listen` in flight. Each is a call that waits for its cancel and nothing else: whether it ends by
/// the client's notification, its disconnect, an operator or the shutdown is the call's business, as with any other.
/// On the loop's thread.
class subscriptions {
public:
    subscriptions();
    subscriptions(const subscriptions&) = delete;
    subscriptions& operator=(const subscriptions&) = delete;

    /// Takes what agreed_filter() gave.
    [[nodiscard]] const std::shared_ptr<const handler_entry>& listening() const noexcept { return listening_; }

    void list_changed(offered kind);
    void resource_changed(std::string_view uri);

private:
    struct one {
        call_state* of;
        json::object wants;
        std::unordered_set<std::string> uris;
    };
    async<void> listen(json::object agreed, call& call);

    std::list<one> all_;
    std::shared_ptr<const handler_entry> listening_;
};

/// What the client asks to hear of, as far as a server of these capabilities tells it. Throws rpc_error.
[[nodiscard]] json::object agreed_filter(const json::object& params, const json::object& capabilities);
/// `notifications/tools/list_changed` and so on.
[[nodiscard]] std::string_view list_changed_method(offered kind) noexcept;

}  // namespace andon::detail
