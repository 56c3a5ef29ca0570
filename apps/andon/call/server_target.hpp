// Which server is meant, and how it is reached.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andon/client/client.hpp"
#include "andon/transport/http_client.hpp"

namespace andon::app {

/// An address of http or https, and what the configuration says of it.
struct server_url {
    std::string text;
    http_client_options how{};
};

using server_target = std::variant<command, server_url>;

/// `https://...` is a URL; what has a blank or a slash in it is a command, taken apart as a shell would; anything else
/// is a name from the configuration, or a program in the PATH. Throws std::invalid_argument with what is wrong.
/// `config` is the file to look into; empty: the one that gateway::find_config() names.
[[nodiscard]] server_target resolve_server(std::string_view text, const std::string& config = {});

/// What the options of the command line say of a server.
struct server_access {
    std::string server;
    std::string config{};                ///< the file that has its name
    std::vector<std::string> headers{};  ///< `Name: value`, for a URL
    std::string bearer_env{};            ///< the name of the environment variable that has the token, for a URL
    std::string ca_file{};               ///< for a URL
    std::vector<std::string> env{};      ///< `NAME=value`, for a command
    std::string cwd{};                   ///< for a command
    std::string revision{};              ///< speak only this one
};

/// What the command line says goes before what the configuration does. Throws std::invalid_argument.
void apply_access(const server_access& access, http_client_options& to);
void apply_access(const server_access& access, command& to);
/// Options that would say nothing are wrong: of a URL where there is a command, and the other way round.
void refuse_url_options(const server_access& access);
void refuse_command_options(const server_access& access);
/// What would help after a failure to reach a URL, as `; --ca-file ...`; mostly nothing.
[[nodiscard]] std::string access_hint(const server_access& access, std::string_view why);

/// No server is there, or it does not speak our language.
class unreachable_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Starts or reaches it. Throws std::invalid_argument for what the user can mend on the command line, and
/// unreachable_error.
[[nodiscard]] client open_client(const server_access& access, client_options options);

/// Whether we would start it, so that it ends with us.
[[nodiscard]] bool is_command(const server_access& access);

}  // namespace andon::app
