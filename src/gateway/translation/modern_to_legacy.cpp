#include "gateway/translation/modern_to_legacy.hpp"

#include <algorithm>
#include <array>

#include "andon/core/visible_text.hpp"
#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation/capabilities.hpp"
#include "gateway/translation/errors.hpp"
#include "gateway/translation/meta.hpp"
#include "gateway/translation/raw_json.hpp"
#include "gateway/translation/results.hpp"
#include "server/message_level.hpp"

namespace andon::gateway {
namespace {

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& all, std::string_view one) noexcept {
    return std::find(all.begin(), all.end(), one) != all.end();
}

/// What the modern revision has left out, and what to use instead.
std::string_view instead_of(std::string_view method) noexcept {
    if (method == "initialize") return "every request speaks for itself";
    if (method == "ping") return "use server/discover";
    if (method == "logging/setLevel") return "use io.modelcontextprotocol/logLevel in _meta";
    if (method == "resources/subscribe" || method == "resources/unsubscribe") return "use subscriptions/listen";
    return {};
}

const revision_policy& agreed_revision(const raw_object& initialized) {
    const auto name = string_from_json(initialized.at("protocolVersion"));
    const auto which = revision_from(name.value_or(""));
    if (!which || era_of(*which) != era::legacy) {
        throw translation_fault("the server answered initialize with a revision that is not known: " +
                                visible_text(name.value_or(""), 64));
    }
    return policy_of(*which);
}

std::optional<message_level> level_in(const raw_object& meta) {
    const std::string_view raw = meta.at(meta_key::log_level);
    if (raw.empty()) return std::nullopt;
    const auto level = detail::message_level_from(string_from_json(raw).value_or(""));
    if (!level) throw translation_fault("there is no such log level");
    return level;
}

std::string of_string(std::string_view raw) { return is_raw_string(raw) ? std::string(raw) : std::string(); }

}  // namespace

std::variant<std::string, refusal> modern_to_legacy::initialize_params(std::string_view raw_meta, revision asked) try {
    const raw_object meta(raw_meta, "_meta");
    raw_writer to;
    to.add("protocolVersion", json_quoted(to_string(asked)));
    to.add("capabilities", client_capabilities(meta.at(meta_key::client_capabilities)));
    to.add("clientInfo", implementation(meta.at(meta_key::client_info), "andon"));
    return std::move(to).done();
} catch (const translation_fault& fault) {
    return refusal{error_code::invalid_params, fault.what()};
}

modern_to_legacy::modern_to_legacy(std::string_view raw_initialize_result) : subscriptions_({}) {
    const raw_object initialized(raw_initialize_result, "the answer to initialize");
    const std::string_view raw_capabilities = initialized.at("capabilities");
    server_ = &agreed_revision(initialized);
    raw_capabilities_ = server_capabilities(raw_capabilities);
    raw_server_info_ = implementation(initialized.at("serverInfo"), "server");
    raw_instructions_ = of_string(initialized.at("instructions"));
    logs_ = declares(raw_capabilities, "logging");
    tasks_ = declares(raw_capabilities, "tasks");
    subscriptions_ = split_subscriptions(changes_announced(raw_capabilities));
}

std::variant<modern_to_legacy, refusal> modern_to_legacy::begin(std::string_view raw_initialize_result) try {
    return modern_to_legacy(raw_initialize_result);
} catch (const translation_fault& fault) {
    return refusal{error_code::internal_error, fault.what()};
}

std::string modern_to_legacy::discover_result(std::span<const revision> served) const {
    std::string versions = "[";
    for (auto which = served.rbegin(); which != served.rend(); ++which) {
        if (versions.size() > 1) versions += ',';
        versions += json_quoted(to_string(*which));
    }
    raw_writer meta;
    meta.add(meta_key::server_info, raw_server_info_);
    raw_writer to;
    to.add("resultType", "\"complete\"").add("supportedVersions", versions += ']');
    to.add("capabilities", raw_capabilities_);
    if (!raw_instructions_.empty()) to.add("instructions", raw_instructions_);
    to.add("ttlMs", "0").add("cacheScope", "\"private\"").add("_meta", std::move(meta).done());
    return std::move(to).done();
}

modern_to_legacy::step modern_to_legacy::request(std::string_view method, std::string_view raw_params,
                                                 std::string_view raw_progress_token) try {
    static constexpr std::array<std::string_view, 3> may_ask{"tools/call", "prompts/get", "resources/read"};
    if (method == "server/discover") return discover{};
    if (method == "subscriptions/listen") return listen{};
    if (const std::string_view other = instead_of(method); !other.empty()) {
        return refusal{error_code::method_not_found,
                       "Method not found: 2026-07-28 has no " + std::string(method) + ": " + std::string(other)};
    }
    if (method.substr(0, 6) == "tasks/") {
        return refusal{error_code::method_not_found,
                       "Method not found: tasks are not translated between 2026-07-28 and " +
                           std::string(to_string(server_->which)) + ": the server makes none for this client"};
    }
    const raw_object params(raw_params, "params");
    const std::string_view raw_meta = params.at("_meta");
    forwarded onward;
    onward.log_level = level_in(raw_object(raw_meta, "_meta"));
    raw_writer meta;
    add_meta_of_request(raw_meta, raw_progress_token, meta);
    raw_writer to;
    if (!meta.empty()) to.add("_meta", std::move(meta).done());
    for (const raw_member& member : params.members()) {
        if (is_one_of(may_ask, method) && (member.is("inputResponses") || member.is("requestState"))) {
            return refusal{error_code::invalid_params,
                           "requestState and inputResponses: the server behind this has asked for no input"};
        }
        // The word of another dialect, by which the server would make a task that the client could not follow.
        const bool asks_for_task = member.is("task") && method == "tools/call";
        if (!member.is("_meta") && !asks_for_task) to.add(member);
    }
    onward.what = {std::string(method), std::move(to).done()};
    if (!logs_) {
        onward.log_level.reset();
    } else if (onward.log_level && (!level_of_server_ || *onward.log_level < *level_of_server_)) {
        level_of_server_ = onward.log_level;
        raw_writer level;
        level.add("level", json_quoted(detail::to_string(*onward.log_level)));
        onward.first = forward{"logging/setLevel", std::move(level).done()};
    }
    return onward;
} catch (const translation_fault& fault) {
    return refusal{error_code::invalid_params, fault.what()};
}

gateway::reply modern_to_legacy::result(std::string_view method, std::string_view raw_result) const try {
    const raw_object result(raw_result, "the server's result");
    const std::string_view raw_task = result.at("task");
    if (method != "tools/call" || !is_raw_object(raw_task) || !result.at("content").empty()) {
        return answer{result_for_modern(method, result, raw_server_info_)};
    }
    refusal refused{error_code::internal_error,
                    "the server made a task of the call, which is not translated between 2026-07-28 and " +
                        std::string(to_string(server_->which)) + ": use a client that speaks " +
                        std::string(to_string(server_->which))};
    const std::string_view raw_task_id = raw_object(raw_task, "the task").at("taskId");
    if (!is_raw_string(raw_task_id)) return refused;
    refused.message += ". The task was cancelled";
    raw_writer params;
    params.add("taskId", raw_task_id);
    refused.afterwards = forward{"tasks/cancel", std::move(params).done()};
    return refused;
} catch (const translation_fault& fault) {
    return refusal{error_code::internal_error, fault.what()};
}

std::string modern_to_legacy::error(std::string_view method, std::string_view raw_error) const {
    return error_for_modern(method, raw_error, tasks_);
}

std::string modern_to_legacy::listen_result(std::string_view raw_id) const {
    raw_writer meta;
    meta.add(meta_key::subscription_id, raw_id).add(meta_key::server_info, raw_server_info_);
    raw_writer to;
    to.add("resultType", "\"complete\"").add("_meta", std::move(meta).done());
    return std::move(to).done();
}

gateway::reply modern_to_legacy::server_request(std::string_view method) {
    if (method == "ping") return answer{"{}"};
    return refusal{error_code::method_not_found, "Method not found: the client speaks 2026-07-28 and cannot be asked " +
                                                     visible_text(method, 128) + ", as its capabilities say"};
}

std::optional<notification> modern_to_legacy::from_client(std::string_view method, std::string_view raw_params) const
    try {
    static constexpr std::array<std::string_view, 5> go_no_further{
        "notifications/initialized", "notifications/cancelled", "notifications/progress",
        "notifications/roots/list_changed", "notifications/tasks/status"};
    if (is_one_of(go_no_further, method)) return std::nullopt;
    return notification{std::string(method), notification_params(raw_params)};
} catch (const translation_fault&) {
    return std::nullopt;
}

modern_to_legacy::news modern_to_legacy::from_server(std::string_view method, std::string_view raw_params) const try {
    static constexpr std::array<std::string_view, 3> go_no_further{
        "notifications/cancelled", "notifications/tasks/status", "notifications/elicitation/complete"};
    // Of this revision, and never of a server that does not speak it.
    static constexpr std::array<std::string_view, 2> modern_only{"notifications/subscriptions/acknowledged",
                                                                 "notifications/tasks"};
    if (is_one_of(go_no_further, method) || is_one_of(modern_only, method)) return std::monostate{};
    if (is_change(method)) return subscriptions_.change(method, raw_params);
    notification what{std::string(method), notification_params(raw_params)};
    if (method != "notifications/message") return what;
    const auto name = string_from_json(raw_object(raw_params, "params").at("level"));
    const auto level = detail::message_level_from(name.value_or(""));
    if (!level) return std::monostate{};
    return log_message{*level, std::move(what)};
} catch (const translation_fault&) {
    return std::monostate{};
}

}  // namespace andon::gateway
