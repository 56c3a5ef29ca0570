#include "gateway/control/runtime_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

constexpr std::string_view ending = ".sock";

std::string_view environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::filesystem::path in_tmp() { return "/tmp/andon-" + std::to_string(::geteuid()); }

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
    constexpr std::size_t longest_path = 1'024;
    throw std::runtime_error(visible_text(path.string(), longest_path) + " " + why);
}

std::string octal(mode_t mode) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode & 07777U, 8).ptr;
    return {digits.data(), end};
}

/// Not found: nothing.
detail::descriptor open_checked(const std::filesystem::path& path, bool root_may_look) {
    if (!path.is_absolute()) refuse(path, "is no absolute path; the folder for control sockets needs one");
    detail::descriptor held(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (held.get() < 0) {
        if (errno == ENOENT) return held;
        if (errno == ELOOP || errno == ENOTDIR) {
            refuse(path, "is not a folder itself (a link or a file): remove it, or set ANDON_RUNTIME_DIR to another");
        }
        refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(held.get(), &status) != 0) refuse(path, std::string("cannot be looked at: ") + std::strerror(errno));
    if (status.st_uid != ::geteuid() && !(root_may_look && ::geteuid() == 0)) {
        refuse(path, "belongs to another user (uid " + std::to_string(status.st_uid) +
                         "): set ANDON_RUNTIME_DIR to a folder of your own");
    }
    if ((status.st_mode & 0077U) != 0) {
        refuse(path, "is open to others (mode " + octal(status.st_mode) + "): chmod 700 it");
    }
    return held;
}

}  // namespace

std::filesystem::path runtime_directory() {
    if (const auto ours = environment("ANDON_RUNTIME_DIR"); !ours.empty()) return ours;
    if (const auto users = environment("XDG_RUNTIME_DIR"); !users.empty())
        return std::filesystem::path(users) / "andon";
    return in_tmp();
}

std::vector<std::filesystem::path> runtime_directories() {
    std::vector<std::filesystem::path> all{runtime_directory()};
    if (!environment("ANDON_RUNTIME_DIR").empty()) return all;
    for (const auto& other : {"/run/user/" + std::to_string(::geteuid()) + "/andon", in_tmp().string()}) {
        if (std::find(all.begin(), all.end(), other) == all.end()) all.emplace_back(other);
    }
    return all;
}

private_folder private_folder::make(const std::filesystem::path& path) {
    if (detail::descriptor held = open_checked(path, false); held.get() >= 0) return private_folder(std::move(held));
    constexpr mode_t ours_alone = 0700;
    if (::mkdir(path.c_str(), ours_alone) != 0 && errno != EEXIST) {
        refuse(path, std::string("cannot be made: ") + std::strerror(errno));
    }
    detail::descriptor held = open_checked(path, false);
    if (held.get() < 0) refuse(path, "was removed while it was made");
    return private_folder(std::move(held));
}

private_folder private_folder::find(const std::filesystem::path& path) {
    return private_folder(open_checked(path, true));
}

std::string private_folder::address_of(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(fd()) + '/' + name;
}

std::vector<pid_t> private_folder::processes() const {
    std::vector<pid_t> all;
    const int again = ::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(again), ::closedir);
    if (!folder) {
        ::close(again);
        return all;
    }
    while (const dirent* const entry = ::readdir(folder.get())) {
        const std::string_view name(static_cast<const char*>(entry->d_name));
        if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
        const std::string_view digits = name.substr(0, name.size() - ending.size());
        pid_t pid = 0;
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
        if (failed == std::errc() && end == digits.data() + digits.size() && pid > 0 && digits[0] != '0') {
            all.push_back(pid);
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string socket_name(pid_t pid) { return std::to_string(pid) + std::string(ending); }

socket_attempt connect_to(const private_folder& folder, const std::string& name) {
    detail::descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder.address_of(name);
    if (socket.get() < 0 || path.size() >= sizeof address.sun_path) return {{}, socket_state::refused};
    std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size() + 1);
    // Not blocking: one whose queue is full answers so at once.
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {  // NOLINT
        ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
        return {std::move(socket), socket_state::open};
    }
    switch (errno) {
        case EAGAIN: return {{}, socket_state::full};
        case ENOENT: return {{}, socket_state::missing};
        case ECONNREFUSED:  // nobody listens on it, and nobody ever will again
            ::unlinkat(folder.fd(), name.c_str(), 0);
            return {{}, socket_state::stale};
        default: return {{}, socket_state::refused};
    }
}

}  // namespace andon::gateway
