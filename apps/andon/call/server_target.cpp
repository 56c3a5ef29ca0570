#include "call/server_target.hpp"

#include <cstdlib>

#include "andon/core/visible_text.hpp"
#include "call/safe_text.hpp"
#include "gateway/config/command_words.hpp"
#include "gateway/config/config.hpp"
#include "gateway/config/nearest_word.hpp"
#include "gateway/config/reaching.hpp"

namespace andon::app {
namespace {

/// What is wrong with the file is wrong with what the user gave us.
gateway::configuration config_in(const std::string& file) {
    try {
        return gateway::load_config(file);
    } catch (const gateway::config_error& error) {
        throw std::invalid_argument(error.what());
    }
}

server_target target_of(const gateway::server_config& server) {
    if (const auto* const url = std::get_if<gateway::url_target>(&server.target)) {
        return server_url{url->url, gateway::http_options_of(*url)};
    }
    return gateway::command_of(std::get<gateway::command_target>(server.target));
}

std::pair<std::string, std::string> split_at(std::string_view text, char at, const std::string& form) {
    const auto found = text.find(at);
    if (found == std::string_view::npos || found == 0) {
        throw std::invalid_argument(in_quotes(text) + " is not of the form " + form);
    }
    std::string_view value = text.substr(found + 1);
    while (at == ':' && value.starts_with(' ')) value.remove_prefix(1);
    return {std::string(text.substr(0, found)), std::string(value)};
}

std::string token_from(const std::string& variable) {
    const char* const token = std::getenv(variable.c_str());
    if (token == nullptr || *token == '\0') {
        throw std::invalid_argument("--bearer-env: the environment variable " + in_quotes(variable) + " is not set");
    }
    return token;
}

}  // namespace

void apply_access(const server_access& access, http_client_options& to) {
    for (const std::string& each : access.headers) to.headers.push_back(split_at(each, ':', "Name: value"));
    if (!access.bearer_env.empty()) to.bearer_token = token_from(access.bearer_env);
    if (!access.ca_file.empty()) to.ca_file = access.ca_file;
}

void apply_access(const server_access& access, command& to) {
    for (const std::string& each : access.env) to.environment.push_back(split_at(each, '=', "NAME=value"));
    if (!access.cwd.empty()) to.directory = access.cwd;
}

void refuse_command_options(const server_access& access) {
    if (access.env.empty() && access.cwd.empty()) return;
    throw std::invalid_argument("--env and --cwd are for a server that is started, and this one is a URL");
}

void refuse_url_options(const server_access& access) {
    if (access.headers.empty() && access.bearer_env.empty() && access.ca_file.empty()) return;
    throw std::invalid_argument("--header, --bearer-env and --ca-file are for a URL, and this server is a command");
}

std::string access_hint(const server_access& access, std::string_view why) {
    const auto says = [&](std::string_view text) { return why.find(text) != std::string_view::npos; };
    if (access.bearer_env.empty() && (says("HTTP 401") || says("HTTP status 401")))
        return "; --bearer-env says where its token is";
    if (says("certificate was refused")) {
        return access.ca_file.empty() ? "; --ca-file names the certificates to trust, where the system's are not those"
                                      : "; see whether the file of --ca-file has the one that signed it";
    }
    return {};
}

server_target resolve_server(std::string_view text, const std::string& config_file) {
    if (text.starts_with("http://") || text.starts_with("https://")) return server_url{std::string(text)};
    if (const auto scheme = text.find("://"); scheme != std::string_view::npos && scheme < text.find_first_of(" /")) {
        throw std::invalid_argument(in_quotes(text) + ": a server's URL begins with http:// or https://");
    }
    auto words = gateway::command_words(text);
    if (!words) throw std::invalid_argument(in_quotes(text) + ": a quote or a backslash has no end");
    if (words->empty() || words->front().empty()) {
        throw std::invalid_argument("which server? It is a command, a URL or a name from the configuration");
    }
    command found{.argv = *std::move(words)};
    const bool is_word = text.find_first_of(" \t\n/") == std::string_view::npos;
    if (!is_word) return found;
    const gateway::configuration config = config_in(config_file);
    if (const auto* const named = config.server(text)) return target_of(*named);
    if (gateway::can_be_started({.argv = found.argv})) return found;
    std::vector<std::string> names;
    for (const gateway::server_config& each : config.servers) names.push_back(each.name);
    throw std::invalid_argument("there is no server named " + in_quotes(text) +
                                " in the configuration, and no program of that name in the PATH" +
                                gateway::did_you_mean(text, names));
}

client open_client(const server_access& access, client_options options) {
    if (!access.revision.empty()) {
        const auto only = revision_from(access.revision);
        if (!only) throw std::invalid_argument("there is no revision " + in_quotes(access.revision));
        options.revisions = {*only};
    }
    server_target target = resolve_server(access.server, access.config);
    if (auto* const start = std::get_if<command>(&target)) {
        refuse_url_options(access);
        apply_access(access, *start);
    } else {
        refuse_command_options(access);
        apply_access(access, std::get<server_url>(target).how);
    }
    try {
        if (const auto* const start = std::get_if<command>(&target)) return client::spawn(*start, std::move(options));
        auto& [url, how] = std::get<server_url>(target);
        return client::connect_http(url, std::move(how), std::move(options));
    } catch (const std::invalid_argument&) {
        throw;
    } catch (const std::exception& error) {
        const std::string why = visible_text(error.what(), 1'024);
        throw unreachable_error(in_quotes(access.server) + ": " + why + access_hint(access, why));
    }
}

bool is_command(const server_access& access) {
    return std::holds_alternative<command>(resolve_server(access.server, access.config));
}

}  // namespace andon::app
