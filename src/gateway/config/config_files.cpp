// Where andon.toml, the secrets and the state stand.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "gateway/config/config.hpp"
#include "process/descriptor.hpp"

namespace andon::gateway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = std::size_t{1} << 20U;
constexpr std::size_t longest_secret = std::size_t{16} << 10U;
constexpr int longest_wait_ms = 5'000;
constexpr std::string_view file_name = "andon.toml";

/// Empty: it is not set.
std::string variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value == nullptr ? "" : value;
}

/// $XDG_..., if it is what its specification asks for, else the folder under the home. Empty: there is neither.
fs::path users_folder(const char* xdg, const char* under_home) {
    if (const fs::path folder = variable(xdg); folder.is_absolute()) return folder / "andon";
    const fs::path home = variable("HOME");
    return home.empty() ? fs::path() : home / under_home / "andon";
}

struct file_text {
    std::string text{};
    std::string error{};
};

file_text read_file(const std::string& path, std::size_t most) {
    const auto unreadable = [] {
        return file_text{.error = "cannot be read: " + std::generic_category().message(errno)};
    };
    // A pipe may be what a shell puts in the place of a file, or one that nobody will ever write to.
    const detail::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return unreadable();
    file_text read;
    std::array<char, 16'384> some{};
    for (;;) {
        pollfd ready{file.get(), POLLIN, 0};
        const int polled = ::poll(&ready, 1, longest_wait_ms);
        if (polled == 0) return {.error = "is a pipe, and nobody writes to it"};
        if (polled < 0) continue;  // a signal: it may end us
        const ssize_t got = ::read(file.get(), some.data(), some.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0 && errno == EISDIR) return {.error = "is a folder"};
        if (got < 0) return unreadable();
        if (got == 0) return read;
        read.text.append(some.data(), static_cast<std::size_t>(got));
        if (read.text.size() > most) return {.error = "is larger than " + std::to_string(most >> 10U) + " KiB"};
    }
}

}  // namespace

std::string users_config() {
    const fs::path folder = users_folder("XDG_CONFIG_HOME", ".config");
    return folder.empty() ? "" : (folder / file_name).string();
}

std::optional<std::string> find_config(const std::string& asked) {
    if (!asked.empty()) return asked;
    if (const std::string from = variable("ANDON_CONFIG"); !from.empty()) return from;
    const fs::path home = variable("HOME");
    for (const fs::path& folder : {users_folder("XDG_CONFIG_HOME", ".config"),
                                   home.empty() ? fs::path() : home / ".config" / "andon", fs::path("/etc/andon")}) {
        std::error_code error;
        if (!folder.empty() && fs::exists(folder / file_name, error)) return (folder / file_name).string();
    }
    return std::nullopt;
}

configuration load_config(const std::string& asked) {
    const auto file = find_config(asked);
    if (!file) return {};
    const file_text read = read_file(*file, longest_file);
    if (!read.error.empty()) {
        const bool from_variable = asked.empty() && *file == variable("ANDON_CONFIG");
        throw config_error(
            {visible_text(*file, 400) + (from_variable ? ", which $ANDON_CONFIG names, " : ": ") + read.error});
    }
    return parse_config(read.text, *file);
}

std::string token_of(const token_source& from) {
    std::string token;
    if (!from.env.empty()) {
        token = variable(from.env.c_str());
        if (token.empty()) {
            throw config_error({"the environment variable " + from.env + ", for the token of " +
                                visible_text(from.principal, 64) + ", is not set"});
        }
        return token;
    }
    file_text read = read_file(from.file, longest_secret);
    if (!read.error.empty()) {
        throw config_error({"the token file " + visible_text(from.file, 400) + ' ' + read.error});
    }
    token = read.text.substr(0, read.text.find_first_of("\r\n"));
    if (token.empty()) throw config_error({"the token file " + visible_text(from.file, 400) + " is empty"});
    return token;
}

std::map<std::string, std::string> principals_by_token(const gateway_config& config) {
    std::map<std::string, std::string> principals;
    for (const token_source& each : config.tokens) {
        const auto [found, is_new] = principals.emplace(token_of(each), each.principal);
        if (!is_new) {
            throw config_error({"the tokens of " + visible_text(found->second, 64) + " and " +
                                visible_text(each.principal, 64) + " are the same"});
        }
    }
    return principals;
}

std::string state_directory() {
    if (std::string own = variable("ANDON_STATE_DIR"); !own.empty()) return own;
    const fs::path folder = users_folder("XDG_STATE_HOME", ".local/state");
    if (folder.empty()) {
        throw std::runtime_error("there is no place for andon's files: set HOME, XDG_STATE_HOME or ANDON_STATE_DIR");
    }
    return folder.string();
}

}  // namespace andon::gateway
