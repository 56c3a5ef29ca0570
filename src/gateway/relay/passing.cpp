#include "gateway/relay/passing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/relayed_question.hpp"

namespace andon::gateway {
namespace {

/// By a request about one task, or a subscription to some.
std::vector<std::string> tasks_named_by(const relayed_call& call) {
    std::vector<std::string> named;
    const bool listens = call.method() == "subscriptions/listen";
    if (!listens && !call.method().starts_with("tasks/")) return named;
    const auto params = object_from_json(call.raw_params());
    if (!params) return named;
    const json::value* ids = params->if_contains("taskId");
    if (listens) {
        const json::value* const filter = params->if_contains("notifications");
        ids = filter != nullptr && filter->is_object() ? filter->get_object().if_contains("taskIds") : nullptr;
    }
    if (ids != nullptr && ids->is_string()) named.emplace_back(ids->get_string());
    if (ids == nullptr || !ids->is_array()) return named;
    for (const json::value& each : ids->get_array()) {
        if (each.is_string()) named.emplace_back(each.get_string());
    }
    return named;
}

}  // namespace

void passing::on_request(const std::shared_ptr<relayed_call>& call) {
    const bool modern = era_of(call->speaks()) == era::modern;
    if (modern && !std::exchange(modern_, true)) with_.way.agreed(call->speaks());
    if (!modern && !with_.stateless) learn_from(*call);
    if (modern) {
        if (!may_ask(*call)) {
            return call->fail(error_code::invalid_params, "there is no such task, or none any more", call_end::refused);
        }
        if (const auto at = place_of_task(*call)) return call->send(at);
        if (call->may_be_task()) learn_task_of(*call);
    }
    with_.way.send(call);
}

// Tasks of modern hosts.

void passing::learn_task_of(relayed_call& call) {
    call.filter([this, &call](const envelope& answer) {
        std::string id = answer.kind == message_kind::result ? task_in(answer.raw_result) : std::string();
        if (!id.empty() && tasks_.try_emplace(id, known_task{call.owner(), call.via()}).second) {
            oldest_task_.push_back(std::move(id));
            if (oldest_task_.size() > most_tasks) {
                tasks_.erase(oldest_task_.front());
                oldest_task_.pop_front();
            }
        }
        return std::optional<rewritten_answer>();
    });
}

/// Behind one process the server cannot tell hosts apart: we do, where they have names.
bool passing::may_ask(const relayed_call& call) const {
    if (!with_.stateless || call.owner().empty()) return true;
    return std::ranges::all_of(tasks_named_by(call), [&](const std::string& each) {
        const auto found = tasks_.find(each);
        return found != tasks_.end() && found->second.owner == call.owner();
    });
}

std::shared_ptr<upstream> passing::place_of_task(const relayed_call& call) const {
    if (tasks_.empty()) return nullptr;
    for (const std::string& each : tasks_named_by(call)) {
        const auto found = tasks_.find(each);
        auto at = found != tasks_.end() ? found->second.at.lock() : nullptr;
        if (at && at->where() == upstream::state::ready) return at;
    }
    return nullptr;
}

/// What a process that is started later has to be told.
void passing::learn_from(relayed_call& call) {
    const std::string& method = call.method();
    const bool subscribes = method == "resources/subscribe";
    if (method != "initialize" && method != "logging/setLevel" && !subscribes && method != "resources/unsubscribe") {
        return;
    }
    if (method == "initialize") {
        call.on_first_answer([this](relayed_call& which, const envelope& answer) {
            return answer.kind == message_kind::error && refused_ && refused_(which, answer);
        });
    }
    call.filter([this, method, subscribes, params = call.raw_params()](const envelope& answer) {
        if (answer.kind != message_kind::result) return std::optional<rewritten_answer>();
        if (method == "initialize") {
            with_.way.remember_initialize(params);
            agreed(answer);
        } else if (method == "logging/setLevel") {
            with_.way.remember_log_level(params);
        } else {
            with_.way.remember_subscription(params, subscribes);
        }
        return std::optional<rewritten_answer>();
    });
}

void passing::agreed(const envelope& answer) {
    const auto result = object_from_json(answer.raw_result);
    const json::value* const version = result ? result->if_contains("protocolVersion") : nullptr;
    if (version == nullptr || !version->is_string()) return;
    // One that is newer than we are is passed on all the same.
    const revision which = revision_from(std::string_view(version->get_string())).value_or(newest_legacy);
    modern_ = false;
    with_.host->adopt(which);
    with_.way.agreed(which);
}

void passing::on_notification(const envelope& message) {
    if (message.method == "notifications/initialized") with_.way.remember_initialized();
    with_.way.notify(on_one_line(whole_notification_message(message.method, message.raw_params)));
}

void passing::on_server_request(upstream& from, detail::incoming_request request, const envelope& message) {
    relayed_call* const only = from.only_call();
    const auto question =
        std::make_shared<relayed_question>(from.shared_from_this(), with_.host, std::move(request), message);
    if (only != nullptr) only->comes_with(question);
    question->send(static_cast<std::int64_t>(with_.desk.next_number()),
                   only != nullptr ? only->to_host().reply : nullptr);
}

void passing::on_server_notification(upstream& from, const envelope& message) {
    if (!message.raw_subscription.empty()) {
        std::string storage;
        const auto id = id_from_json(message.raw_subscription, storage);
        const auto call = id && !id->is_string() ? with_.desk.find(static_cast<std::uint64_t>(id->number())) : nullptr;
        // Another host's is not ours to tell (DIR-6).
        if (!call || !from.is_running(*call)) return;
        return call->tell_host(on_one_line(whole_notification_message(
            message.method, spliced(message.raw_params, message.raw_subscription, call->raw_id()))));
    }
    relayed_call* const only = with_.stateless ? from.only_speaker() : from.only_call();
    const std::string line = on_one_line(whole_notification_message(message.method, message.raw_params));
    if (only != nullptr && message.method == "notifications/message") return only->tell_host(line);
    if (!with_.stateless) with_.host->send(line);
}

}  // namespace andon::gateway
