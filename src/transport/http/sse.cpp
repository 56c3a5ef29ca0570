#include "transport/http/sse.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace andon::detail {
namespace {

constexpr std::size_t longest_id_line = 1'024 + 4;  // an event_cursor takes no longer ids
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t kept_capacity = std::size_t{64} << 10U;  // what is larger goes when its line is over

/// Of both ends the nearer one. In blocks, so that a stranger cannot make the search for one of them run through all
/// that is there for each of the other.
std::size_t line_end(std::string_view bytes) noexcept {
    constexpr std::size_t block = 256;
    for (std::size_t at = 0; at < bytes.size(); at += block) {
        const std::string_view part = bytes.substr(at, block);
        const std::size_t newline = part.find('\n');
        const std::size_t end = std::min(part.substr(0, newline).find('\r'), newline);
        if (end != std::string_view::npos) return at + end;
    }
    return std::string_view::npos;
}

}  // namespace

std::optional<sse_parser::event> sse_parser::next(std::string_view& bytes) {
    while (!bytes.empty()) {
        if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        if (line_.empty() && !skipping_ && bytes.front() == ':') in_comment_ = true;

        const std::size_t end = line_end(bytes);
        const std::string_view part = bytes.substr(0, end);
        if (!in_comment_ && !skipping_ && too_large(line_.size() + part.size())) skip_event();
        if (skipping_) skip(part);
        if (end == std::string_view::npos) {
            if (!in_comment_ && !skipping_) line_ += part;
            break;
        }
        after_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        auto done = line_.empty() ? end_of_line(part) : end_of_line(line_ += part);
        line_.clear();
        if (line_.capacity() > kept_capacity) line_ = {};
        if (done) return done;
    }
    bytes = {};
    return std::nullopt;
}

void sse_parser::skip_event() {
    failed_ = true;
    skipping_ = true;
    blank_ = true;
    event_.data = {};
    skip(std::exchange(line_, {}));
}

/// Its end has to be seen, and an id that is behind its data.
void sse_parser::skip(std::string_view part) {
    blank_ = blank_ && part.empty();
    kept_ += part.substr(0, longest_id_line + 1 - kept_.size());
}

std::optional<sse_parser::event> sse_parser::end_of_line(std::string_view line) {
    if (skipping_) {
        first_line_ = false;
        const std::string kept = std::exchange(kept_, {});
        if (!std::exchange(blank_, true)) {
            constexpr std::string_view id = "id:";
            if (kept.starts_with(id) && kept.size() <= longest_id_line) {
                field("id", std::string_view(kept).substr(kept.starts_with("id: ") ? id.size() + 1 : id.size()));
            }
            return std::nullopt;
        }
        skipping_ = false;
        line = {};
        has_data_ = false;
    }
    if (std::exchange(first_line_, false) && line.starts_with(byte_order_mark)) {
        line.remove_prefix(byte_order_mark.size());
    }
    if (std::exchange(in_comment_, false)) return std::nullopt;
    if (!line.empty()) {
        const std::size_t colon = line.find(':');
        std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
        field(line.substr(0, colon), value);
        return std::nullopt;
    }

    event done = std::exchange(event_, {});
    const bool has_data = std::exchange(has_data_, false);
    if (!has_data && !done.id && !done.retry) return std::nullopt;
    if (done.type.empty()) done.type = "message";
    return done;
}

void sse_parser::field(std::string_view name, std::string_view value) {
    if (name == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (name == "event") {
        event_.type = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) event_.id = value;
    } else if (name == "retry") {
        set_retry(value);
    }
}

void sse_parser::set_retry(std::string_view digits) noexcept {
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return;
    std::chrono::milliseconds::rep value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool overflow = parsed.ec != std::errc();
    event_.retry = overflow ? longest_retry : std::min(std::chrono::milliseconds(value), longest_retry);
}

bool sse_parser::too_large(std::size_t more) const noexcept {
    // A data line may be empty, and still adds a newline.
    const std::size_t held = event_.data.size() + event_.type.size() + (event_.id ? event_.id->size() : 0);
    return held > largest_event_ || more > largest_event_ - held;
}

std::string sse_event(std::string_view data, std::string_view id, std::optional<std::chrono::milliseconds> retry) {
    std::string event = "event: message\n";
    event.reserve(event.size() + data.size() + id.size() + 64);
    if (!id.empty() && id.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos) {
        ((event += "id: ") += id) += '\n';
    }
    if (retry) ((event += "retry: ") += std::to_string(std::max<std::int64_t>(retry->count(), 0))) += '\n';
    // A message is one line. If it were not, what is behind its first line would be fields of its own.
    while (true) {
        const std::size_t end = line_end(data);
        ((event += "data: ") += data.substr(0, end)) += '\n';
        if (end == std::string_view::npos) break;
        data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return event += '\n';
}

}  // namespace andon::detail
