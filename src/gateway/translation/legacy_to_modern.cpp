#include "gateway/translation/legacy_to_modern.hpp"

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

// They go with every request.
constexpr std::size_t longest_client_fact = 65'536;

constexpr std::string_view tasks_extension = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

const revision_policy& asked_revision(const raw_object& initialize) {
    const auto asked = string_from_json(initialize.at("protocolVersion"));
    if (!asked) throw translation_fault("initialize needs protocolVersion, a string");
    const auto which = revision_from(*asked);
    return policy_of(which && era_of(*which) == era::legacy ? *which : newest_legacy);
}

std::string checked_size(std::string text, std::string_view what) {
    if (text.size() > longest_client_fact) {
        throw translation_fault(std::string(what) + " of the client is longer than 64 KiB");
    }
    return text;
}

std::string client_info_of(const raw_object& initialize) {
    const std::string_view raw = initialize.at("clientInfo");
    return is_raw_object(raw) ? checked_size(implementation(raw, "client"), "clientInfo") : std::string();
}

std::string capabilities_of(const raw_object& initialize) {
    return checked_size(client_capabilities(initialize.at("capabilities")), "the capabilities");
}

/// The members of `_meta` that every request has.
std::string meta_members(revision speaks, std::string_view raw_info, std::string_view raw_capabilities) {
    raw_writer meta;
    meta.add(meta_key::version, json_quoted(to_string(speaks)));
    if (!raw_info.empty()) meta.add(meta_key::client_info, raw_info);
    meta.add(meta_key::client_capabilities, raw_capabilities);
    const std::string text = std::move(meta).done();
    return text.substr(1, text.size() - 2);
}

std::string braced(std::string_view raw_members) { return '{' + std::string(raw_members) + '}'; }

std::string written_initialize_result(const raw_object& discovered, const revision_policy& client) {
    const std::string_view raw_meta = discovered.at("_meta");
    raw_writer meta;
    add_meta_of_neither(raw_meta, meta);
    raw_writer to;
    to.add("protocolVersion", json_quoted(to_string(client.which)));
    to.add("capabilities", server_capabilities(discovered.at("capabilities")));
    to.add("serverInfo", implementation(raw_object(raw_meta, "_meta").at(meta_key::server_info), "server"));
    if (is_raw_string(discovered.at("instructions"))) to.add("instructions", discovered.at("instructions"));
    if (!meta.empty()) to.add("_meta", std::move(meta).done());
    return std::move(to).done();
}

bool is_of_tasks(std::string_view method) noexcept { return method.substr(0, 6) == "tasks/"; }

/// Modern methods that a legacy client can not mean.
bool is_modern_only(std::string_view method) noexcept {
    return method == "server/discover" || method == "subscriptions/listen";
}

std::string uri_in(std::string_view raw_params) {
    auto uri = string_from_json(raw_object(raw_params, "params").at("uri"));
    if (!uri) throw translation_fault("params must have \"uri\", a string");
    return std::move(*uri);
}

}  // namespace

legacy_to_modern::legacy_to_modern(std::string_view raw_initialize_params, revision server_speaks)
    : server_speaks_(server_speaks), subscription_({}, {}) {
    const raw_object initialize(raw_initialize_params, "params");
    client_ = &asked_revision(initialize);
    const std::string raw_info = client_info_of(initialize);
    raw_meta_ = meta_members(server_speaks, raw_info, capabilities_of(initialize));
    raw_meta_with_tasks_ = meta_members(server_speaks, raw_info, tasks_extension);
}

void legacy_to_modern::discovered(std::string_view raw_result) {
    const raw_object result(raw_result, "the answer to server/discover");
    const std::string_view raw_capabilities = result.at("capabilities");
    raw_initialize_result_ = written_initialize_result(result, *client_);
    logs_ = declares(raw_capabilities, "logging");
    subscription_ = merged_subscription(changes_announced(raw_capabilities), braced(raw_meta_));
}

std::variant<legacy_to_modern, refusal> legacy_to_modern::begin(std::string_view raw_initialize_params,
                                                                std::string_view raw_discover_result,
                                                                revision server_speaks) {
    int code = error_code::invalid_params;
    try {
        legacy_to_modern session(raw_initialize_params, server_speaks);
        code = error_code::internal_error;  // from here on it is the server's fault
        session.discovered(raw_discover_result);
        return session;
    } catch (const translation_fault& fault) {
        return refusal{code, fault.what()};
    }
}

forward legacy_to_modern::forwarded(std::string_view method, std::string_view raw_params,
                                    std::string_view raw_progress_token) const {
    const raw_object params(raw_params, "params");
    raw_writer meta;
    meta.add_members(raw_meta_);
    if (logs_) meta.add(meta_key::log_level, json_quoted(detail::to_string(log_level_)));
    add_meta_of_request(params.at("_meta"), raw_progress_token, meta);
    raw_writer to;
    to.add("_meta", std::move(meta).done());
    for (const raw_member& member : params.members()) {
        // Who was not told of tasks and asks for one is to have a plain call (2025-11-25).
        const bool asks_for_task = client_->task_requests && member.is("task") && method == "tools/call";
        if (!member.is("_meta") && !asks_for_task) to.add(member);
    }
    return {std::string(method), std::move(to).done()};
}

legacy_to_modern::step legacy_to_modern::set_level(std::string_view raw_params) {
    if (!logs_) return refusal{error_code::method_not_found, "Method not found: the server has no log messages"};
    const auto name = string_from_json(raw_object(raw_params, "params").at("level"));
    const auto level = detail::message_level_from(name.value_or(""));
    if (!level) return refusal{error_code::invalid_params, "there is no such log level"};
    log_level_ = *level;
    return answer{"{}"};
}

legacy_to_modern::step legacy_to_modern::request(std::string_view method, std::string_view raw_params,
                                                 std::string_view raw_progress_token) try {
    if (method == "ping") return answer{"{}"};
    if (method == "logging/setLevel") return set_level(raw_params);
    if (method == "resources/subscribe") return subscription_.subscribe(uri_in(raw_params));
    if (method == "resources/unsubscribe") return subscription_.unsubscribe(uri_in(raw_params));
    if (is_of_tasks(method)) {
        return refusal{error_code::method_not_found,
                       "Method not found: tasks are not translated between " + std::string(to_string(client_->which)) +
                           " and " + std::string(to_string(server_speaks_)) + ": call without a task"};
    }
    if (is_modern_only(method)) {
        return refusal{error_code::method_not_found, "Method not found: " + std::string(to_string(client_->which)) +
                                                         " has no " + std::string(method)};
    }
    return forwarded(method, raw_params, raw_progress_token);
} catch (const translation_fault& fault) {
    return refusal{error_code::invalid_params, fault.what()};
}

refusal legacy_to_modern::asks_for_input(std::string_view raw_requests) const {
    json::array asked;
    std::string named;
    for (const raw_member& member : raw_object(raw_requests, "inputRequests").members()) {
        constexpr std::size_t most_named = 8;
        if (!is_raw_object(member.raw_value) || asked.size() == most_named) continue;
        const auto method = string_from_json(raw_object(member.raw_value, "an input request").at("method"));
        asked.emplace_back(visible_text(method.value_or("?"), 64));
        named += (named.empty() ? " (" : ", ") + std::string(asked.back().get_string());
    }
    if (!named.empty()) named += ')';
    return {error_code::internal_error,
            "the server asks the client for input" + named + ", which is not translated between " +
                std::string(to_string(client_->which)) + " and " + std::string(to_string(server_speaks_)) +
                ": use a client that speaks " + std::string(to_string(server_speaks_)) +
                ", or arguments with which nothing need be asked",
            json::object{{"inputRequests", std::move(asked)}}};
}

refusal legacy_to_modern::made_a_task(std::string_view raw_task_id) const {
    refusal refused{error_code::internal_error,
                    "the server made a task of the call, which is not translated between " +
                        std::string(to_string(client_->which)) + " and " + std::string(to_string(server_speaks_)) +
                        ": use a client that speaks " + std::string(to_string(server_speaks_))};
    if (!is_raw_string(raw_task_id)) return refused;
    refused.message += ". The task was cancelled";
    raw_writer params;
    params.add("_meta", braced(raw_meta_with_tasks_)).add("taskId", raw_task_id);
    refused.afterwards = forward{"tasks/cancel", std::move(params).done()};
    return refused;
}

gateway::reply legacy_to_modern::result(std::string_view method, std::string_view raw_result) const try {
    const raw_object result(raw_result, "the server's result");
    const std::string_view raw_type = result.at("resultType");
    const std::string type = raw_type.empty() ? "complete" : string_from_json(raw_type).value_or("");
    if (type == "complete") return answer{result_for_legacy(method, result, *client_)};
    if (type == "input_required") return asks_for_input(result.at("inputRequests"));
    if (type == "task") return made_a_task(result.at("taskId"));
    return refusal{error_code::internal_error,
                   "the server's result is of a type that is not known: " + visible_text(raw_type, 64)};
} catch (const translation_fault& fault) {
    return refusal{error_code::internal_error, fault.what()};
}

std::string legacy_to_modern::error(std::string_view method, std::string_view raw_error) const {
    return error_for_legacy(method, raw_error);
}

std::optional<notification> legacy_to_modern::from_client(std::string_view method, std::string_view raw_params) const
    try {
    static constexpr std::array<std::string_view, 5> go_no_further{
        "notifications/initialized", "notifications/cancelled", "notifications/progress",
        "notifications/roots/list_changed", "notifications/tasks/status"};
    if (std::find(go_no_further.begin(), go_no_further.end(), method) != go_no_further.end()) return std::nullopt;
    return notification{std::string(method), notification_params(raw_params)};
} catch (const translation_fault&) {
    return std::nullopt;
}

std::optional<notification> legacy_to_modern::from_server(std::string_view method, std::string_view raw_params) const
    try {
    static constexpr std::array<std::string_view, 3> go_no_further{"notifications/subscriptions/acknowledged",
                                                                   "notifications/cancelled", "notifications/tasks"};
    if (std::find(go_no_further.begin(), go_no_further.end(), method) != go_no_further.end()) return std::nullopt;
    if (is_change(method) && !subscription_.wants(method, raw_params)) return std::nullopt;
    if (method == "notifications/message") {
        const auto level = string_from_json(raw_object(raw_params, "params").at("level"));
        const auto known = detail::message_level_from(level.value_or(""));
        if (!known || *known < log_level_) return std::nullopt;
    }
    return notification{std::string(method), notification_params(raw_params)};
} catch (const translation_fault&) {
    return std::nullopt;
}

}  // namespace andon::gateway
