#include "gateway/translation/raw_json.hpp"

#include "andon/wire/envelope.hpp"

namespace andon::gateway {
namespace {

constexpr std::string_view spaces = " \t\r\n";

/// Without recursion: it comes from a stranger.
class scanner {
public:
    scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

    [[nodiscard]] bool take(char c) {
        skip_spaces();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail();
    }
    void expect_end() {
        skip_spaces();
        if (at_ != text_.size()) fail();
    }
    std::string_view string() {
        skip_spaces();
        const std::size_t first = at_;
        skip_string();
        return text_.substr(first, at_ - first);
    }
    std::string_view value() {
        skip_spaces();
        const std::size_t first = at_;
        if (first >= text_.size()) fail();
        switch (text_[first]) {
            case '"': skip_string(); break;
            case '{':
            case '[': skip_nested(); break;
            default: at_ = std::min(text_.find_first_of(" \t\r\n,:]}", first), text_.size());
        }
        if (at_ == first) fail();
        return text_.substr(first, at_ - first);
    }

private:
    [[noreturn]] void fail() const { throw translation_fault(std::string(what_) + " could not be read"); }

    void skip_spaces() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }
    void skip_string() {
        if (at_ >= text_.size() || text_[at_] != '"') fail();
        const std::size_t first = at_ + 1;
        // Contents are long and have few quotes, and this finds them fast. One is escaped behind an odd number of
        // backslashes.
        std::size_t end = first;
        for (bool escaped = true; escaped; ++end) {
            end = text_.find('"', end);
            if (end == std::string_view::npos) fail();
            std::size_t before = end;
            while (before > first && text_[before - 1] == '\\') --before;
            escaped = (end - before) % 2 != 0;
        }
        at_ = end;
    }
    void skip_nested() {
        std::size_t depth = 0;
        do {
            if (at_ >= text_.size()) fail();
            switch (text_[at_]) {
                case '"': skip_string(); continue;
                case '{':
                case '[': ++depth; break;
                case '}':
                case ']': --depth; break;
                default: break;
            }
            ++at_;
        } while (depth != 0);
    }

    std::string_view text_;
    std::string_view what_;
    std::size_t at_ = 0;
};

bool begins_with(std::string_view raw, char c) noexcept { return !raw.empty() && raw.front() == c; }

}  // namespace

bool is_raw_object(std::string_view raw) noexcept { return begins_with(raw, '{'); }
bool is_raw_array(std::string_view raw) noexcept { return begins_with(raw, '['); }
bool is_raw_string(std::string_view raw) noexcept { return begins_with(raw, '"'); }

bool raw_member::is(std::string_view name) const {
    const std::string_view inside = raw_name.substr(1, raw_name.size() - 2);
    if (inside.find('\\') == std::string_view::npos) return inside == name;
    return string_from_json(raw_name) == name;
}

raw_object::raw_object(std::string_view raw, std::string_view what) : what_(what) {
    if (raw.empty()) return;
    scanner from(raw, what);
    if (!from.take('{')) throw translation_fault(std::string(what) + " must be an object");
    if (!from.take('}')) {
        do {
            raw_member member;
            member.raw_name = from.string();
            from.expect(':');
            member.raw_value = from.value();
            members_.push_back(member);
        } while (from.take(','));
        from.expect('}');
    }
    from.expect_end();
}

std::string_view raw_object::at(std::string_view name) const {
    std::string_view found;
    for (const raw_member& member : members_) {
        if (!member.is(name)) continue;
        if (!found.empty()) throw translation_fault(std::string(what_) + " has \"" + std::string(name) + "\" twice");
        found = member.raw_value;
    }
    return found;
}

std::vector<std::string_view> raw_elements(std::string_view raw, std::string_view what) {
    std::vector<std::string_view> elements;
    scanner from(raw, what);
    if (!from.take('[')) throw translation_fault(std::string(what) + " must be an array");
    if (!from.take(']')) {
        do {
            elements.push_back(from.value());
        } while (from.take(','));
        from.expect(']');
    }
    from.expect_end();
    return elements;
}

raw_writer& raw_writer::add(std::string_view name, std::string_view raw_value) {
    if (!empty()) text_ += ',';
    ((((text_ += '"') += name) += "\":") += raw_value);
    return *this;
}

raw_writer& raw_writer::add(const raw_member& member) {
    if (!empty()) text_ += ',';
    ((text_ += member.raw_name) += ':') += member.raw_value;
    return *this;
}

raw_writer& raw_writer::add_members(std::string_view raw_members) {
    if (!empty()) text_ += ',';
    text_ += raw_members;
    return *this;
}

std::string raw_writer::done() && { return std::move(text_ += '}'); }

}  // namespace andon::gateway
