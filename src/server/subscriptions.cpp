#include "server/subscriptions.hpp"

#include <array>

#include "andon/wire/message.hpp"
#include "server/call_state.hpp"
#include "server/server_session.hpp"
#include "server/task_desk.hpp"

namespace andon::detail {
namespace {

constexpr std::string_view resource_uris = "resourceSubscriptions";
constexpr std::string_view task_ids = "taskIds";
constexpr std::size_t most_uris = 10'000;  // of one subscription
constexpr std::size_t most_tasks = 1'000;

/// The lists by the capability that has them.
struct list_filter {
    std::string_view capability;
    std::string_view member;
    std::string_view method;
};
constexpr std::array<list_filter, 3> list_filters{
    {{"tools", "toolsListChanged", "notifications/tools/list_changed"},
     {"prompts", "promptsListChanged", "notifications/prompts/list_changed"},
     {"resources", "resourcesListChanged", "notifications/resources/list_changed"}}};

std::size_t list_of(offered kind) noexcept { return kind == offered::tool ? 0 : kind == offered::prompt ? 1 : 2; }

struct nothing {
    [[nodiscard]] static handler_result written() { return {}; }
};

[[noreturn]] void refuse(std::string_view member, std::string_view kind) {
    throw rpc_error(error_code::invalid_params, "\"" + std::string(member) + "\" must be " + std::string(kind));
}

/// Those of a list of names that is not longer than that.
std::vector<std::string> names_in(const json::object& from, std::string_view member, std::size_t most) {
    const json::value* const names = from.if_contains(member);
    if (names == nullptr) return {};
    if (!names->is_array()) refuse(member, "an array of strings");
    if (names->get_array().size() > most) {
        throw rpc_error(error_code::invalid_params, "\"" + std::string(member) + "\" has more than " +
                                                        std::to_string(most) + ": use several subscriptions");
    }
    std::vector<std::string> found;
    for (const json::value& name : names->get_array()) {
        if (!name.is_string()) refuse(member, "an array of strings");
        found.emplace_back(name.get_string());
    }
    return found;
}

}  // namespace

std::string_view list_changed_method(offered kind) noexcept { return list_filters[list_of(kind)].method; }

json::object agreed_filter(const json::object& params, const json::object& capabilities, bool tasks) {
    const json::value* const asked = params.if_contains("notifications");
    if (asked == nullptr || !asked->is_object()) refuse("notifications", "an object");
    const json::object& wanted = asked->get_object();
    json::object agreed;
    for (const auto& [capability, member, method] : list_filters) {
        const json::value* const one = wanted.if_contains(member);
        if (one == nullptr) continue;
        if (!one->is_bool()) refuse(member, "true or false");
        if (one->get_bool() && capabilities.contains(capability)) agreed[member] = true;
    }
    static_cast<void>(names_in(wanted, resource_uris, most_uris));
    static_cast<void>(names_in(wanted, task_ids, most_tasks));
    if (wanted.contains(resource_uris) && capabilities.contains("resources")) {
        agreed[resource_uris] = wanted.at(resource_uris);
    }
    if (wanted.contains(task_ids) && tasks) agreed[task_ids] = wanted.at(task_ids);
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

class subscriptions::place {
public:
    place(subscriptions& in, call_state& of) noexcept : in_(in), of_(of) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
        for (audience& list : in_.by_list_) list.erase(&of_);
        leave(in_.by_uri_, uris_);
        leave(in_.by_task_, tasks_);
    }
    void join(const json::object& agreed) {
        for (std::size_t i = 0; i < list_filters.size(); ++i) {
            if (agreed.contains(list_filters[i].member)) in_.by_list_[i].insert(&of_);
        }
        uris_ = names_in(agreed, resource_uris, most_uris);
        tasks_ = names_in(agreed, task_ids, most_tasks);
        for (const std::string& uri : uris_) in_.by_uri_[uri].insert(&of_);
        for (const std::string& id : tasks_) in_.by_task_[id].insert(&of_);
    }
    [[nodiscard]] const std::vector<std::string>& tasks() const noexcept { return tasks_; }

private:
    void leave(audiences& all, const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            const auto found = all.find(name);
            if (found == all.end()) continue;  // it was named twice
            found->second.erase(&of_);
            if (found->second.empty()) all.erase(found);
        }
    }

    subscriptions& in_;
    call_state& of_;
    std::vector<std::string> uris_;
    std::vector<std::string> tasks_;
};

async<void> subscriptions::listen(json::object agreed, call& call) {
    call_state& state = *call.state_;
    if (agreed.contains(task_ids)) {
        const auto known = co_await desk_->known(names_in(agreed, task_ids, most_tasks), call);
        agreed[task_ids] = json::array(known.begin(), known.end());
    }
    // Before anything else can be said on it (SUB-3).
    const json::object acknowledged{{"notifications", agreed}};
    state.tell(subscription_message(state.raw_id(), "notifications/subscriptions/acknowledged", acknowledged));
    place here(*this, state);
    here.join(agreed);
    // What happened before the client could listen.
    if (!here.tasks().empty()) co_await desk_->tell_all(here.tasks(), call);
    co_await call.async_cancelled();
}

/// A reader that is too slow has missed something. It is told so by the end: whoever listens again asks how things are.
void subscriptions::tell(call_state& one, std::string_view method, std::string_view raw_members) {
    if (one.tell(raw_subscription_message(one.raw_id(), method, raw_members)) || one.token().cancelled()) return;
    one.talk().post([token = one.token()] {
        token.state()->cancel(cancel_cause::timeout, "the reader is too slow", std::chrono::steady_clock::now());
    });
}

void subscriptions::tell(const audience& all, std::string_view method, std::string_view raw_members) {
    for (call_state* const each : all) tell(*each, method, raw_members);
}

void subscriptions::tell_task(const call& to, std::string_view raw_members) {
    tell(*to.state_, "notifications/tasks", raw_members);
}

void subscriptions::list_changed(offered kind) { tell(by_list_[list_of(kind)], list_changed_method(kind), {}); }

void subscriptions::resource_changed(const std::string& uri) {
    const std::string raw_members = R"("uri":)" + json_quoted(uri);
    if (const auto found = by_uri_.find(uri); found != by_uri_.end()) {
        tell(found->second, "notifications/resources/updated", raw_members);
    }
    const auto found = sessions_.find(uri);
    if (found == sessions_.end()) return;
    for (server_session* const each : found->second) {
        each->talk().send(raw_notification_message("notifications/resources/updated", raw_members));
    }
}

void subscriptions::task_changed(const std::string& id, std::string_view raw_members) {
    const auto found = by_task_.find(id);
    if (found != by_task_.end()) tell(found->second, "notifications/tasks", raw_members);
}

bool subscriptions::remove(server_session& session, const std::string& uri) {
    const auto found = sessions_.find(uri);
    if (found == sessions_.end() || found->second.erase(&session) == 0) return false;
    if (found->second.empty()) sessions_.erase(found);
    return true;
}

}  // namespace andon::detail
