#include "wire/unreadable.hpp"

#include <charconv>
#include <string>

#include "andon/wire/envelope.hpp"

namespace andon::detail {
namespace {

/// Behind the end of an element: at the comma or bracket that follows it; nothing: it has no end.
std::optional<std::size_t> end_of_element(std::string_view line, std::size_t at) noexcept {
    int depth = 0;
    bool inside_text = false;
    for (; at < line.size(); ++at) {
        const char c = line[at];
        if (inside_text) {
            if (c == '\\') ++at;
            if (c == '"') inside_text = false;
        } else if (c == '"') {
            inside_text = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (depth == 0 && (c == ',' || c == ']')) {
            return at;
        } else if (c == '}' || c == ']') {
            if (--depth < 0) return std::nullopt;
        }
    }
    return std::nullopt;
}

std::string_view without_blanks(std::string_view text) noexcept {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool looks_like_answer(std::string_view line) noexcept {
    const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    return has("\"jsonrpc\"") && (has("\"result\"") || has("\"error\"")) && !has("\"method\"");
}

/// The id of an answer, as it stands at either end of what is usually written.
std::optional<std::int64_t> number_behind_id(std::string_view line) noexcept {
    constexpr std::string_view name = "\"id\":";
    for (const std::size_t at : {line.rfind(name), line.find(name)}) {
        if (at == std::string_view::npos) return std::nullopt;
        const std::size_t begin = line.find_first_not_of(' ', at + name.size());
        if (begin == std::string_view::npos) continue;
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(line.data() + begin, line.data() + line.size(), number);
        const bool whole = end == line.data() + line.size() || *end == ',' || *end == '}' || *end == ' ';
        if (error == std::errc() && whole) return number;
    }
    return std::nullopt;
}

/// Where no brackets help, the beginnings of messages do. What they say is not believed: it may be part of a result.
std::vector<std::int64_t> ids_in(std::string_view rest) {
    constexpr std::string_view beginning = R"({"jsonrpc")";
    std::vector<std::int64_t> found;
    for (std::size_t at = 0; at < rest.size();) {
        const std::size_t next = std::min(rest.find(beginning, at + 1), rest.size());
        const std::string_view piece = rest.substr(at, next - at);
        if (const auto id = answer_in(piece).to) found.push_back(*id);
        at = next;
    }
    return found;
}

}  // namespace

unreadable_answer answer_in(const skimmed_message& seen) {
    if (seen.method) return {};
    std::string storage;
    const auto id = id_from_json(seen.raw_id, storage);
    // An id and nothing else is somebody's, where that is all there is.
    if (!seen.result && !seen.error && !(seen.whole && id)) return {};
    if (id && id->is_string()) return {};  // ours are numbers
    if (id) return {.is_one = true, .to = id->number()};
    // An error may be about what no request was.
    const bool to_none = !seen.has_id || seen.raw_id == "null";
    return {.is_one = seen.result || !to_none};
}

unreadable_answer answer_in(std::string_view line) {
    line_skimmer skimmer;
    skimmer.follow(line);
    const skimmed_line seen = skimmer.end();
    const skimmed_message& first = seen.messages.front();
    const unreadable_answer found = seen.batch ? unreadable_answer() : answer_in(first);
    if (!seen.batch && (first.whole || !first.raw_id.empty())) return found;
    if (!looks_like_answer(line)) return found;
    return {.is_one = true, .to = number_behind_id(line)};
}

batch_pieces pieces_of_batch(std::string_view line) {
    batch_pieces pieces;
    std::size_t at = line.find('[');
    if (at == std::string_view::npos) return pieces;
    while (++at < line.size()) {
        const auto end = end_of_element(line, at);
        if (!end) {
            pieces.lost = ids_in(line.substr(at));
            break;
        }
        const std::string_view element = without_blanks(line.substr(at, *end - at));
        if (!element.empty()) pieces.elements.push_back(element);
        at = *end;
        if (line[at] == ']') break;
    }
    return pieces;
}

}  // namespace andon::detail
