#include "server/subscriptions.hpp"

#include <array>

#include "andon/wire/message.hpp"
#include "server/call_state.hpp"

namespace andon::detail {
namespace {

constexpr std::string_view resource_uris = "resourceSubscriptions";

/// The lists by the capability that has them.
struct list_filter {
    std::string_view capability;
    std::string_view member;
    std::string_view method;
};
constexpr std::array<list_filter, 3> lists{
    {{"tools", "toolsListChanged", "notifications/tools/list_changed"},
     {"prompts", "promptsListChanged", "notifications/prompts/list_changed"},
     {"resources", "resourcesListChanged", "notifications/resources/list_changed"}}};

const list_filter& list_of(offered kind) noexcept {
    return kind == offered::tool ? lists[0] : kind == offered::prompt ? lists[1] : lists[2];
}

struct nothing {
    [[nodiscard]] static handler_result written() { return {}; }
};

[[noreturn]] void refuse(std::string_view member, std::string_view kind) {
    throw rpc_error(error_code::invalid_params, "\"" + std::string(member) + "\" must be " + std::string(kind));
}

}  // namespace

std::string_view list_changed_method(offered kind) noexcept { return list_of(kind).method; }

json::object agreed_filter(const json::object& params, const json::object& capabilities) {
    const json::value* const asked = params.if_contains("notifications");
    if (asked == nullptr || !asked->is_object()) refuse("notifications", "an object");
    json::object agreed;
    for (const auto& [capability, member, method] : lists) {
        const json::value* const wanted = asked->get_object().if_contains(member);
        if (wanted == nullptr) continue;
        if (!wanted->is_bool()) refuse(member, "true or false");
        if (wanted->get_bool() && capabilities.contains(capability)) agreed[member] = true;
    }
    if (const json::value* const uris = asked->get_object().if_contains(resource_uris)) {
        if (!uris->is_array()) refuse(resource_uris, "an array of strings");
        for (const json::value& uri : uris->get_array()) {
            if (!uri.is_string()) refuse(resource_uris, "an array of strings");
        }
        if (capabilities.contains("resources")) agreed[resource_uris] = *uris;
    }
    return agreed;
}

subscriptions::subscriptions() {
    auto entry = std::make_shared<handler_entry>();
    entry->kind = offered::subscription;
    entry->name = "subscriptions/listen";
    entry->run =
        handler_from<nothing>([this](json::object agreed, call& call) { return listen(std::move(agreed), call); });
    listening_ = std::move(entry);
}

async<void> subscriptions::listen(json::object agreed, call& call) {
    call_state& state = *call.state_;
    one here{.of = &state, .wants = std::move(agreed), .uris = {}};
    if (const json::value* const uris = here.wants.if_contains(resource_uris)) {
        for (const json::value& uri : uris->get_array()) here.uris.emplace(uri.get_string());
    }
    // Before anything else can be said on it (SUB-3).
    const json::object acknowledged{{"notifications", here.wants}};
    state.tell(subscription_message(state.raw_id(), "notifications/subscriptions/acknowledged", acknowledged));
    const auto place = all_.insert(all_.end(), std::move(here));
    co_await call.async_cancelled();
    all_.erase(place);
}

void subscriptions::list_changed(offered kind) {
    const list_filter& list = list_of(kind);
    for (const one& each : all_) {
        if (each.wants.contains(list.member)) each.of->tell(subscription_message(each.of->raw_id(), list.method, {}));
    }
}

void subscriptions::resource_changed(std::string_view uri) {
    const std::string key(uri);
    for (const one& each : all_) {
        if (!each.uris.contains(key)) continue;
        each.of->tell(subscription_message(each.of->raw_id(), "notifications/resources/updated", {{"uri", uri}}));
    }
}

}  // namespace andon::detail
