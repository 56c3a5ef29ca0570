// The keys of andon.toml: one table that the reader, the commented example and `andon config show` are all made from,
// so that they cannot differ.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/config/toml_tree.hpp"

namespace andon::gateway {

/// While a [servers.NAME] is read: which of the two it is shows only at the end.
struct server_draft {
    server_config config{};
    command_target command{};
    url_target url{};
};

/// Which servers a key is for.
enum class key_scope : std::uint8_t { any, command, url };

template <class Section>
struct config_key {
    std::string_view name;
    std::string_view about;  ///< one line
    /// Sets it. Gives what was expected instead; empty: the value is good. `base`: the folder that relative paths begin
    /// in.
    std::function<std::string(Section&, const toml_node&, std::string_view base)> read;
    std::function<json::value(const Section&)> show;
    key_scope scope = key_scope::any;
};

[[nodiscard]] const std::vector<config_key<gateway_config>>& gateway_keys();
[[nodiscard]] const std::vector<config_key<token_source>>& token_keys();
[[nodiscard]] const std::vector<config_key<server_draft>>& server_keys();
/// Of a server as a whole, and of one tool.
[[nodiscard]] const std::vector<config_key<call_policy>>& call_keys();
[[nodiscard]] const std::vector<config_key<journal_config>>& journal_keys();
[[nodiscard]] const std::vector<config_key<control_config>>& control_keys();
[[nodiscard]] const std::vector<config_key<metrics_config>>& metrics_keys();
[[nodiscard]] const std::vector<config_key<log_config>>& log_keys();

/// The tables that have settings and no name of the user's own, in the order of the example.
template <class Visit>
void for_each_plain_table(Visit visit) {
    visit("gateway", "The gateway: where it listens, and who may call it.", gateway_keys(), &configuration::gateway);
    visit("journal", "The journal of what became of every call: `andon log` shows it.", journal_keys(),
          &configuration::journal);
    visit("control", "The control socket of this andon.", control_keys(), &configuration::control);
    visit("metrics", "Figures for Prometheus, from the gateway.", metrics_keys(), &configuration::metrics);
    visit("log", "What andon itself says, on standard error.", log_keys(), &configuration::log);
}

}  // namespace andon::gateway
