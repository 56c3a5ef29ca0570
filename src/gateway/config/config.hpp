// What andon is told by its file, andon.toml: which servers there are, and what it does with their calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "andon/transport/log.hpp"
#include "andon/wire/error.hpp"
#include "gateway/config/policy.hpp"

namespace andon::gateway {

/// A server that andon starts itself, and speaks to over stdio.
struct command_target {
    std::vector<std::string> argv{};
    std::map<std::string, std::string> environment{};  ///< beside andon's own
    std::string directory{};                           ///< to start it in; empty: andon's own
};

/// A server that runs elsewhere, reached over Streamable HTTP.
struct url_target {
    std::string url{};
    std::map<std::string, std::string> headers{};      ///< with every request
    std::map<std::string, std::string> headers_env{};  ///< name of the header, name of the variable that has its value
    std::string bearer_env{};                          ///< variable with the token for Authorization; empty: none
    std::string ca_file{};                             ///< trusted certificates, as PEM; empty: those of the system
};

/// Whose processes are a server's, behind the gateway.
enum class process_use : std::uint8_t {
    per_session,  ///< each session of a client has one to itself
    pool,         ///< any process takes any request: for modern servers, which keep no state
};

struct server_config {
    std::string name{};
    std::variant<command_target, url_target> target{};
    std::string path{};  ///< in the gateway; after loading never empty
    process_use processes = process_use::per_session;
    std::size_t pool_size = 4;  ///< processes of a pool
    std::size_t warm = 1;       ///< with on_ignored = isolate: processes that wait for the next call
    bool translate = true;      ///< clients of either era are served, whichever the server speaks
    duration start_timeout = std::chrono::seconds(30);  ///< until the handshake is done
    duration restart_first = std::chrono::milliseconds(500);
    duration restart_most = std::chrono::minutes(1);
    server_policy policy{};  ///< its tools' policies are whole: what a tool does not say is the server's
};

/// Who may call the gateway, by a token that stands in the environment or in a file; one of the two is set.
struct token_source {
    std::string principal{};
    std::string env{};
    std::string file{};
};

struct gateway_config {
    std::string address = "127.0.0.1";
    std::uint16_t port = 7780;  ///< 0: any that is free
    std::vector<std::string> hosts{};
    std::vector<std::string> origins{};
    std::string certificate{};  ///< with both of them: TLS
    std::string private_key{};
    std::size_t max_sessions = 16'384;
    std::size_t max_in_flight_per_client = 1'024;
    std::size_t max_body = std::size_t{16} << 20U;
    duration stalled_after = std::chrono::seconds(30);
    duration abandon_after = std::chrono::minutes(5);
    std::vector<token_source> tokens{};  ///< empty: no token is asked for
};

struct journal_config {
    bool enabled = true;
    std::string path{};  ///< empty: journal.db in the state directory
    std::size_t max_rows = 100'000;
    std::size_t max_days = 30;
    bool every_call = false;  ///< also those that nobody asked to stop
};

struct control_config {
    bool enabled = true;  ///< ps, stop and top can see this andon
};

struct metrics_config {
    bool enabled = true;
    std::string path = "/metrics";
};

enum class log_format : std::uint8_t { automatic, human, json };

struct log_config {
    log_level level = log_level::info;
    log_format format = log_format::automatic;
};

struct configuration {
    std::string file{};  ///< where it stands; empty: there is none, and these are the defaults
    std::string text{};  ///< what stands in it
    gateway_config gateway{};
    std::vector<server_config> servers{};  ///< by name
    journal_config journal{};
    control_config control{};
    metrics_config metrics{};
    log_config log{};
    bool sets_nothing = true;  ///< there is no key in the file

    /// Null: there is none of that name.
    [[nodiscard]] const server_config* server(std::string_view name) const noexcept;
};

/// Everything that is wrong with a file, one line each: "andon.toml:3:1: ...". Safe to show.
class config_error : public std::runtime_error {
public:
    explicit config_error(std::vector<std::string> problems);
    [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

private:
    std::vector<std::string> problems_;
};

/// `toml` is the text of a file, `file` its name, for the problems. Throws config_error.
[[nodiscard]] configuration parse_config(std::string_view toml, std::string_view file);

/// Where the file is looked for: `asked` (--config), $ANDON_CONFIG, and if neither says anything
/// $XDG_CONFIG_HOME/andon,
/// ~/.config/andon and /etc/andon, the first that is there. Nothing: none is. One that was asked for need not be there.
[[nodiscard]] std::optional<std::string> find_config(const std::string& asked = {});
/// Where a user's own would be: what `andon config init` writes. Empty: there is no home.
[[nodiscard]] std::string users_config();

/// The file that find_config() names, or the defaults. Throws config_error, also where the file cannot be read.
[[nodiscard]] configuration load_config(const std::string& asked = {});

/// Every key with its default and what it does, each commented out. Parses as the defaults, and with every `#` that
/// stands directly before a key or a table removed, too.
[[nodiscard]] std::string example_config();

/// What is in effect, in the form of the file.
[[nodiscard]] json::object shown_config(const configuration& config);
[[nodiscard]] std::string shown_config_toml(const configuration& config);

/// Throws std::runtime_error where a variable is unset or a file cannot be read, and says which.
[[nodiscard]] std::string token_of(const token_source& from);
/// The principal of each token, for static_tokens(). Throws std::runtime_error where a variable is unset or a file
/// cannot be read, and says which.
[[nodiscard]] std::map<std::string, std::string> principals_by_token(const gateway_config& config);

/// Of journal and control files: $ANDON_STATE_DIR, else $XDG_STATE_HOME/andon, else ~/.local/state/andon. Throws
/// std::runtime_error where none of them is set.
[[nodiscard]] std::string state_directory();

}  // namespace andon::gateway
