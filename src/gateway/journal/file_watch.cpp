#include "gateway/journal/file_watch.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace andon::gateway {

file_watch::file_watch(const std::string& path) {
    const std::filesystem::path file(path);
    folder_ = file.has_parent_path() ? file.parent_path().string() : ".";
    name_ = file.filename().string();
    std::error_code error;
    if (!std::filesystem::exists(folder_, error)) {
        std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), error);
        static_cast<void>(::mkdir(folder_.c_str(), S_IRWXU));  // if it failed, the next call says why
    }
    descriptor_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    constexpr std::uint32_t events = IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    if (descriptor_ < 0 || ::inotify_add_watch(descriptor_, folder_.c_str(), events) < 0) {
        const std::system_error why(errno, std::generic_category(), "cannot watch " + folder_);
        if (descriptor_ >= 0) ::close(descriptor_);
        throw why;
    }
}

file_watch::~file_watch() { ::close(descriptor_); }

bool file_watch::changed() {
    bool found = false;
    alignas(inotify_event) std::array<char, 4'096> some{};
    for (;;) {
        const ssize_t size = ::read(descriptor_, some.data(), some.size());
        if (size <= 0) return found;
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            inotify_event event{};
            std::memcpy(&event, some.data() + at, sizeof event);
            // Filled up with zeros, to a length that the kernel likes.
            const std::string_view name = event.len == 0 ? "" : some.data() + at + sizeof event;
            at += sizeof event + event.len;
            if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
                throw std::runtime_error("the folder " + folder_ + " is gone");
            }
            // Memory that readers and writers share is not news.
            const bool ours = name.starts_with(name_) && !name.ends_with("-shm");
            found = found || ours || (event.mask & IN_Q_OVERFLOW) != 0;
        }
    }
}

}  // namespace andon::gateway
