// Server-sent events, as Streamable HTTP uses them: one message an event.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace andon::detail {

/// Bytes in, events out. Whatever the cuts between the chunks, the events are the same. What an event takes is limited:
/// a stranger's endless one costs the limit and no more, and an endless comment costs nothing.
class sse_parser {
public:
    /// Longer times to wait before a retry are taken for this one.
    static constexpr std::chrono::milliseconds longest_retry = std::chrono::hours(24);

    struct event {
        std::optional<std::string> id{};                   ///< where this event has one; an empty one takes it back
        std::optional<std::chrono::milliseconds> retry{};  ///< where this event has one
        std::string type{};                                ///< "message" where none was named
        std::string data{};                                ///< its lines, joined by newlines
    };

    explicit sse_parser(std::size_t largest_event) noexcept : largest_event_(largest_event) {}

    /// Takes from the front of `bytes` up to the end of the next event. Nothing: they are all taken, and more is
    /// needed. An event that has an id or a retry and no data comes out too, with empty data; one that has only a name,
    /// or is cut off by the end of the stream, does not.
    [[nodiscard]] std::optional<event> next(std::string_view& bytes);

    /// An event was larger than the limit. It is skipped; only its id comes out.
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    /// The same, once for each of them, or for several at once.
    [[nodiscard]] bool take_failure() noexcept { return std::exchange(failed_, false); }

private:
    [[nodiscard]] std::optional<event> end_of_line(std::string_view line);
    void skip_event();
    void skip(std::string_view part);
    void field(std::string_view name, std::string_view value);
    void set_retry(std::string_view digits) noexcept;
    [[nodiscard]] bool too_large(std::size_t more) const noexcept;

    std::size_t largest_event_;
    std::string line_;  // what has come of it, where it began in an earlier chunk
    event event_;       // what its lines have said
    bool has_data_ = false;
    bool first_line_ = true;   // it may begin with a byte order mark
    bool after_cr_ = false;    // a newline now belongs to the line before
    bool in_comment_ = false;  // of which nothing is kept
    bool skipping_ = false;    // to the end of an event that is too large
    bool blank_ = true;        // while skipping: so far, this line is
    std::string kept_;         // likewise: its beginning
    bool failed_ = false;
};

/// One message, as the event that carries it. An id that could not stand on one line is left out.
[[nodiscard]] std::string sse_event(std::string_view data, std::string_view id = {},
                                    std::optional<std::chrono::milliseconds> retry = {});

}  // namespace andon::detail
