#include "transport/outbox.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

namespace andon::detail {
namespace {

bool is_cancelled(const cancel_token& token) noexcept {
    return token.state() != nullptr && token.state()->cancel_accepted();
}

/// Never waits and never raises SIGPIPE on a socket; a pipe or terminal is non-blocking by its own description.
ssize_t write_some(int fd, std::string_view bytes, bool& is_socket) noexcept {
    if (is_socket) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0 || errno != ENOTSOCK) return sent;
        is_socket = false;
    }
    return ::write(fd, bytes.data(), bytes.size());
}

}  // namespace

outbox::queued outbox::put(std::string_view line, const cancel_token* owner, std::string_view ending, loss may_be) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t looks = 8;
    const auto before = [this] { return waiting_.load(std::memory_order_relaxed); };
    if (before() == 0) largest_ = earned_ = 0;
    earned_ += looks;
    // One line, however large, says nothing of whether the peer reads: what counts is the rest.
    const auto too_much = [&] { return before() > limits_.hard + largest_; };
    const auto no_room = [&] {
        return owner != nullptr && may_be == loss::allowed && before() > 0 && before() + line.size() > limits_.soft;
    };
    if (too_much() || no_room()) sweep();
    if (too_much()) return queued::overflow;
    if (no_room()) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return queued::no;
    }
    largest_ = std::max(largest_, line.size());
    const std::size_t begin = filling_.bytes.size();
    filling_.bytes += line;
    filling_.bytes += ending;
    if (owner != nullptr) filling_.messages.push_back({begin, filling_.bytes.size(), *owner});
    waiting_.fetch_add(line.size() + ending.size(), std::memory_order_relaxed);
    if (told_) return queued::yes;
    told_ = true;
    return queued::wake;
}

void outbox::drop_cancelled() {
    const std::lock_guard lock(mutex_);
    sweep();
}

void outbox::sweep() {
    const std::unique_lock writing(writing_mutex_, std::try_to_lock);  // else it is being written
    const std::size_t cost =
        filling_.messages.size() + (writing ? writing_.messages.size() - next_owned_ : std::size_t{0});
    if (earned_ < cost) return;
    earned_ -= cost;
    sweep(filling_, 0, 0);
    if (writing) sweep(writing_, next_owned_, written_);
}

/// From a message, and a byte, on.
void outbox::sweep(batch& of, std::size_t first, std::size_t from) {
    const auto goes = [from](const owned& each) { return each.begin >= from && is_cancelled(each.owner); };
    const auto begin = of.messages.begin() + static_cast<std::ptrdiff_t>(first);
    std::size_t dropped = 0;
    for (auto each = begin; each != of.messages.end(); ++each) dropped += goes(*each) ? each->end - each->begin : 0;
    if (dropped == 0 || dropped < (of.bytes.size() - from) / 4) return;
    char* const bytes = of.bytes.data();
    std::size_t to = from;
    std::size_t read = from;
    const auto keep_until = [&](std::size_t end) {
        std::copy(bytes + read, bytes + end, bytes + to);
        to += end - read;
        read = end;
    };
    auto kept = begin;
    for (auto each = begin; each != of.messages.end(); ++each) {
        if (goes(*each)) {
            keep_until(each->begin);
            read = each->end;
            lost_.fetch_add(1, std::memory_order_relaxed);
            continue;
        }
        each->begin -= read - to;
        each->end -= read - to;
        if (kept != each) *kept = std::move(*each);
        ++kept;
    }
    keep_until(of.bytes.size());
    waiting_.fetch_sub(of.bytes.size() - to, std::memory_order_relaxed);
    of.bytes.resize(to);
    of.messages.erase(kept, of.messages.end());
}

bool outbox::take_more() {
    writing_.bytes.clear();
    writing_.messages.clear();
    if (writing_.bytes.capacity() > limits_.keep) writing_.bytes.shrink_to_fit();
    written_ = next_owned_ = 0;
    const std::lock_guard lock(mutex_);
    std::swap(writing_, filling_);
    if (writing_.bytes.empty()) told_ = false;
    return !writing_.bytes.empty();
}

/// Where the next message begins that must not be written.
std::size_t outbox::end_of_run() const noexcept {
    for (std::size_t i = next_owned_; i < writing_.messages.size(); ++i) {
        const owned& message = writing_.messages[i];
        if (message.begin >= written_ && is_cancelled(message.owner)) return message.begin;
    }
    return writing_.bytes.size();
}

/// Steps over what lies at the front and must not be written, and over what was.
void outbox::skip_cancelled() noexcept {
    for (; next_owned_ < writing_.messages.size(); ++next_owned_) {
        const owned& message = writing_.messages[next_owned_];
        if (message.end <= written_) continue;
        if (message.begin != written_ || !is_cancelled(message.owner)) return;
        written_ = message.end;
        waiting_.fetch_sub(message.end - message.begin, std::memory_order_relaxed);
        lost_.fetch_add(1, std::memory_order_relaxed);
    }
}

outbox::flushed outbox::flush(int fd) {
    return flush_with([this, fd](std::string_view bytes, flushed& stopped) -> std::size_t {
        const ssize_t wrote = write_some(fd, bytes, is_socket_);
        if (wrote >= 0) return static_cast<std::size_t>(wrote);
        if (errno != EINTR) stopped = errno == EAGAIN || errno == EWOULDBLOCK ? flushed::blocked : flushed::broken;
        return 0;
    });
}

}  // namespace andon::detail
