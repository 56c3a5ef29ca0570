#include "andon/wire/line_skimmer.hpp"

#include <utility>

#include "andon/wire/envelope.hpp"

namespace andon {
namespace {

bool is_between(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void line_skimmer::follow(std::string_view piece) {
    while (!piece.empty() && place_ != place::lost) {
        if (in_text_) {
            piece.remove_prefix(through_text(piece));
        } else if (depth_ > level_) {
            piece.remove_prefix(through_nested(piece));
        } else {
            look_at(piece.front());
            piece.remove_prefix(1);
        }
    }
}

skimmed_line line_skimmer::end() {
    if (in_message_) line_.messages.push_back(std::move(message_));
    const bool ended = place_ == place::after && !more_;
    if (line_.messages.empty() || (line_.batch && !ended)) line_.messages.emplace_back();
    skimmed_line seen = std::move(line_);
    *this = {};
    return seen;
}

/// Up to its end, or as far as it goes.
std::size_t line_skimmer::through_text(std::string_view piece) {
    std::size_t at = 0;
    for (; at < piece.size() && in_text_; ++at) {
        if (escaped_) {
            escaped_ = false;
        } else if (piece[at] == '\\') {
            escaped_ = true;
        } else if (piece[at] == '"') {
            in_text_ = false;
        }
    }
    keep(piece.substr(0, at));
    if (in_text_ || depth_ != level_) return at;
    if (place_ == place::key) {
        end_key();
    } else {
        end_value();
    }
    return at;
}

/// Up to the next text or the end of the value. Brackets are counted, of whatever kind.
std::size_t line_skimmer::through_nested(std::string_view piece) {
    for (std::size_t at = 0; at < piece.size(); ++at) {
        switch (piece[at]) {
            case '"': begin_text(false); return at + 1;
            case '{':
            case '[': ++depth_; break;
            case '}':
            case ']':
                if (--depth_ != level_) break;
                end_value();
                return at + 1;
            default: break;
        }
    }
    return piece.size();
}

/// Outside of texts, and of what is nested in a message.
void line_skimmer::look_at(char c) {
    if (place_ == place::scalar) {
        if (c != ',' && c != '}' && !is_between(c)) {
            if (std::string_view("\"{[]:").find(c) != std::string_view::npos) place_ = place::lost;
            return keep({&c, 1});
        }
        end_value();
    }
    if (is_between(c)) return;
    switch (place_) {
        case place::before:
            if (c == '{') return begin_message();
            if (c != '[') break;
            line_.batch = true;
            depth_ = 1;
            level_ = 2;
            place_ = place::element;
            return;
        case place::element:
            if (c == '{') return begin_message();
            if (c == '[') break;
            if (c == '"') return begin_text(false);
            if (c == ']') place_ = place::after;
            return;
        case place::key:
            if (c == '"') return begin_text(true);
            if (c == '}') return end_message();
            break;
        case place::colon:
            if (c != ':') break;
            place_ = place::value;
            return;
        case place::value:
            if (std::string_view(",}]:").find(c) != std::string_view::npos) break;
            if (c == '"') return begin_text(member_ == member::id);
            if (c == '{' || c == '[') {
                ++depth_;
                return;
            }
            place_ = place::scalar;
            keeping_ = member_ == member::id;
            return keep({&c, 1});
        case place::comma:
            if (c == '}') return end_message();
            if (c != ',') break;
            place_ = place::key;
            return;
        case place::scalar:
        case place::after:
        case place::lost: break;
    }
    place_ = place::lost;
}

void line_skimmer::begin_message() {
    level_ = ++depth_;
    message_ = {};
    in_message_ = true;
    place_ = place::key;
}

void line_skimmer::end_message() {
    message_.whole = true;
    in_message_ = false;
    --depth_;
    place_ = line_.batch ? place::element : place::after;
    if (line_.messages.size() < most_messages) {
        line_.messages.push_back(std::move(message_));
    } else {
        more_ = true;
    }
}

void line_skimmer::begin_text(bool kept) {
    in_text_ = true;
    keeping_ = kept;
    keep("\"");
}

void line_skimmer::end_key() {
    const std::string key = string_from_json(std::exchange(kept_, {})).value_or("");
    keeping_ = false;
    member_ = key == "id" ? member::id : member::other;
    if (key == "method") message_.method = true;
    if (key == "result") message_.result = true;
    if (key == "error") message_.error = true;
    place_ = place::colon;
}

void line_skimmer::end_value() {
    place_ = place::comma;
    keeping_ = false;
    if (member_ != member::id) return;
    std::string id = std::exchange(kept_, {});
    if (id.size() > longest_raw_id) id.clear();
    message_.id_twice = std::exchange(message_.has_id, true);
    if (!message_.id_twice) {
        message_.raw_id = std::move(id);
    } else if (message_.raw_id != id) {
        message_.raw_id.clear();
    }
}

/// No more than shows that it is too long.
void line_skimmer::keep(std::string_view bytes) {
    constexpr std::size_t most = longest_raw_id + 1;
    if (keeping_) kept_ += bytes.substr(0, most - kept_.size());
}

}  // namespace andon
