// Tasks and subscriptions of the plain server.
#include <chrono>
#include <random>
#include <thread>

#include "check/plain_messages.hpp"
#include "check/plain_server.hpp"

namespace broken {

using namespace std::chrono_literals;

std::string plain_server::new_task_id() {
    if (has("TASK_5_counts_its_tasks")) return "task-000000000000000" + std::to_string(++made_tasks_);
    static std::random_device random;
    std::string id;
    for (int i = 0; i < 32; ++i) id += "0123456789abcdef"[random() % 16];
    return id;
}

json::object plain_server::task_view(const std::string& id, bool modern) {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(id);
    const std::string state = found == tasks_.end() ? "" : found->second.state;
    return {{"taskId", id},
            {"status", state},
            {"createdAt", "2026-01-01T00:00:00Z"},
            {"lastUpdatedAt", "2026-01-01T00:00:00Z"},
            {modern ? "ttlMs" : "ttl", 60'000}};
}

void plain_server::tasks(const json::object& message, const std::shared_ptr<channel>& from) {
    const json::object params = member(message, "params");
    const json::value& id = message.at("id");
    const json::value* const given = params.if_contains("taskId");
    const std::string task_id(given != nullptr && given->is_string() ? std::string(given->get_string()) : "");
    const json::object capabilities = member(member(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
    const auto reply = [&](const json::object& what) {
        from->send(what);
        from->end();
    };
    if (from->modern && !member(capabilities, "extensions").contains("io.modelcontextprotocol/tasks")) {
        return reply(error(id, -32021, "the tasks extension is needed"));
    }
    bool known = false;
    bool over = false;
    {
        const std::lock_guard lock(mutex_);
        const auto found = tasks_.find(task_id);
        known = found != tasks_.end();
        over = known && ended(found->second.state);
    }
    if (!known) return reply(error(id, -32602, "no such task"));
    if (message.at("method") == "tasks/get") return reply(answer(id, task_view(task_id, from->modern), from->modern));
    if (message.at("method") != "tasks/cancel") return reply(error(id, -32601, "Method not found"));
    if (over && !from->modern && !has("TASK_2_cancels_what_has_ended")) return reply(error(id, -32602, "it has ended"));
    const bool answers_first = has("TASK_1_answers_before_it_is_cancelled");
    const json::object before = task_view(task_id, from->modern);
    {
        const std::lock_guard lock(mutex_);
        task& its = tasks_[task_id];
        if (!over) its.state = "cancelled";
        cancel(its.call);
    }
    if (from->modern)
        return reply(answer(id, has("TASK_4_answers_with_the_task") ? task_view(task_id, true) : json::object(), true));
    reply(answer(id, answers_first ? before : task_view(task_id, false), false));
}

void plain_server::listen(const json::object& message, const std::shared_ptr<channel>& from) {
    const json::value& id = message.at("id");
    const json::object wanted = member(member(message, "params"), "notifications");
    json::object agreed;
    if (wanted.contains("toolsListChanged") || has("SUB_3_agrees_to_what_was_not_asked"))
        agreed["toolsListChanged"] = true;
    {
        const std::lock_guard lock(mutex_);
        listening_.emplace_back(id, from);
    }
    const json::object meta{{"io.modelcontextprotocol/subscriptionId", id}};
    if (has("SUB_3_sends_before_it_acknowledges")) {
        from->send(notification("notifications/tools/list_changed", {{"_meta", meta}}));
    }
    from->send(notification("notifications/subscriptions/acknowledged",
                            {{"_meta", meta}, {"notifications", std::move(agreed)}}));
    if (!has("SUB_1_sends_after_the_end")) return;
    std::thread([from, meta] {
        for (int i = 0; i < 100; ++i) {
            std::this_thread::sleep_for(200ms);
            from->send(notification("notifications/tools/list_changed", {{"_meta", meta}}));
        }
    }).detach();
}

}  // namespace broken
