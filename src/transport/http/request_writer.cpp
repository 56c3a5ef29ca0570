#include "transport/http/request_writer.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "andon/core/visible_text.hpp"

namespace andon::detail {
namespace {

void add(std::string& head, std::string_view name, std::string_view value) {
    (((head += name) += ": ") += value) += "\r\n";
}

bool is_token(std::string_view text) {
    static constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               others.find(c) != std::string_view::npos;
    });
}

bool is_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; });
}

std::string option_header(std::string_view name, std::string_view value) {
    if (!is_token(name)) throw std::invalid_argument("'" + visible_text(name, 64) + "' cannot be the name of a header");
    // Its value may be a secret, and is not repeated here.
    if (!is_value(value))
        throw std::invalid_argument("the value of " + std::string(name) + " cannot stand in a header");
    std::string made;
    add(made, name, value);
    return made;
}

/// The member of params that `mcp-name` repeats.
std::string_view name_member(std::string_view method) {
    using entry = std::pair<std::string_view, std::string_view>;
    constexpr std::array all{entry{"tools/call", "name"},     entry{"prompts/get", "name"},
                             entry{"resources/read", "uri"},  entry{"tasks/get", "taskId"},
                             entry{"tasks/update", "taskId"}, entry{"tasks/cancel", "taskId"}};
    const auto* const found = std::find_if(all.begin(), all.end(), [&](const entry& e) { return e.first == method; });
    return found == all.end() ? std::string_view() : found->second;
}

void add_mirrored(std::string& head, const outgoing_message& message, const tool_headers& tools) {
    const std::string_view member = name_member(message.method);
    if (member.empty()) return;
    const auto whole = object_from_json(message.line);
    const json::value* const params = whole ? whole->if_contains("params") : nullptr;
    if (params == nullptr || !params->is_object()) return;
    const json::value* const name = params->get_object().if_contains(member);
    if (name == nullptr || !name->is_string()) return;
    add(head, "Mcp-Name", encoded_header_value(name->get_string()));
    if (message.method != "tools/call") return;
    const auto* const mirrored = tools.of(std::string(name->get_string()));
    const json::value* const arguments = params->get_object().if_contains("arguments");
    if (mirrored == nullptr || arguments == nullptr || !arguments->is_object()) return;
    for (const param_header& each : *mirrored) {
        // Where the value is of another type than the tool says, the server has the last word on it.
        const param_text value = param_value(each, arguments->get_object());
        if (value.text) add(head, each.header(), encoded_header_value(*value.text));
    }
}

}  // namespace

request_writer::request_writer(const endpoint& to, const http_client_options& options) : target_(to.target) {
    add(common_, "Host", to.authority);
    add(common_, "User-Agent", "andon");
    if (!options.bearer_token.empty()) common_ += option_header("Authorization", "Bearer " + options.bearer_token);
    for (const auto& [name, value] : options.headers) common_ += option_header(name, value);
}

std::string request_writer::head(std::string_view method, std::string_view accept,
                                 const session_headers& session) const {
    std::string text;
    text.reserve(512);
    (((text += method) += ' ') += target_) += " HTTP/1.1\r\n";
    text += common_;
    if (!accept.empty()) add(text, "Accept", accept);
    if (!session.version.empty()) add(text, "MCP-Protocol-Version", session.version);
    if (!session.id.empty()) add(text, "Mcp-Session-Id", session.id);
    return text;
}

std::string request_writer::post(const outgoing_message& message, const session_headers& session,
                                 const tool_headers& tools) const {
    std::string text = head("POST", "application/json, text/event-stream", session);
    add(text, "Content-Type", "application/json");
    if (session.mirrored && !message.method.empty()) {
        add(text, "Mcp-Method", encoded_header_value(message.method));
        add_mirrored(text, message, tools);
    }
    add(text, "Content-Length", std::to_string(message.line.size()));
    return (text += "\r\n") += message.line;
}

std::string request_writer::get(const session_headers& session, std::string_view last_event_id) const {
    std::string text = head("GET", "text/event-stream", session);
    if (!last_event_id.empty()) add(text, "Last-Event-ID", last_event_id);
    return text += "\r\n";
}

std::string request_writer::remove(const session_headers& session) const {
    return head("DELETE", "application/json, text/event-stream", session) += "\r\n";
}

}  // namespace andon::detail
