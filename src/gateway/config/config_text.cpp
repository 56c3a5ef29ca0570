// A configuration as text: the commented example, and what is in effect.
#include <algorithm>
#include <array>

#include "gateway/config/config_keys.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t widest_comment = 100;

std::string toml_string(std::string_view text) {
    std::string made = "\"";
    for (const char c : text) {
        constexpr std::string_view digits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (made += '\\') += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            ((made += "\\u00") += digits[byte >> 4U]) += digits[byte & 0xFU];
        } else {
            made += c;
        }
    }
    return made += '"';
}

std::string key_text(std::string_view key) {
    const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    return bare ? std::string(key) : toml_string(key);
}

/// In one line.
std::string value_text(const json::value& value) {
    if (const auto* const text = value.if_string()) return toml_string(*text);
    std::string made;
    if (const auto* const elements = value.if_array()) {
        for (const json::value& each : *elements) (made += made.empty() ? "" : ", ") += value_text(each);
        return '[' + made + ']';
    }
    if (const auto* const members = value.if_object()) {
        for (const auto& [key, each] : *members) {
            (made += made.empty() ? " " : ", ") += key_text(key) + " = " + value_text(each);
        }
        return made.empty() ? "{}" : '{' + made + " }";
    }
    return json::serialize(value);
}

template <class Section>
json::object shown_keys(const Section& of, const std::vector<config_key<Section>>& keys,
                        key_scope scope = key_scope::any) {
    json::object made;
    for (const auto& each : keys) {
        if (each.scope == key_scope::any || scope == key_scope::any || each.scope == scope) {
            made[each.name] = each.show(of);
        }
    }
    return made;
}

json::object shown_server(const server_config& config) {
    server_draft draft{.config = config};
    key_scope scope = key_scope::command;
    if (const auto* const url = std::get_if<url_target>(&config.target)) {
        draft.url = *url;
        scope = key_scope::url;
    } else {
        draft.command = std::get<command_target>(config.target);
    }
    json::object made = shown_keys(draft, server_keys(), scope);
    json::object tools;
    for (const auto& [name, policy] : config.policy.tools) tools[name] = shown_keys(policy, call_keys());
    if (!tools.empty()) made["tools"] = std::move(tools);
    return made;
}

/// The members of these are tables of their own; any other object is a value.
bool holds_tables(std::string_view key) { return key == "tokens" || key == "tools" || key == "servers"; }

void append_table(std::string& to, const std::string& name, const json::object& table) {
    const bool has_values =
        std::any_of(table.begin(), table.end(), [](const auto& each) { return !holds_tables(each.key()); });
    if (has_values) (to += to.empty() ? "[" : "\n[") += name + "]\n";
    for (const auto& [key, value] : table) {
        if (!holds_tables(key)) to += key_text(key) + " = " + value_text(value) + '\n';
    }
    for (const auto& [key, value] : table) {
        if (!holds_tables(key)) continue;
        for (const auto& [inner, members] : value.as_object()) {
            append_table(to, name + '.' + std::string(key) + '.' + key_text(inner), members.as_object());
        }
    }
}

/// A remark of any length, in lines that each begin with "# ".
void append_remark(std::string& to, std::string_view text) {
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > widest_comment) end = std::min(text.rfind(' ', widest_comment), text.size());
        ((to += "# ") += text.substr(0, end)) += '\n';
        text.remove_prefix(std::min(text.size(), end + 1));
    }
}

template <class Section>
void append_keys(std::string& to, const Section& values, const std::vector<config_key<Section>>& keys,
                 key_scope scope = key_scope::any, bool own_only = false) {
    for (const auto& each : keys) {
        if (own_only ? each.scope != scope
                     : each.scope != key_scope::any && scope != key_scope::any && each.scope != scope) {
            continue;
        }
        append_remark(to, each.about);
        to += '#' + std::string(each.name) + " = " + value_text(each.show(values)) + '\n';
    }
}

constexpr std::string_view introduction =
    R"(# andon.toml: what andon does, in front of which servers.
#
# Every key stands here with its default. To change one, take away the # before it.
# Durations are texts with units: "250ms", "30s", "5m", "1h30m", "2d". Sizes too: "64KiB", "16MiB".
# A relative path begins in the folder of this file; ~/ is your home.
# Secrets do not belong here: say the name of the environment variable or of the file that has them.
# `andon config check` says what is wrong with this file; `andon config show` says what is in effect.
)";

}  // namespace

json::object shown_config(const configuration& config) {
    json::object made;
    for_each_plain_table([&](std::string_view name, std::string_view /*about*/, const auto& keys, auto member) {
        made[name] = shown_keys(config.*member, keys);
    });
    json::object tokens;
    for (const token_source& each : config.gateway.tokens) {
        json::object& token = (tokens[each.principal] = shown_keys(each, token_keys())).as_object();
        token.erase(each.env.empty() ? "env" : "file");
    }
    if (!tokens.empty()) made["gateway"].as_object()["tokens"] = std::move(tokens);
    json::object servers;
    for (const server_config& each : config.servers) servers[each.name] = shown_server(each);
    made["servers"] = std::move(servers);
    return made;
}

std::string shown_config_toml(const configuration& config) {
    const json::object shown = shown_config(config);
    std::string text;
    for (const auto& [name, table] : shown) {
        if (name != "servers") append_table(text, std::string(name), table.as_object());
    }
    for (const auto& [name, server] : shown.at("servers").as_object()) {
        append_table(text, "servers." + key_text(name), server.as_object());
    }
    return text;
}

std::string example_config() {
    std::string text(introduction);
    const configuration defaults;
    for_each_plain_table([&](std::string_view name, std::string_view about, const auto& keys, auto member) {
        text += '\n';
        append_remark(text, about);
        text += '[' + std::string(name) + "]\n";
        append_keys(text, defaults.*member, keys);
        if (name != "gateway") return;
        text +=
            "\n# Who may call the gateway, each by a token: Authorization: Bearer TOKEN. With none, everybody who "
            "reaches it.\n";
        text += "#[gateway.tokens.alice]\n";
        append_remark(text, token_keys().front().about);
        text += "#env = \"ALICE_TOKEN\"\n#[gateway.tokens.bob]\n";
        append_remark(text, token_keys().back().about);
        text += "#file = \"bob.token\"\n";
    });

    server_draft files{.config = {.name = "files", .path = "/files/mcp"},
                       .command = {.argv = {"npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/files"}}};
    text +=
        "\n# A server that andon starts. Any name: `andon gateway` serves it under its path, `andon call files` calls "
        "it.\n#[servers.files]\n";
    append_keys(text, files, server_keys(), key_scope::command);
    text += "\n# A tool with limits of its own. What it does not say is the server's.\n#[servers.files.tools.search]\n";
    append_keys(text, files.config.policy.usual, call_keys());

    const server_draft remote{.config = {.name = "remote", .path = "/remote/mcp"},
                              .url = {.url = "https://mcp.example/mcp"}};
    text +=
        "\n# A server that runs elsewhere. Beside these keys it takes those of a command that do not speak of "
        "processes.\n#[servers.remote]\n";
    append_keys(text, remote, server_keys(), key_scope::url, true);
    return text;
}

}  // namespace andon::gateway
