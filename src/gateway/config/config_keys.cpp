#include "gateway/config/config_keys.hpp"

#include <algorithm>

#include "gateway/config/config_values.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 3> ignored_words{"drop", "restart", "isolate"};
constexpr std::array<std::string_view, 2> process_words{"per-session", "pool"};
constexpr std::array<std::string_view, 5> level_words{"debug", "info", "warning", "error", "off"};
constexpr std::array<std::string_view, 3> format_words{"auto", "human", "json"};

std::string anything(std::string_view /*text*/) { return {}; }

std::string not_empty(std::string_view text) { return text.empty() ? "a text that is not empty" : ""; }

std::string http_path(std::string_view text) {
    const bool good = text.starts_with('/') && text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
                          return c > ' ' && c < 0x7F && c != '?' && c != '#' && c != '"' && c != '\\';
                      });
    return good ? "" : "a path of the gateway's URL, as \"/files/mcp\"";
}

std::string url(std::string_view text) {
    const std::string_view scheme = text.starts_with("https://")  ? "https://"
                                    : text.starts_with("http://") ? "http://"
                                                                  : "";
    const std::string_view host = text.substr(scheme.size(), text.find_first_of("/?#", scheme.size()) - scheme.size());
    if (scheme.empty() || host.empty()) return "a URL, as \"https://mcp.example/mcp\"";
    if (host.find('@') != std::string_view::npos) {
        return "a URL without a user or a password: say bearer_env or headers_env";
    }
    const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
    return visible ? "" : "a URL without spaces and special characters";
}

std::string header_name(std::string_view text) {
    const bool good = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    return good ? "" : "the name of a header, as X-Team";
}

/// Of headers whose value stands in the file.
std::string open_header_name(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    for (const std::string_view secret : {"authorization", "proxy-authorization", "cookie"}) {
        if (lower == secret) return "the name of a header that holds no secret; say bearer_env or headers_env instead";
    }
    return header_name(text);
}

std::string header_value(std::string_view text) {
    const bool good =
        std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c != 0x7F) || c == '\t'; });
    return good ? "" : "the value of a header, in one line";
}

std::string process_variable(std::string_view text) {
    return text.find('=') == std::string_view::npos ? "" : "the name of an environment variable";
}

std::string needed_variable(std::string_view text) {
    return text.empty() ? "the name of an environment variable" : variable_name(text);
}

config_key<server_draft> for_commands(config_key<server_draft> key) {
    key.scope = key_scope::command;
    return key;
}
config_key<server_draft> for_urls(config_key<server_draft> key) {
    key.scope = key_scope::url;
    return key;
}

/// A key of call_policy, as one of the server's own.
config_key<server_draft> of_server(const config_key<call_policy>& key) {
    return {key.name, key.about,
            [read = key.read](server_draft& to, const toml_node& from, std::string_view base) {
                return read(to.config.policy.usual, from, base);
            },
            [show = key.show](const server_draft& of) { return show(of.config.policy.usual); }};
}

}  // namespace

const std::vector<config_key<gateway_config>>& gateway_keys() {
    using s = gateway_config;
    static const std::vector<config_key<s>> keys{
        text_key<s>(
            "address", [](auto& of) -> auto& { return of.address; }, not_empty,
            "Address to listen on. Any but loopback needs `hosts`."),
        number_key<s>(
            "port", [](auto& of) -> auto& { return of.port; }, 0, 65'535, "Port to listen on; 0: any that is free."),
        texts_key<s>(
            "hosts", [](auto& of) -> auto& { return of.hosts; },
            "Names under which clients reach it, without port, beside those of loopback; \"*\": any."),
        texts_key<s>(
            "origins", [](auto& of) -> auto& { return of.origins; },
            "Web pages that may call it, as \"https://app.example\", beside those of loopback; \"*\": any."),
        path_key<s>(
            "certificate", [](auto& of) -> auto& { return of.certificate; },
            "Certificate and its chain, a PEM file; with it the gateway speaks TLS."),
        path_key<s>(
            "private_key", [](auto& of) -> auto& { return of.private_key; },
            "The certificate's private key, a PEM file."),
        number_key<s>(
            "max_sessions", [](auto& of) -> auto& { return of.max_sessions; }, 1, 1'000'000, "Sessions at once."),
        number_key<s>(
            "max_in_flight_per_client", [](auto& of) -> auto& { return of.max_in_flight_per_client; }, 1, 1'000'000,
            "Requests and streams at once, of one client (its token, or its address)."),
        size_key<s>(
            "max_body", [](auto& of) -> auto& { return of.max_body; }, std::uint64_t{1} << 10U, std::uint64_t{1} << 30U,
            "Longest message that a client may send."),
        duration_key<s>(
            "stalled_after", [](auto& of) -> auto& { return of.stalled_after; }, 100ms,
            "A client that reads nothing of what waits for it for this long is cut off."),
        duration_key<s>(
            "abandon_after", [](auto& of) -> auto& { return of.abandon_after; }, 1ms,
            "Up to 2025-11-25: a call whose client was cut off, and is not back after this long, is cancelled."),
    };
    return keys;
}

const std::vector<config_key<token_source>>& token_keys() {
    using s = token_source;
    static const std::vector<config_key<s>> keys{
        text_key<s>(
            "env", [](auto& of) -> auto& { return of.env; }, variable_name, "Environment variable that has the token."),
        path_key<s>(
            "file", [](auto& of) -> auto& { return of.file; },
            "Or the file that has it, in its first line. One of the two."),
    };
    return keys;
}

const std::vector<config_key<call_policy>>& call_keys() {
    using s = call_policy;
    static const std::vector<config_key<s>> keys{
        limit_key<s>(
            "timeout", [](auto& of) -> auto& { return of.timeout; },
            "A call without an answer for this long is cancelled; \"none\": never."),
        limit_key<s>(
            "max_timeout", [](auto& of) -> auto& { return of.max_timeout; },
            "The same, whatever progress it makes; \"none\": never."),
        boolean_key<s>(
            "progress_restarts_timeout", [](auto& of) -> auto& { return of.progress_restarts_timeout; },
            "Whether progress makes `timeout` begin anew."),
        choice_key<s>(
            "on_ignored", [](auto& of) -> auto& { return of.on_ignored; }, ignored_words,
            "Work that goes on after its cancel: \"drop\" its answer, \"restart\" the server, or \"isolate\": a "
            "process for each call, which is killed."),
        duration_key<s>(
            "grace", [](auto& of) -> auto& { return of.grace; }, duration::zero(),
            "How long work may go on after its cancel before that counts as ignoring it."),
    };
    return keys;
}

const std::vector<config_key<server_draft>>& server_keys() {
    using s = server_draft;
    static const std::vector<config_key<s>> keys = [] {
        std::vector<config_key<s>> made{
            for_commands({"command",
                          "The server's command: a list, or one text that is split at spaces. This or `url`.",
                          [](s& to, const toml_node& from, std::string_view /*base*/) {
                              return read_command(to.command.argv, from);
                          },
                          [](const s& of) { return shown(of.command.argv); }}),
            for_commands(text_map_key<s>(
                "env", [](auto& of) -> auto& { return of.command.environment; }, process_variable, anything,
                "Environment variables for it, beside andon's own. No secrets here: set those "
                "in andon's own environment.")),
            for_commands(path_key<s>(
                "cwd", [](auto& of) -> auto& { return of.command.directory; },
                "Folder to start it in; empty: andon's own.")),
            for_urls(text_key<s>(
                "url", [](auto& of) -> auto& { return of.url.url; }, url,
                "The server's URL (Streamable HTTP). This or `command`.")),
            for_urls(text_map_key<s>(
                "headers", [](auto& of) -> auto& { return of.url.headers; }, open_header_name, header_value,
                "Headers with every request. No secrets here.")),
            for_urls(text_map_key<s>(
                "headers_env", [](auto& of) -> auto& { return of.url.headers_env; }, header_name, needed_variable,
                "Headers whose values are secret: each with the name of the environment variable "
                "that has it.")),
            for_urls(text_key<s>(
                "bearer_env", [](auto& of) -> auto& { return of.url.bearer_env; }, variable_name,
                "Environment variable with the token for `Authorization: Bearer`; empty: none.")),
            for_urls(path_key<s>(
                "ca_file", [](auto& of) -> auto& { return of.url.ca_file; },
                "Certificates to trust, a PEM file; empty: those that the system trusts.")),
            text_key<s>(
                "path", [](auto& of) -> auto& { return of.config.path; }, http_path, "Its path in the gateway's URL."),
            for_commands(choice_key<s>(
                "processes", [](auto& of) -> auto& { return of.config.processes; }, process_words,
                "\"per-session\": each client's session has a process to itself; \"pool\": any "
                "process takes any request (stateless servers, 2026-07-28).")),
            for_commands(number_key<s>(
                "pool_size", [](auto& of) -> auto& { return of.config.pool_size; }, 1, 1'024, "Processes of a pool.")),
            for_commands(number_key<s>(
                "warm", [](auto& of) -> auto& { return of.config.warm; }, 0, 1'024,
                "With on_ignored = \"isolate\": processes that stand ready for the next calls.")),
            boolean_key<s>(
                "translate", [](auto& of) -> auto& { return of.config.translate; },
                "Serve clients of both eras of the protocol, whichever the server speaks."),
            duration_key<s>(
                "start_timeout", [](auto& of) -> auto& { return of.config.start_timeout; }, 1ms,
                "How long it may take to start and to shake hands."),
            for_commands(duration_key<s>(
                "restart_first", [](auto& of) -> auto& { return of.config.restart_first; }, 1ms,
                "After a crash: the wait before the first restart; each further one waits twice as "
                "long.")),
            for_commands(duration_key<s>(
                "restart_most", [](auto& of) -> auto& { return of.config.restart_most; }, 1ms,
                "The longest of these waits.")),
        };
        for (const auto& each : call_keys()) made.push_back(of_server(each));
        return made;
    }();
    return keys;
}

const std::vector<config_key<journal_config>>& journal_keys() {
    using s = journal_config;
    static const std::vector<config_key<s>> keys{
        boolean_key<s>(
            "enabled", [](auto& of) -> auto& { return of.enabled; }, "Whether it is kept."),
        path_key<s>(
            "path", [](auto& of) -> auto& { return of.path; },
            "Its file; empty: journal.db in $ANDON_STATE_DIR, or $XDG_STATE_HOME/andon, or "
            "~/.local/state/andon."),
        number_key<s>(
            "max_rows", [](auto& of) -> auto& { return of.max_rows; }, 1, 100'000'000,
            "Calls kept; the oldest are forgotten first."),
        number_key<s>(
            "max_days", [](auto& of) -> auto& { return of.max_days; }, 1, 36'500, "Days for which a call is kept."),
        boolean_key<s>(
            "every_call", [](auto& of) -> auto& { return of.every_call; },
            "Also calls that nobody asked to stop and that were answered."),
    };
    return keys;
}

const std::vector<config_key<control_config>>& control_keys() {
    using s = control_config;
    static const std::vector<config_key<s>> keys{boolean_key<s>(
        "enabled", [](auto& of) -> auto& { return of.enabled; },
        "Whether `andon ps`, `andon stop` and `andon top` can reach it.")};
    return keys;
}

const std::vector<config_key<metrics_config>>& metrics_keys() {
    using s = metrics_config;
    static const std::vector<config_key<s>> keys{
        boolean_key<s>(
            "enabled", [](auto& of) -> auto& { return of.enabled; }, "Whether the gateway offers them."),
        text_key<s>(
            "path", [](auto& of) -> auto& { return of.path; }, http_path, "Their path in the gateway's URL."),
    };
    return keys;
}

const std::vector<config_key<log_config>>& log_keys() {
    using s = log_config;
    static const std::vector<config_key<s>> keys{
        choice_key<s>(
            "level", [](auto& of) -> auto& { return of.level; }, level_words,
            "From which level on: \"debug\", \"info\", \"warning\", \"error\" or \"off\". $ANDON_LOG goes "
            "before it."),
        choice_key<s>(
            "format", [](auto& of) -> auto& { return of.format; }, format_words,
            "\"human\", \"json\" (one object a line), or \"auto\": human on a terminal, else JSON."),
    };
    return keys;
}

}  // namespace andon::gateway
