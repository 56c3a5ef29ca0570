// Cuts what comes out of a pipe into lines, many with one read.
#pragma once

#include <cerrno>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace andon::bench {

class line_reader {
public:
    explicit line_reader(int fd) : fd_(fd), buffer_(std::size_t{1} << 18U) {}

    enum class result { nothing, some, end };
    /// One read(); every line that is complete now goes to `on_line`, without its line feed.
    template <class OnLine>
    result read(OnLine&& on_line);
    [[nodiscard]] int fd() const { return fd_; }

private:
    [[nodiscard]] result fill() {
        if (used_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
        const auto got = ::read(fd_, buffer_.data() + used_, buffer_.size() - used_);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return result::nothing;
        if (got <= 0) return result::end;
        used_ += static_cast<std::size_t>(got);
        return result::some;
    }

    int fd_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    std::size_t searched_ = 0;
};

template <class OnLine>
line_reader::result line_reader::read(OnLine&& on_line) {
    const auto read = fill();
    if (read != result::some) return read;
    std::size_t begin = 0;
    while (const void* found = std::memchr(buffer_.data() + searched_, '\n', used_ - searched_)) {
        const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
        on_line(std::string_view(buffer_.data() + begin, end - begin));
        begin = searched_ = end + 1;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin, used_ - begin);
    used_ -= begin;
    searched_ = used_;
    return result::some;
}

}  // namespace andon::bench
