#include "server_errors.hpp"

#include <algorithm>
#include <stdexcept>
#include <unistd.h>

#include "messages.hpp"

namespace andon::bench {

line_reader::result server_errors::read() {
    return lines_.read([this](std::string_view line) { take(line); });
}

void server_errors::take(std::string_view line) {
    const bool cancelled = line.starts_with("@cancel ");
    if (!cancelled && !line.starts_with("@start ")) {
        remember(line);
        if (line_) line_(line);
        return;
    }
    if (!mark_) return;
    mark said{.cancelled = cancelled, .key = 0, .at = 0};
    const auto key = line.find(' ') + 1;
    const auto at = line.rfind(' ') + 1;
    if (at <= key || !read_number(line.substr(key, at - 1 - key), said.key) || !read_number(line.substr(at), said.at)) {
        fail("a mark that is not '@start KEY NS' or '@cancel KEY NS': " + std::string(line));
    }
    mark_(said);
}

void server_errors::remember(std::string_view line) {
    last_words_.append(line).append("\n");
    if (last_words_.size() > 2000) last_words_.erase(0, last_words_.size() - 2000);
}

void server_errors::fail(const std::string& what) {
    // What the server has to say is on its way, or not: a fifth of a second will do.
    const auto deadline = now_ns() + 200'000'000;
    const auto keep = [this](std::string_view line) {
        if (!line.starts_with("@")) remember(line);
    };
    while (now_ns() < deadline && lines_.read(keep) != line_reader::result::end) ::usleep(1000);
    std::string message = what + " (" + server_->how_it_ended() + ")";
    if (!last_words_.empty()) {
        last_words_.pop_back();  // a reason is one line
        std::replace(last_words_.begin(), last_words_.end(), '\n', ' ');
        message += ", its stderr ends: " + last_words_;
    }
    throw std::runtime_error(message);
}

}  // namespace andon::bench
