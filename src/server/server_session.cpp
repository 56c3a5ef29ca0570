#include "server/server_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "andon/core/visible_text.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
namespace {

json::object params_from(std::string_view raw) {
    auto read = object_from_json(raw);
    if (!read) throw rpc_error(error_code::invalid_params, "params could not be read");
    return std::move(*read);
}

std::string string_at(const json::object& params, std::string_view key) {
    const json::value* const found = params.if_contains(key);
    if (found == nullptr || !found->is_string()) {
        throw rpc_error(error_code::invalid_params, "params must have \"" + std::string(key) + "\", a string");
    }
    return std::string(found->get_string());
}

json::value object_at(json::object& params, std::string_view key) {
    json::value* const found = params.if_contains(key);
    if (found == nullptr) return json::object();
    if (!found->is_object()) {
        throw rpc_error(error_code::invalid_params, "\"" + std::string(key) + "\" must be an object");
    }
    return std::move(*found);
}

std::string hexadecimal(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        (out += digits[byte >> 4U]) += digits[byte & 0xFU];
    }
    return out;
}

std::string from_hexadecimal(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const std::size_t high = digits.find(text[i]);
        const std::size_t low = digits.find(text[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return {};
        out += static_cast<char>(high * 16 + low);
    }
    return text.size() % 2 == 0 ? out : std::string();
}

struct list_method {
    std::string_view method;
    offered kind;
    std::string_view member;
};
constexpr std::array<list_method, 4> list_methods{
    {{"tools/list", offered::tool, "tools"},
     {"prompts/list", offered::prompt, "prompts"},
     {"resources/list", offered::resource, "resources"},
     {"resources/templates/list", offered::resource_template, "resourceTemplates"}}};

const list_method* list_of(std::string_view method) noexcept {
    for (const auto& list : list_methods) {
        if (list.method == method) return &list;
    }
    return nullptr;
}

server_options checked(server_options given) {
    given.workers = std::max<std::size_t>(given.workers, 1);
    given.page_size = std::max<std::size_t>(given.page_size, 1);
    return given;
}

std::shared_ptr<conversation::surroundings> surroundings_of(const server_options& options) {
    auto around = std::make_shared<conversation::surroundings>(options.requests);
    around->log = log_sink(options.log);
    return around;
}

[[noreturn]] void throw_unknown(std::string_view what, const std::string& name) {
    throw rpc_error(error_code::invalid_params, "there is no " + std::string(what) + " " + visible_text(name, 128));
}

}  // namespace

std::string whole_result(std::string_view raw_members, const revision_policy& policy, std::string_view raw_meta) {
    std::string raw = "{";
    if (policy.result_type) {
        raw += R"("resultType":"complete","_meta":)";
        raw += raw_meta;
        if (!raw_members.empty()) raw += ',';
    }
    raw += raw_members;
    return raw += '}';
}

server_facilities::server_facilities(server_options given)
    : options(checked(std::move(given))),
      around(surroundings_of(options)),
      tasks(around, options.tasks, listeners),
      states(options.state_key),
      turns(around->loop, options.workers) {
    listeners.ask_about_tasks(tasks);
}

json::object server_facilities::implementation() const {
    json::object info{{"name", options.name}, {"version", options.version}};
    if (!options.title.empty()) info["title"] = options.title;
    return info;
}

json::object server_facilities::capabilities() const {
    json::object can{{"logging", json::object()}};
    const json::object listed{{"listChanged", true}};
    can["tools"] = listed;
    if (offers.any(offered::prompt)) can["prompts"] = listed;
    if (offers.any(offered::resource) || offers.any(offered::resource_template)) {
        can["resources"] = {{"listChanged", true}, {"subscribe", true}};
    }
    if (offers.any(offered::completion)) can["completions"] = json::object();
    return can;
}

server_session::server_session(std::shared_ptr<server_facilities> with, std::unique_ptr<transport> over,
                               std::function<void()> on_end, bool stateless)
    : facilities_(std::move(with)), on_end_(std::move(on_end)) {
    peer_settings settings{.role = peer_role::server,
                           .implementation = facilities_->implementation(),
                           .capabilities = facilities_->capabilities(),
                           .instructions = facilities_->options.instructions,
                           .stateless = stateless,
                           .revisions = facilities_->options.revisions};
    if (facilities_->tasks.begun()) {
        settings.tasks_extension = true;
        settings.task_requests = {{"cancel", json::object()}, {"requests", {{"tools", {{"call", json::object()}}}}}};
        // Where nobody knows who asks, nobody gets a list.
        if (!stateless) settings.task_requests["list"] = json::object();
    }
    settings.limits.longest_id = facilities_->options.requests.longest_id;
    settings.options_for = [this](const envelope& message) { return options_for(message); };
    conversation_ = std::make_shared<conversation>(facilities_->around, std::move(settings), std::move(over), *this);
    raw_server_meta_ = conversation_->protocol().raw_server_meta();
    legacy_client_ = std::make_shared<client_facts>();
}

void server_session::open() { conversation_->open(); }

void server_session::close(cancel_cause cause, std::string_view why) { conversation_->close(cause, why); }

void server_session::on_established() {
    const peer& protocol = conversation_->protocol();
    legacy_client_ =
        std::make_shared<client_facts>(client_facts{protocol.their_capabilities(), protocol.their_implementation()});
}

void server_session::on_ended(std::string_view why) {
    conversation_->log(log_level::info, "the session ended: " + visible_text(why, 256));
    for (const std::string& uri : subscribed_) facilities_->listeners.remove(*this, uri);
    subscribed_.clear();
    if (on_end_) on_end_();
}

void server_session::list_changed(offered kind) {
    // Modern clients hear of it through a subscription only.
    const peer& protocol = conversation_->protocol();
    if (!protocol.established() || conversation_->closed()) return;
    conversation_->send(notification_message(list_changed_method(kind), {}));
}

void server_session::subscribe(const json::object& params, bool wanted) {
    constexpr std::size_t overhead = 128;  // of an entry, so that many short ones count too
    const std::string uri = string_at(params, "uri");
    if (wanted && facilities_->listeners.add(*this, uri)) {
        subscribed_.insert(uri);
        hold_bytes(uri.size() + overhead);
    }
    if (!wanted && facilities_->listeners.remove(*this, uri)) {
        subscribed_.erase(uri);
        give_back_bytes(uri.size() + overhead);
    }
}

begin_options server_session::options_for(const envelope& message) const {
    begin_options options;
    if (message.method != "tools/call") return options;
    const auto name = string_from_json(message.raw_name);
    const auto tool = name ? facilities_->offers.find(offered::tool, *name) : nullptr;
    if (!tool) return options;
    options.limits.maximum = tool->limit;
    options.peer_may_cancel = !tool->uncancellable;
    return options;
}

void server_session::on_notification(const envelope& message) {
    if (message.method != "notifications/roots/list_changed") {
        conversation_->log(log_level::debug, "a notification that is not known: " + visible_text(message.method, 128));
    }
}

void server_session::answer(incoming_request request, std::string_view line, int code) {
    const answer_path to = std::move(request.to);
    const bool ours = request.request.begin_response();
    request.request.finish(now());
    conversation_->answer(to, ours ? line : std::string_view(), code);
}

std::string server_session::list(std::string_view method, const json::object& params, const revision_policy& policy) {
    const list_method& which = *list_of(method);
    std::optional<std::string> after;
    if (const json::value* const cursor = params.if_contains("cursor")) {
        if (cursor->is_string()) after = from_hexadecimal(std::string_view(cursor->get_string()));
        if (!after || after->empty()) throw rpc_error(error_code::invalid_params, "the cursor is not one of ours");
    }
    std::string last;
    bool more = false;
    json::object result;
    json::array page = facilities_->offers.page(which.kind, after, facilities_->options.page_size, last, more);
    if (!policy.task_requests && which.kind == offered::tool) {  // only 2025-11-25 knows it
        for (json::value& tool : page) tool.get_object().erase("execution");
    }
    result[which.member] = std::move(page);
    if (more) result["nextCursor"] = hexadecimal(last);
    if (policy.cache_hints) {
        result["ttlMs"] = 0;
        result["cacheScope"] = "private";
    }
    const std::string raw = json_text(result);
    return whole_result(std::string_view(raw).substr(1, raw.size() - 2), policy, raw_server_meta_);
}

void server_session::set_log_level(const json::object& params) {
    const auto level = message_level_from(string_at(params, "level"));
    if (!level) throw rpc_error(error_code::invalid_params, "there is no such log level");
    log_level_.store(*level, std::memory_order_relaxed);
}

std::shared_ptr<const handler_entry> server_session::find_handler(const incoming_request& request,
                                                                  std::string_view method, json::object& params,
                                                                  json::value& arguments) {
    const registry& offers = facilities_->offers;
    if (method == "tools/call") {
        const std::string name = string_at(params, "name");
        auto entry = offers.find(offered::tool, name);
        if (!entry) throw_unknown("tool", name);
        arguments = object_at(params, "arguments");
        return entry;
    }
    if (method == "prompts/get") {
        const std::string name = string_at(params, "name");
        auto entry = offers.find(offered::prompt, name);
        if (!entry) throw_unknown("prompt", name);
        arguments = object_at(params, "arguments");
        if (const json::value* const known = entry->listing.if_contains("arguments")) {
            for (const json::value& argument : known->as_array()) {
                const json::string& wanted = argument.at("name").as_string();
                if (argument.at("required").as_bool() && !arguments.get_object().contains(wanted)) {
                    throw rpc_error(error_code::invalid_params,
                                    "the prompt needs the argument \"" + std::string(wanted) + "\"");
                }
            }
        }
        return entry;
    }
    if (method == "resources/read") {
        const std::string uri = string_at(params, "uri");
        json::object variables;
        auto entry = offers.find(offered::resource, uri);
        if (!entry) entry = offers.match(uri, variables);
        if (!entry) {
            throw rpc_error(policy_of(request.speaks).resource_not_found, "Resource not found",
                            json::object{{"uri", uri}});
        }
        arguments = json::object{{"uri", uri}, {"variables", std::move(variables)}};
        return entry;
    }
    if (method == "completion/complete") {
        const json::value ref = object_at(params, "ref");
        const json::value argument = object_at(params, "argument");
        const json::value* const name = ref.get_object().if_contains("name");
        const json::value* const uri = ref.get_object().if_contains("uri");
        const json::value* const of = name != nullptr ? name : uri;
        if (of == nullptr || !of->is_string()) throw rpc_error(error_code::invalid_params, "ref names nothing");
        auto entry = offers.find(offered::completion, std::string_view(of->get_string()));
        json::object context;
        json::value given = object_at(params, "context");
        if (json::value* const known = given.get_object().if_contains("arguments"); known != nullptr) {
            if (known->is_object()) context = std::move(known->get_object());
        }
        arguments = json::object{{"argument", string_at(argument.get_object(), "name")},
                                 {"value", string_at(argument.get_object(), "value")},
                                 {"context", std::move(context)}};
        if (!entry) throw_unknown("completion for", std::string(of->get_string()));
        return entry;
    }
    if (method == "subscriptions/listen" && policy_of(request.speaks).subscriptions_listen) {
        arguments =
            agreed_filter(params, conversation_->protocol().settings().capabilities, facilities_->tasks.begun());
        return facilities_->listeners.listening();
    }
    const bool anybody = conversation_->protocol().settings().stateless && request.by().owner.empty();
    if (auto entry = facilities_->tasks.method(method, policy_of(request.speaks))) {
        if (method != "tasks/list" || !anybody) {
            arguments = std::move(params);
            return entry;
        }
    }
    throw rpc_error(error_code::method_not_found, "Method not found: " + visible_text(method, 128));
}

std::shared_ptr<const client_facts> server_session::facts_of(const incoming_request& request,
                                                             const envelope& message) const {
    if (era_of(request.speaks) == era::legacy) return legacy_client_;
    json::object meta = params_from(message.raw_meta);
    const auto at = [&](std::string_view key) {
        json::value* const found = meta.if_contains(key);
        return found != nullptr && found->is_object() ? std::move(found->get_object()) : json::object();
    };
    return std::make_shared<client_facts>(
        client_facts{at("io.modelcontextprotocol/clientCapabilities"), at("io.modelcontextprotocol/clientInfo")});
}

server_session::way_to_run server_session::how_to_run(const handler_entry& tool, const json::object& params,
                                                      const client_facts& client, const revision_policy& policy) const {
    if (tool.kind != offered::tool) return {};
    const bool required = tool.task == task_use::required;
    if (policy.tasks_extension) {
        if (tool.task == task_use::never) return {};
        if (knows_tasks(client.capabilities)) return {.may_be_task = true, .at_once = !tool.task_on_demand};
        if (required) throw_tasks_missing();
        return {};
    }
    const json::value* const asked = policy.task_requests ? params.if_contains("task") : nullptr;
    if (asked == nullptr) {
        if (!required) return {};
        throw rpc_error(error_code::method_not_found, "this tool can be called as a task only");
    }
    if (!facilities_->tasks.begun()) return {};  // who has no tasks does not know that word
    if (!asked->is_object()) throw rpc_error(error_code::invalid_params, "\"task\" must be an object");
    if (tool.task == task_use::never) {
        throw rpc_error(error_code::method_not_found, "this tool cannot be called as a task");
    }
    way_to_run how{.may_be_task = true, .at_once = true};
    if (const json::value* const ttl = asked->get_object().if_contains("ttl")) {
        boost::system::error_code wrong;
        const auto asked_for = ttl->to_number<std::int64_t>(wrong);
        if (wrong || asked_for <= 0) {
            throw rpc_error(error_code::invalid_params, "\"ttl\" must be a number of milliseconds above 0");
        }
        how.ttl = std::chrono::milliseconds(asked_for);
    }
    return how;
}

void server_session::on_request(incoming_request request, const envelope& message) {
    const revision_policy& policy = policy_of(request.speaks);
    try {
        if (list_of(message.method) != nullptr) {
            const std::string raw = list(message.method, params_from(message.raw_params), policy);
            return answer(std::move(request), result_message(message.raw_id, raw));
        }
        // Those who share a session that has no state are counted each by itself, before they come here.
        const bool shared = conversation_->protocol().settings().stateless;
        const std::size_t held = bytes_held_.load(std::memory_order_relaxed);
        if (!shared && held + message.raw_params.size() > facilities_->options.most_bytes) {
            throw rpc_error(error_code::internal_error, "too much is in flight in this session: try again later");
        }
        json::object params = params_from(message.raw_params);
        if (message.method == "logging/setLevel" && !policy.log_level_per_request) {
            set_log_level(params);
            return answer(std::move(request), result_message(message.raw_id, "{}"));
        }
        const bool wanted = message.method == "resources/subscribe";
        const bool has_stream = !conversation_->protocol().settings().stateless;  // to be told on
        if ((wanted || message.method == "resources/unsubscribe") && !policy.subscriptions_listen && has_stream) {
            subscribe(params, wanted);
            return answer(std::move(request), result_message(message.raw_id, "{}"));
        }
        json::value arguments;
        auto entry = find_handler(request, message.method, params, arguments);
        const std::string uri = message.method == "resources/read" ? string_at(params, "uri") : std::string();
        call_state::request_facts facts{.raw_id = message.raw_id,
                                        .raw_progress_token = message.raw_progress_token,
                                        .uri = uri,
                                        .bytes = message.raw_params.size(),
                                        .log_level = std::nullopt};
        std::unique_ptr<input_round> round;
        if (policy.log_level_per_request) {
            const json::object meta = params_from(message.raw_meta);
            if (const json::value* const level = meta.if_contains("io.modelcontextprotocol/logLevel")) {
                facts.log_level =
                    level->is_string() ? message_level_from(std::string_view(level->get_string())) : std::nullopt;
                if (!facts.log_level) throw rpc_error(error_code::invalid_params, "there is no such log level");
            }
        }
        if (policy.input_required_results && entry->kind != offered::subscription) {
            round = std::make_unique<input_round>();
            round->request_digest = std::string(message.method) + ' ' + entry->name + ' ' + json_text(arguments);
            if (const json::value* const state = params.if_contains("requestState")) {
                auto opened = state->is_string()
                                  ? facilities_->states.opened(std::string_view(state->get_string()),
                                                               round->request_digest, std::chrono::system_clock::now())
                                  : std::nullopt;
                if (!opened) throw rpc_error(error_code::invalid_params, "requestState is not what we gave out");
                round->answers = std::move(*opened);
            }
            json::value given = object_at(params, "inputResponses");
            // What was signed stands.
            for (auto& [key, value] : given.get_object()) round->answers.emplace(key, std::move(value));
        }
        auto client = facts_of(request, message);
        std::shared_ptr<live_task> task;
        const way_to_run how = how_to_run(*entry, params, *client, policy);
        if (how.may_be_task) {
            task = facilities_->tasks.prepare(
                {.owner = request.by().owner,
                 .counts_for = request.by().counts_for,
                 .label = entry->name,
                 .dialect = policy.task_requests ? task_dialect::requested : task_dialect::extension,
                 .ttl = how.ttl,
                 .uncancellable = entry->uncancellable});
        }
        auto* const state = new call_state(shared_from_this(), std::move(request), facts, std::move(client),
                                           std::move(entry), std::move(arguments));
        state->round = std::move(round);
        if (task) state->may_become(std::move(task), how.at_once);
        state->dispatch();
    } catch (const rpc_error& error) {
        answer(std::move(request), error_message(message.raw_id, error.code(), error.what(), error.data()),
               error.code());
    }
}

}  // namespace andon::detail
