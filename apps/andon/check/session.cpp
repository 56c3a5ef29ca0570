#include "check/session.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "andon/core/visible_text.hpp"
#include "andon/wire/error.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

/// More than any probe needs; a server that sends more is flooding.
constexpr std::size_t most_messages = 200'000;
constexpr std::size_t most_bytes = std::size_t{256} << 20U;

constexpr std::string_view tasks = "io.modelcontextprotocol/tasks";

json::object client_info() { return {{"name", "andon-check"}, {"version", "1"}}; }

json::object client_capabilities(const session_options& how) {
    json::object all{{"sampling", json::object()}, {"elicitation", json::object()}, {"roots", json::object()}};
    if (how.tasks_extension) all["extensions"] = json::object{{tasks, json::object()}};
    return all;
}

json::string progress_token(std::string_view raw_id) { return json::string("of " + std::string(raw_id)); }

/// Nothing: a method that no server asks a client for.
std::optional<json::object> reply_to(std::string_view method) {
    if (method == "sampling/createMessage") {
        return json::object{{"role", "assistant"},
                            {"content", {{"type", "text"}, {"text", "andon was asked"}}},
                            {"model", "none"},
                            {"stopReason", "endTurn"}};
    }
    if (method == "elicitation/create") return json::object{{"action", "decline"}};
    if (method == "roots/list") return json::object{{"roots", json::array()}};
    if (method == "ping") return json::object();
    return std::nullopt;
}

}  // namespace

json::value id_of(std::string_view raw_id) {
    boost::system::error_code failed;
    json::value id = json::parse(json::string_view(raw_id.data(), raw_id.size()), failed);
    return failed ? json::value() : id;
}

int code_of(const json::object& answer) {
    const json::value* const code = find(answer, {"error", "code"});
    return code != nullptr && code->is_int64() ? static_cast<int>(code->get_int64()) : 0;
}

const json::object* result_of(const json::object& answer) {
    const json::value* const result = answer.if_contains("result");
    return result == nullptr ? nullptr : result->if_object();
}

std::string in_words(const json::object& answer) {
    if (answer.contains("error")) {
        return "the error " + std::to_string(code_of(answer)) + " \"" +
               visible_text(text_at(answer, {"error", "message"}), 80) + "\"";
    }
    return answer.contains("result") ? "a result" : "no answer of JSON-RPC";
}

const json::value* find(const json::object& root, std::initializer_list<std::string_view> path) {
    const json::object* at = &root;
    const json::value* found = nullptr;
    for (const std::string_view name : path) {
        if (at == nullptr) return nullptr;
        found = at->if_contains(name);
        if (found == nullptr) return nullptr;
        at = found->if_object();
    }
    return found;
}

std::string text_at(const json::object& root, std::initializer_list<std::string_view> path) {
    const json::value* const found = find(root, path);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

json::object session::meta() const {
    if (!modern()) return {};
    return {{"io.modelcontextprotocol/protocolVersion", to_string(how_.speaks)},
            {"io.modelcontextprotocol/clientInfo", client_info()},
            {"io.modelcontextprotocol/clientCapabilities", client_capabilities(how_)}};
}

json::object session::capabilities() const {
    const json::value* const all = hello_.if_contains("capabilities");
    return all != nullptr && all->is_object() ? all->get_object() : json::object();
}

void session::open() {
    const std::string id = fresh_id();
    if (modern()) {
        request(id, "server/discover");
    } else {
        json::object params{{"protocolVersion", to_string(how_.speaks)},
                            {"capabilities", client_capabilities(how_)},
                            {"clientInfo", client_info()}};
        request(id, "initialize", std::move(params));
    }
    const std::string_view method = modern() ? "server/discover" : "initialize";
    const json::object* const said = answer(id, how_.handshake);
    if (said == nullptr && stream_ended(id)) throw not_spoken(std::string(method) + " is refused: " + refusal(id));
    if (said == nullptr) {
        throw not_spoken("no answer to " + std::string(method) + " within " + std::to_string(how_.handshake.count()) +
                         " ms" + last_words());
    }
    const json::object* const result = result_of(*said);
    if (result == nullptr) throw not_spoken(std::string(method) + " was answered with " + in_words(*said));
    hello_ = *result;
    if (modern()) {
        const json::value* const versions = hello_.if_contains("supportedVersions");
        const bool spoken =
            versions != nullptr && versions->is_array() &&
            std::any_of(versions->get_array().begin(), versions->get_array().end(),
                        [&](const json::value& v) { return v == json::string(to_string(how_.speaks)); });
        if (!spoken) throw not_spoken("server/discover does not name " + std::string(to_string(how_.speaks)));
        return;
    }
    const auto agreed = revision_from(text_at(hello_, {"protocolVersion"}));
    if (!agreed || era_of(*agreed) == era::modern) {
        throw not_spoken("initialize was answered with the version '" +
                         visible_text(text_at(hello_, {"protocolVersion"}), 40) + "'");
    }
    how_.speaks = *agreed;
    write({.text = R"({"jsonrpc":"2.0","method":"notifications/initialized"})", .method = "notifications/initialized"});
}

void session::request(std::string_view raw_id, std::string_view method, json::object params, json::object more_meta) {
    json::object all = meta();
    for (auto& each : more_meta) all[each.key()] = std::move(each.value());
    std::string name = text_at(params, {method.starts_with("tasks/") ? "taskId" : "name"});
    if (name.empty()) name = text_at(params, {"uri"});
    if (!all.empty()) params["_meta"] = std::move(all);
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::string(raw_id) + R"(,"method":)" +
                       json::serialize(json::string(method)) + R"(,"params":)" + json::serialize(params) + '}';
    write({.text = std::move(text),
           .method = std::string(method),
           .name = std::move(name),
           .raw_id = std::string(raw_id)});
}

void session::call(std::string_view raw_id, std::string_view tool, json::object arguments, call_options how) {
    json::object params{{"name", tool}, {"arguments", std::move(arguments)}};
    if (how.task) params["task"] = json::object{{"ttl", 60'000}};
    json::object more;
    if (how.progress) more["progressToken"] = progress_token(raw_id);
    request(raw_id, "tools/call", std::move(params), std::move(more));
}

void session::cancel(std::string_view raw_id, std::optional<std::string> reason) {
    std::string params = R"({"requestId":)" + std::string(raw_id);
    if (reason) params += R"(,"reason":)" + json::serialize(json::string(*reason));
    notify_cancelled(params + '}');
}

void session::notify_cancelled(std::string_view raw_params) {
    std::string text = R"({"jsonrpc":"2.0","method":"notifications/cancelled")";
    if (!raw_params.empty()) (text += R"(,"params":)") += raw_params;
    write({.text = text + '}', .method = "notifications/cancelled"});
}

void session::take(std::string_view text, const std::string& on) {
    bytes_ += text.size();
    if (all_.size() >= most_messages || bytes_ > most_bytes) throw server_hangs("the server floods its client");
    boost::system::error_code failed;
    json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
    if (failed) return;  // a server that prints something else on its standard output is not what is looked at here
    json::array several;
    if (parsed.is_array()) {
        several = std::move(parsed.get_array());
    } else {
        several.push_back(std::move(parsed));
    }
    for (json::value& each : several) {
        if (!each.is_object()) continue;
        all_.push_back({std::move(each.get_object()), clock::now(), on});
        const json::object& question = all_.back().message;
        if (!holds_questions && question.contains("method") && question.contains("id")) answer_question(question);
    }
}

void session::answer_question(const json::object& question) {
    json::object reply{{"jsonrpc", "2.0"}, {"id", question.at("id")}};
    if (auto result = reply_to(text_at(question, {"method"}))) {
        reply["result"] = std::move(*result);
    } else {
        reply["error"] = json::object{{"code", error_code::method_not_found}, {"message", "Method not found"}};
    }
    write({.text = json::serialize(reply)});
}

bool session::wait(const std::function<bool()>& done, milliseconds limit) {
    const auto until = clock::now() + limit;
    while (!done()) {
        const auto left = std::chrono::ceil<milliseconds>(until - clock::now());
        if (left <= milliseconds()) return false;
        if (clock::now() > how_.until) throw server_hangs("the time limit of the probe is over" + last_words());
        if (!pump(std::min(left, milliseconds(100)))) {
            if (done()) return true;
            throw server_gone(why_gone() + last_words());
        }
    }
    return true;
}

const json::object* session::answer(std::string_view raw_id, milliseconds limit) {
    wait([&] { return !answers(raw_id).empty() || stream_ended(raw_id); }, limit);
    const auto found = answers(raw_id);
    return found.empty() ? nullptr : &found.front()->message;
}

json::object session::ask(std::string_view method, json::object params) {
    const std::string id = fresh_id();
    request(id, method, std::move(params));
    const json::object* const said = answer(id, how_.patience);
    if (said == nullptr) {
        throw server_hangs(std::string(method) + " is not answered within " + std::to_string(how_.patience.count()) +
                           " ms" + last_words());
    }
    return *said;
}

void session::fence() { (void)ask("tools/list"); }

std::vector<const heard*> session::answers(std::string_view raw_id, time_point since) const {
    const json::value id = id_of(raw_id);
    std::vector<const heard*> found;
    for (const heard& each : all_) {
        if (each.at < since || each.message.contains("method")) continue;
        const json::value* const its = each.message.if_contains("id");
        if (its != nullptr && *its == id) found.push_back(&each);
    }
    return found;
}

std::vector<const heard*> session::progress(std::string_view raw_id, time_point since) const {
    const json::value token = progress_token(raw_id);
    std::vector<const heard*> found = notifications("notifications/progress", since);
    std::erase_if(found, [&](const heard* each) {
        const json::value* const its = find(each->message, {"params", "progressToken"});
        return its == nullptr || *its != token;
    });
    return found;
}

std::vector<const heard*> session::notifications(std::string_view method, time_point since) const {
    std::vector<const heard*> found;
    for (const heard& each : all_) {
        if (each.at >= since && !each.message.contains("id") && text_at(each.message, {"method"}) == method) {
            found.push_back(&each);
        }
    }
    return found;
}

std::vector<const heard*> session::questions(time_point since) const {
    std::vector<const heard*> found;
    for (const heard& each : all_) {
        if (each.at >= since && each.message.contains("id") && each.message.contains("method")) found.push_back(&each);
    }
    return found;
}

std::string session::last_words() const {
    const auto text = log();
    if (!text || text->empty()) return {};
    std::string_view last = *text;
    while (!last.empty() && last.back() == '\n') last.remove_suffix(1);
    const std::size_t line = last.rfind('\n');
    return "; it said last: " + visible_text(line == std::string_view::npos ? last : last.substr(line + 1), 120);
}

}  // namespace andon::check
