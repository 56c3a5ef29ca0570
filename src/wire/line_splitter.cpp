#include "andon/wire/line_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace andon {
namespace {

bool is_blank(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

}  // namespace

line_splitter::line_splitter(std::size_t longest_line)
    : longest_line_(longest_line), bytes_(new char[capacity_ + padding]()) {}

/// What is held moves to the front, of a buffer of another size where that is asked for.
void line_splitter::make_room(std::size_t capacity) {
    const std::size_t held = end_ - begin_;
    if (capacity == capacity_) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    } else {
        std::unique_ptr<char[]> other(new char[capacity + padding]());
        std::memcpy(other.get(), bytes_.get() + begin_, held);
        bytes_ = std::move(other);
        capacity_ = capacity;
    }
    scanned_ -= begin_;
    begin_ = 0;
    end_ = held;
}

std::span<char> line_splitter::room() {
    if (full_ && capacity_ < busy_capacity) make_room(2 * capacity_);
    full_ = false;
    if (begin_ == end_) {
        begin_ = scanned_ = end_ = 0;
        if (capacity_ > kept_capacity) make_room(usual_capacity);
    }
    if (capacity_ - end_ < least_room) {
        const std::size_t needed = end_ - begin_ + least_room;
        // Past the longest line nothing is held, however long it goes on.
        const std::size_t larger = std::max(needed, std::min(2 * capacity_, longest_line_ + 2 * least_room));
        // Up to half of it, moving what is there makes room enough.
        make_room(needed > capacity_ / 2 ? std::max(larger, capacity_) : capacity_);
    }
    return {bytes_.get() + end_, capacity_ - end_};
}

std::optional<line_splitter::line> line_splitter::next() {
    while (scanned_ < end_) {
        const char* const found = static_cast<const char*>(std::memchr(bytes_.get() + scanned_, '\n', end_ - scanned_));
        const std::size_t at = found == nullptr ? end_ : static_cast<std::size_t>(found - bytes_.get());
        scanned_ = found == nullptr ? at : at + 1;
        if (at - begin_ > longest_line_) dropping_ = true;
        const std::string_view text(bytes_.get() + begin_, at - begin_);
        if (dropping_) skimmer_.follow(text);
        if (found == nullptr) {
            if (dropping_) begin_ = end_;  // nobody will want it
            return std::nullopt;
        }
        begin_ = at + 1;
        if (dropping_) {
            dropping_ = false;
            seen_ = skimmer_.end();
            seen_.longest = longest_line_;
            return line{{}, true, &seen_};
        }
        if (!is_blank(text)) return line{text};
    }
    return std::nullopt;
}

}  // namespace andon
