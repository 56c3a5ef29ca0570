#include "gateway/relay/server_output.hpp"

#include <array>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace andon::gateway {
namespace {

constexpr std::size_t longest_piece = 1'000;  // with its name and its escapes it is one write
constexpr std::size_t read_at_once = 4'096;

/// Not in the middle of a character.
std::size_t piece_of(std::string_view text) noexcept {
    std::size_t size = longest_piece;
    for (int i = 0; i < 3 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U; ++i) --size;
    return size;
}

}  // namespace

server_output::server_output(detail::event_loop& loop, detail::descriptor from, event_log log, std::string server)
    : loop_(&loop),
      from_(std::move(from)),
      log_(log),
      server_(std::move(server)),
      watch_(std::make_unique<detail::event_loop::watch>(loop, from_.get())) {
    read_later();
}

server_output::~server_output() {
    constexpr int most = 16;  // that is what a pipe holds
    watch_.reset();
    for (int i = 0; i < most && !ended_ && hand_on(); ++i) {
        pollfd ready{from_.get(), POLLIN, 0};
        if (::poll(&ready, 1, 0) != 1 || !read_once()) break;
    }
    if (!read_.empty()) read_ += '\n';
    static_cast<void>(hand_on());
}

void server_output::read_later() {
    watch_->when(detail::event_loop::readiness::readable, [this] { read(); });
}

void server_output::read() {
    if (!read_once()) {
        ended_ = true;
        if (handed_on_ < read_.size()) read_ += '\n';
    }
    hand_on_later();
}

bool server_output::read_once() {
    std::array<char, read_at_once> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    const ssize_t got = ::read(from_.get(), bytes.data(), bytes.size());
    if (got > 0) read_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
}

void server_output::hand_on_later() {
    if (hand_on()) {
        if (!ended_) read_later();
        return;
    }
    if (!room_) room_ = std::make_unique<detail::event_loop::watch>(*loop_, log_.descriptor());
    room_->when(detail::event_loop::readiness::writable, [this] { hand_on_later(); });
}

bool server_output::hand_on() {
    for (;;) {
        const std::string_view rest = std::string_view(read_).substr(handed_on_);
        const std::size_t end = rest.find('\n');
        const bool whole = end != std::string_view::npos;
        if (!whole && rest.size() <= longest_piece) break;
        if (!log_.has_room()) return false;
        const std::size_t size = whole && end <= longest_piece ? end : piece_of(rest);
        if (size != 0) log_.server_said(server_, rest.substr(0, size));
        handed_on_ += size + (size == end ? 1 : 0);
    }
    read_.erase(0, std::exchange(handed_on_, 0));
    return true;
}

}  // namespace andon::gateway
