#include "relay/relay_flags.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "andon/core/visible_text.hpp"
#include "gateway/config/nearest_word.hpp"
#include "transport/http/endpoint.hpp"
#include "transport/log_write.hpp"

namespace andon::app {
namespace {

/// To the server's own policy, and to those of its tools: whoever says it on the command line means all of them.
template <class Change>
void change_all(gateway::server_policy& policy, Change change) {
    change(policy.usual);
    for (auto& [tool, each] : policy.tools) change(each);
}

void apply(const relay_flags& flags, gateway::server_config& to) {
    if (!flags.name.empty()) to.name = flags.name;
    if (flags.timeout) change_all(to.policy, [&](gateway::call_policy& each) { each.timeout = flags.timeout; });
    if (flags.max_timeout)
        change_all(to.policy, [&](gateway::call_policy& each) { each.max_timeout = flags.max_timeout; });
    if (flags.grace) change_all(to.policy, [&](gateway::call_policy& each) { each.grace = *flags.grace; });
    if (!flags.on_ignored.empty()) {
        const auto policy = flags.on_ignored == "restart"   ? gateway::ignored_policy::restart
                            : flags.on_ignored == "isolate" ? gateway::ignored_policy::isolate
                                                            : gateway::ignored_policy::drop;
        change_all(to.policy, [&](gateway::call_policy& each) { each.on_ignored = policy; });
    }
}

/// A package without its scope and its version: `@scope/name@1.2` is `name`.
std::string name_of_package(std::string_view package) {
    package.remove_prefix(std::min(package.rfind('/') + 1, package.size()));
    return std::string(package.substr(0, package.find_first_of("@=<>[")));
}

/// For people, of a command without a name: what is run, and not what runs it.
std::string name_of(const std::vector<std::string>& argv) {
    constexpr std::array<std::string_view, 4> runners{"npx", "bunx", "pnpx", "uvx"};
    constexpr std::array<std::string_view, 3> interpreters{"node", "bun", "deno"};
    std::string program = std::filesystem::path(argv.front()).filename().string();
    const bool runs_package = std::ranges::find(runners, program) != runners.end();
    const bool python = program.starts_with("python");
    if (!runs_package && !python && std::ranges::find(interpreters, program) == interpreters.end()) return program;
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string& word = argv[i];
        if (python && word == "-m" && i + 1 < argv.size()) return argv[i + 1];
        if (word == "-c" || word == "-e") return program;
        if (word.empty() || word.starts_with('-') || (!runs_package && word == "run")) continue;
        std::string name = runs_package ? name_of_package(word) : std::filesystem::path(word).stem().string();
        return name.empty() ? program : name;
    }
    return program;
}

}  // namespace

gateway::configuration configured(const relay_flags& flags) {
    gateway::configuration config = gateway::load_config(flags.config);
    if (flags.no_journal) config.journal.enabled = false;
    if (flags.every_call) config.journal.every_call = true;
    if (flags.no_control) config.control.enabled = false;
    if (flags.log_format == "human") config.log.format = gateway::log_format::human;
    if (flags.log_format == "json") config.log.format = gateway::log_format::json;
    if (const auto level = detail::log_level_of_environment()) config.log.level = *level;
    if (const auto level = detail::log_level_named(flags.log_level)) config.log.level = *level;
    for (gateway::server_config& each : config.servers) apply(flags, each);
    return config;
}

std::optional<gateway::server_config> named_server(const relay_flags& flags, const gateway::configuration& config) {
    const int named = (flags.server.empty() ? 0 : 1) + (flags.argv.empty() ? 0 : 1) + (flags.url.empty() ? 0 : 1);
    if (named == 0) return std::nullopt;
    if (named > 1) throw std::invalid_argument("only one of --server, --url and a command can be given");
    if (!flags.server.empty()) {
        const gateway::server_config* const found = config.server(flags.server);
        if (found == nullptr) {
            std::vector<std::string> names;
            for (const gateway::server_config& each : config.servers) names.push_back(each.name);
            throw std::invalid_argument("--server: the configuration has no server of the name \"" +
                                        visible_text(flags.server, 200) + '"' +
                                        (names.empty() ? "; it has none" : gateway::did_you_mean(flags.server, names)));
        }
        return *found;
    }
    gateway::server_config server{.path = "/mcp"};
    if (!flags.url.empty()) {
        server.name = detail::without_password(flags.url);
        server.target = gateway::url_target{.url = flags.url, .bearer_env = flags.bearer_env, .ca_file = flags.ca_file};
        if (flags.on_ignored == "restart" || flags.on_ignored == "isolate") {
            throw std::invalid_argument("--on-ignored " + flags.on_ignored +
                                        ": a server behind a URL cannot be killed");
        }
    } else {
        server.name = name_of(flags.argv);
        server.target = gateway::command_target{.argv = flags.argv};
    }
    apply(flags, server);
    return server;
}

}  // namespace andon::app
