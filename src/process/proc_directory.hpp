// Reads /proc with bare system calls, as the files need it that run after the fork: see guardian.cpp.
#pragma once

#include <cstddef>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace andon::detail {

class proc_path {
public:
    proc_path& add(const char* text) noexcept {
        while (*text != '\0' && size_ + 1 < sizeof text_) text_[size_++] = *text++;
        text_[size_] = '\0';
        return *this;
    }
    proc_path& add(pid_t number) noexcept {
        char digits[12];
        std::size_t at = sizeof digits;
        digits[--at] = '\0';
        do {
            digits[--at] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number > 0);
        return add(digits + at);
    }
    [[nodiscard]] int open(int flags) const noexcept {
        return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, text_, flags | O_RDONLY | O_CLOEXEC));
    }

private:
    char text_[64];
    std::size_t size_ = 0;
};

/// Calls visit(number, fd) for each entry that is a number above zero; fd is the directory's own.
template <class Visit>
void each_number_in(const proc_path& directory, Visit visit) noexcept {
    const int fd = directory.open(O_DIRECTORY);
    if (fd < 0) return;
    constexpr std::size_t name_at = 19;  // in struct linux_dirent64: after inode, offset, length and type
    alignas(8) char entries[8192];
    for (;;) {
        const auto size = ::syscall(SYS_getdents64, fd, entries, sizeof entries);
        if (size <= 0) break;
        for (long at = 0; at < size;) {
            const char* entry = entries + at;
            int number = 0;
            for (const char* digit = entry + name_at; *digit >= '0' && *digit <= '9'; ++digit) {
                number = number * 10 + (*digit - '0');
            }
            if (number > 0) visit(number, fd);
            at += static_cast<unsigned char>(entry[16]) | static_cast<unsigned char>(entry[17]) << 8;
        }
    }
    ::syscall(SYS_close, fd);
}

}  // namespace andon::detail
