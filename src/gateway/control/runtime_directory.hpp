// The folder in which the running andons of a user are found.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "process/descriptor.hpp"

namespace andon::gateway {

/// Where a control socket is made: $ANDON_RUNTIME_DIR, else $XDG_RUNTIME_DIR/andon, else /tmp/andon-<uid>.
[[nodiscard]] std::filesystem::path runtime_directory();

/// Where to look for them. A host may start its servers with hardly any environment, so that the andon before them
/// knows no $XDG_RUNTIME_DIR where the user's shell has one: unless $ANDON_RUNTIME_DIR names it, it is all places.
[[nodiscard]] std::vector<std::filesystem::path> runtime_directories();

/// A folder that is real, ours, and closed to everybody else; it stays the same one as long as it is held, whatever
/// happens to the names on the way to it.
class private_folder {
public:
    /// Makes it where it is missing. Throws std::runtime_error with what the user can do.
    [[nodiscard]] static private_folder make(const std::filesystem::path& path);
    /// Not there: nothing is held. Root may look into the folders of others. Throws as make() does.
    [[nodiscard]] static private_folder find(const std::filesystem::path& path);

    [[nodiscard]] bool found() const noexcept { return held_.get() >= 0; }
    [[nodiscard]] int fd() const noexcept { return held_.get(); }
    /// Short enough for the address of a socket, however long the path of the folder is.
    [[nodiscard]] std::string address_of(const std::string& name) const;
    /// The processes that have a socket in it, whether they live or not.
    [[nodiscard]] std::vector<pid_t> processes() const;

private:
    explicit private_folder(detail::descriptor held) noexcept : held_(std::move(held)) {}
    detail::descriptor held_;
};

/// The name of a process's socket.
[[nodiscard]] std::string socket_name(pid_t pid);

enum class socket_state { open, stale, missing, full, refused };

/// A connection to it, blocking. One whose process is dead is removed. `full`: more connections wait than fit.
struct socket_attempt {
    detail::descriptor socket{};
    socket_state state = socket_state::missing;
};
[[nodiscard]] socket_attempt connect_to(const private_folder& folder, const std::string& name);

}  // namespace andon::gateway
