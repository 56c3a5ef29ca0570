#include "marks.hpp"

#include <chrono>
#include <cstdlib>

namespace demo {

void marks::add(std::string_view piece) {
    const std::lock_guard lock(mutex_);
    text_ += piece;
    changed_.notify_all();
}

std::optional<andon::time_point> marks::wait_for(std::string_view what, std::string_view key, andon::duration limit) {
    const std::string wanted = "@" + std::string(what) + ' ' + std::string(key) + ' ';
    std::unique_lock lock(mutex_);
    std::size_t at = std::string::npos;
    const auto whole_line_there = [&] {
        at = text_.find(wanted);
        return at != std::string::npos && text_.find('\n', at) != std::string::npos;
    };
    if (!changed_.wait_for(lock, limit, whole_line_there)) return std::nullopt;
    return andon::time_point(std::chrono::nanoseconds(std::strtoll(text_.c_str() + at + wanted.size(), nullptr, 10)));
}

}  // namespace demo
