#include "client/client_session.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "andon/core/visible_text.hpp"
#include "client/question.hpp"
#include "client/subscription_state.hpp"
#include "client/task_following.hpp"

namespace andon::detail {
namespace {

json::object object_from(std::string_view raw) { return object_from_json(raw).value_or(json::object()); }

peer_settings settings_of(const client_options& options) {
    peer_settings settings{.role = peer_role::client,
                           .implementation = {{"name", options.name}, {"version", options.version}},
                           .capabilities = options.capabilities,
                           .revisions = options.revisions,
                           .probe_timeout = options.probe_timeout,
                           .handshake_timeout = options.connect_timeout};
    const auto declare = [&](std::string_view name, const question_handler& handler) {
        if (handler && !settings.capabilities.contains(name)) settings.capabilities[name] = json::object();
    };
    declare("sampling", options.on_sampling);
    declare("elicitation", options.on_elicitation);
    declare("roots", options.on_roots);
    settings.tasks_extension = options.tasks;
    settings.task_requests = hosted_tasks::declared_by(options);
    return settings;
}

}  // namespace

client_session::client_session(client_options options, std::unique_ptr<transport> over)
    : options_(std::move(options)),
      around_(std::make_shared<conversation::surroundings>()),
      turns_(around_->loop, options_.workers) {
    around_->log = log_sink(options_.log);
    conversation_ = std::make_shared<conversation>(around_, settings_of(options_), std::move(over), *this);
}

void client_session::wait_until_established() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return established_ || ended_; });
    if (!established_) throw std::runtime_error("no session with the server: " + *ended_);
}

void client_session::on_established() {
    const std::lock_guard lock(mutex_);
    established_ = true;
    changed_.notify_all();
}

void client_session::on_ended(std::string_view why) {
    tasks_.end();
    const std::lock_guard lock(mutex_);
    ended_ = std::string(why);
    changed_.notify_all();
}

const question_handler* client_session::handler_of(std::string_view method) const noexcept {
    const question_handler* const handler = method == "sampling/createMessage" ? &options_.on_sampling
                                            : method == "elicitation/create"   ? &options_.on_elicitation
                                            : method == "roots/list"           ? &options_.on_roots
                                                                               : nullptr;
    return handler != nullptr && *handler ? handler : nullptr;
}

void client_session::on_request(incoming_request request, const envelope& message) {
    if (tasks_.take(request, message)) return;
    const question_handler* const handler = handler_of(message.method);
    if (handler == nullptr) {
        const bool ours = request.request.begin_response();
        request.request.finish(std::chrono::steady_clock::now());
        const std::string line = error_message(message.raw_id, error_code::method_not_found,
                                               "Method not found: " + visible_text(message.method, 128));
        return conversation_->answer(request.to, ours ? line : std::string());
    }
    (new question(shared_from_this(), std::move(request), std::string(message.raw_id), object_from(message.raw_params),
                  *handler))
        ->dispatch();
}

void client_session::learn(const json::array& tools) {
    std::unordered_map<std::string, tool_tasks> listed;
    for (const json::value& each : tools) {
        const json::object* const tool = each.if_object();
        const json::value* const name = tool != nullptr ? tool->if_contains("name") : nullptr;
        if (name == nullptr || !name->is_string()) continue;
        const json::value* const execution = tool->if_contains("execution");
        const json::value* const support = execution != nullptr && execution->is_object()
                                               ? execution->get_object().if_contains("taskSupport")
                                               : nullptr;
        tool_tasks use = tool_tasks::forbidden;
        if (support != nullptr && *support == "optional") use = tool_tasks::optional;
        if (support != nullptr && *support == "required") use = tool_tasks::required;
        listed.insert_or_assign(std::string(name->get_string()), use);
    }
    const std::lock_guard lock(mutex_);
    tools_ = std::move(listed);
}

tool_tasks client_session::tasks_of(std::string_view tool) {
    const std::lock_guard lock(mutex_);
    const auto found = tools_.find(std::string(tool));
    return found == tools_.end() ? tool_tasks::not_listed : found->second;
}

void client_session::cancel_task(const std::string& id) {
    {
        const std::lock_guard lock(mutex_);
        ++cancels_;
    }
    if (conversation_->here()) return send_cancel(id);
    conversation_->post([self = shared_from_this(), id] { self->send_cancel(id); });
}

void client_session::send_cancel(const std::string& id) {
    if (conversation_->closed()) return cancel_heard();
    const auto asked = conversation_->request({.method = "tasks/cancel", .params = {{"taskId", id}}, .at_once = true},
                                              {.idle = options_.timeout});
    const auto told = [self = shared_from_this(), asked] {
        self->cancel_heard();
        const call_outcome& outcome = asked->outcome();
        // It may have ended meanwhile, or be forgotten.
        if (outcome.completed() || outcome.code == error_code::invalid_params) return;
        self->conversation_->log(log_level::warning,
                                 "a task may not have been cancelled: " + std::string(to_string(outcome.status)) + ' ' +
                                     visible_text(outcome.message, 256));
    };
    if (!asked->then(told)) told();
}

void client_session::cancel_heard() {
    const std::lock_guard lock(mutex_);
    --cancels_;
    changed_.notify_all();
}

void client_session::wait_for_cancels(duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return cancels_ == 0 || ended_; });
}

/// The call was given up, and the server has made a task of it before it heard of that.
void client_session::on_late_result(const envelope& message) {
    const auto task = task_following::created_by(object_from(message.raw_result));
    if (task) cancel_task(task_following::report_from(*task).id);
}

bool client_session::another_listens_to(const std::string& uri, const subscription_state& than) const {
    return std::ranges::any_of(legacy_listeners_,
                               [&](const subscription_state* each) { return each != &than && each->wants(uri); });
}

void client_session::on_notification(const envelope& message) {
    if (!options_.on_notification && listeners_.empty() && legacy_listeners_.empty()) return;
    const json::object params = object_from(message.raw_params);
    if (const auto request = subscription_state::request_of(params)) {
        if (const auto found = listeners_.find(*request); found != listeners_.end()) {
            const auto alive = found->second->shared_from_this();
            alive->take(message.method, params);
        }
    }
    const std::vector<subscription_state*> all(legacy_listeners_.begin(), legacy_listeners_.end());
    for (subscription_state* const each : all) {
        if (!legacy_listeners_.contains(each)) continue;  // one of the others has ended it
        const auto alive = each->shared_from_this();
        alive->take(message.method, params);
    }
    if (!options_.on_notification) return;
    carefully(*conversation_, "on_notification", [&] { options_.on_notification(message.method, params); });
}

}  // namespace andon::detail
