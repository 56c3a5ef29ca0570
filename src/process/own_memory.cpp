// Under the rules of guardian.cpp: system calls only, no sanitizers.
#include "process/own_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace andon::detail {
namespace {

// One line of /proc/self/maps: first-last rw-p offset device inode    name
class mapping {
public:
    void take(char c) noexcept {
        if (c == ' ') {
            if (!after_space_) ++field_;
            after_space_ = true;
            return;
        }
        after_space_ = false;
        switch (field_) {
            case 0: take_range(c); break;
            case 1:
                if (at_ < 4 && c != "rw-p"[at_]) ours_ = false;
                ++at_;
                break;
            case 4:
                if (c != '0') ours_ = false;  // of a file
                break;
            case 5:
                // No name, or [heap], or [anon: and the name that somebody gave it; not [stack] and what is the
                // kernel's.
                if (named_ < 2 && c != "[h"[named_] && c != "[a"[named_]) ours_ = false;
                ++named_;
                break;
            default: break;
        }
    }

    [[nodiscard]] bool private_and_anonymous() const noexcept { return ours_ && at_ == 4; }
    [[nodiscard]] bool touches(std::uintptr_t first, std::uintptr_t last) const noexcept {
        return first_ < last && first < last_;
    }
    void unmap() const noexcept { ::syscall(SYS_munmap, first_, last_ - first_); }

private:
    void take_range(char c) noexcept {
        if (c == '-') {
            in_last_ = true;
            return;
        }
        auto& number = in_last_ ? last_ : first_;
        number = number * 16 + static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }

    std::uintptr_t first_ = 0;
    std::uintptr_t last_ = 0;
    int field_ = 0;
    int at_ = 0;
    int named_ = 0;
    bool in_last_ = false;
    bool after_space_ = false;
    bool ours_ = true;
};

std::uintptr_t address(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

void unmap_all_but(const void* first, const void* last) noexcept {
    const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
    if (fd < 0) return;
    const auto stack = address(&fd);
    const auto local = address(&errno);
    char text[1024];
    mapping line;
    for (;;) {
        const auto size = ::syscall(SYS_read, fd, text, sizeof text);
        if (size <= 0) break;
        for (long i = 0; i < size; ++i) {
            if (text[i] != '\n') {
                line.take(text[i]);
                continue;
            }
            const bool needed = line.touches(stack, stack + 1) || line.touches(local, local + 1) ||
                                line.touches(address(first), address(last));
            if (line.private_and_anonymous() && !needed) line.unmap();
            line = mapping();
        }
    }
    ::syscall(SYS_close, fd);
}

}  // namespace andon::detail
