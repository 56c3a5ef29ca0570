// What `andon wrap` and `andon gateway` are told on the command line, in place of or beside the configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace CLI {
class App;
}

namespace andon::app {

struct relay_flags {
    std::string config;
    std::string server;  ///< by its name in the configuration
    std::string name;    ///< for people, in place of the program's
    std::vector<std::string> argv;
    std::string url;
    std::string bearer_env;  ///< with `url`
    std::string ca_file;     ///< likewise
    std::optional<duration> timeout;
    std::optional<duration> max_timeout;
    std::string on_ignored;
    std::optional<duration> grace;
    std::string log_format;
    std::string log_level;
    bool no_journal = false;
    bool every_call = false;
    bool no_control = false;
};

/// Both have them. They live as long as the app.
void add_relay_options(CLI::App& command, relay_flags& flags);

/// What the configuration says, and the flags instead of it. Throws gateway::config_error, and
/// std::invalid_argument for a flag that says nothing useful.
[[nodiscard]] gateway::configuration configured(const relay_flags& flags);
/// The one server that the flags name by a command, a URL or its name; nothing: none was named.
[[nodiscard]] std::optional<gateway::server_config> named_server(const relay_flags& flags,
                                                                 const gateway::configuration& config);

}  // namespace andon::app
