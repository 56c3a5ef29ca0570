// Bytes in, lines out: one message a line, as the stdio page has it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "andon/wire/line_skimmer.hpp"

namespace andon {

/// Holds what was read and is not a whole line yet. A line that grows past the limit is dropped as it comes in,
/// reported once, with what was seen of it, and the stream goes on behind its end: a stranger's endless line costs the
/// limit and no more.
class line_splitter {
public:
    /// Readable behind every line, as simdjson wants it.
    static constexpr std::size_t padding = 64;

    explicit line_splitter(std::size_t longest_line);

    /// Room to read into; what was put there is told by filled(). Lines handed out before are invalid then.
    [[nodiscard]] std::span<char> room();
    void filled(std::size_t bytes) noexcept {
        end_ += bytes;
        full_ = end_ == capacity_;
    }

    struct line {
        std::string_view text;
        bool too_long = false;               ///< dropped: text is empty
        const skimmed_line* seen = nullptr;  ///< of one that was dropped; good until the next
    };
    /// The next whole line that is not blank, or nothing until more has come in.
    [[nodiscard]] std::optional<line> next();

private:
    static constexpr std::size_t least_room = std::size_t{4} << 10U;
    static constexpr std::size_t usual_capacity = std::size_t{16} << 10U;
    static constexpr std::size_t busy_capacity = std::size_t{64} << 10U;  // of one that is given more than that at once
    static constexpr std::size_t kept_capacity = std::size_t{1} << 20U;   // what is larger goes when it is empty

    void make_room(std::size_t capacity);

    std::size_t longest_line_;
    std::size_t capacity_ = usual_capacity;
    std::unique_ptr<char[]> bytes_;
    std::size_t begin_ = 0;    // of what is not handed out yet
    std::size_t scanned_ = 0;  // up to here there is no newline
    std::size_t end_ = 0;
    bool full_ = false;      // by the last read: there may have been more
    bool dropping_ = false;  // in a line that was too long
    line_skimmer skimmer_;   // through that line
    skimmed_line seen_;
};

}  // namespace andon
