#include "call/safe_text.hpp"

#include <boost/json/object.hpp>
#include <limits>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

void append(std::string& to, const json::value& value, std::size_t depth);

void begin_line(std::string& to, std::size_t depth) { (to += '\n').append(2 * depth, ' '); }

void append_object(std::string& to, const json::object& value, std::size_t depth) {
    to += '{';
    bool first = true;
    for (const auto& [key, member] : value) {
        if (!first) to += ',';
        first = false;
        begin_line(to, depth + 1);
        (to += json_quoted(key)) += ": ";
        append(to, member, depth + 1);
    }
    begin_line(to, depth);
    to += '}';
}

void append_array(std::string& to, const json::array& value, std::size_t depth) {
    to += '[';
    bool first = true;
    for (const json::value& each : value) {
        if (!first) to += ',';
        first = false;
        begin_line(to, depth + 1);
        append(to, each, depth + 1);
    }
    begin_line(to, depth);
    to += ']';
}

void append(std::string& to, const json::value& value, std::size_t depth) {
    if (value.is_object() && !value.get_object().empty()) return append_object(to, value.get_object(), depth);
    if (value.is_array() && !value.get_array().empty()) return append_array(to, value.get_array(), depth);
    to += gateway::plain_json(value);
}

}  // namespace

std::string in_quotes(std::string_view typed) {
    constexpr std::size_t longest = 200;
    return '"' + visible_text(typed, longest) + '"';
}

std::string visible_lines(std::string_view text) {
    constexpr auto no_limit = std::numeric_limits<std::size_t>::max() / 8;
    std::string shown;
    while (!text.empty()) {
        const auto end = text.find_first_of("\n\t");
        // The line ends of other systems are no secret.
        std::string_view piece = text.substr(0, end);
        if (end != std::string_view::npos && text[end] == '\n' && piece.ends_with('\r')) piece.remove_suffix(1);
        shown += visible_text(piece, no_limit);
        if (end == std::string_view::npos) break;
        shown += text[end];
        text.remove_prefix(end + 1);
    }
    return shown;
}

std::string pretty_json(const json::value& value) {
    std::string text;
    append(text, value, 0);
    return text;
}

std::string_view text_in(const json::object& in, std::string_view key) {
    const json::value* const found = in.if_contains(key);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

const json::object* object_in(const json::object& in, std::string_view key) {
    const json::value* const found = in.if_contains(key);
    return found == nullptr ? nullptr : found->if_object();
}

}  // namespace andon::app
