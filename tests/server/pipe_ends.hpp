// A pipe, as tests hold it.
#pragma once

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace andon {

class pipe_ends {
public:
    pipe_ends() {
        if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;
    ~pipe_ends() {
        for (const int end : ends_) ::close(end);
    }
    /// Where it is read.
    [[nodiscard]] int out() const noexcept { return ends_[0]; }
    void write(std::string_view text) const {
        if (::write(ends_[1], text.data(), text.size()) < 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
    }

private:
    std::array<int, 2> ends_{};
};

inline bool readable_now(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
}

}  // namespace andon
