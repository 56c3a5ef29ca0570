#include "call/tool_content.hpp"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cstdio>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "call/safe_text.hpp"

namespace andon::app {
namespace {

constexpr std::size_t longest_word = 400;

std::string size_text(std::size_t bytes) {
    if (bytes < 1'024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    std::array<char, 32> text{};
    const bool mebi = bytes >= (1U << 20U);
    std::snprintf(text.data(), text.size(), "%.1f %s", static_cast<double>(bytes) / (mebi ? 1'048'576.0 : 1'024.0),
                  mebi ? "MiB" : "KiB");
    return text.data();
}

std::size_t decoded_size(std::string_view base64) {
    const auto padding =
        static_cast<std::size_t>(std::count(base64.size() < 2 ? base64.begin() : base64.end() - 2, base64.end(), '='));
    const std::size_t whole = base64.size() / 4 * 3;
    return whole > padding ? whole - padding : 0;
}

/// `[kind word word]`, of the words that are there.
std::string described(std::string_view kind, std::initializer_list<std::string_view> words) {
    std::string text = "[" + visible_text(kind, longest_word);
    for (const std::string_view each : words) {
        if (!each.empty()) text += ' ' + visible_text(each, longest_word);
    }
    return text + ']';
}

std::string describe_resource(const json::object& resource) {
    const std::string_view text = text_in(resource, "text");
    const std::size_t size = resource.contains("text") ? text.size() : decoded_size(text_in(resource, "blob"));
    return described("resource", {text_in(resource, "uri"), text_in(resource, "mimeType"), size_text(size)});
}

std::string describe_link(const json::object& link) {
    const json::value* const size = link.if_contains("size");
    const bool known = size != nullptr && size->is_int64() && size->get_int64() >= 0;
    return described("resource link", {text_in(link, "name"), text_in(link, "uri"), text_in(link, "mimeType"),
                                       known ? size_text(static_cast<std::size_t>(size->get_int64())) : std::string()});
}

/// Servers repeat the structured content as text, for clients that know none.
bool repeats(std::string_view text, const json::value* structured) {
    if (structured == nullptr) return false;
    boost::system::error_code fault;
    const json::value said = json::parse({text.data(), text.size()}, fault);
    return !fault && said == *structured;
}

std::string block_text(const json::object& block, const json::value* structured, bool for_terminal) {
    const std::string_view kind = text_in(block, "type");
    if (kind == "text") {
        const std::string_view text = text_in(block, "text");
        if (repeats(text, structured)) return {};
        return for_terminal ? visible_lines(text) : std::string(text);
    }
    if (kind == "image" || kind == "audio") {
        return described(kind, {text_in(block, "mimeType"), size_text(decoded_size(text_in(block, "data")))});
    }
    if (const json::object* const resource = object_in(block, "resource")) return describe_resource(*resource);
    if (kind == "resource_link") return describe_link(block);
    return described(kind.empty() ? "content of no kind" : kind, {size_text(json_text(block).size()) + " of JSON"});
}

void append_lines(std::string& to, const std::string& text) {
    to += text;
    if (!text.empty() && text.back() != '\n') to += '\n';
}

}  // namespace

std::string content_text(const json::value& result, bool for_terminal) {
    const auto show_json = [&](const json::value& value) {
        const std::string text = pretty_json(value);
        return for_terminal ? visible_lines(text) : text;
    };
    std::string all;
    if (!result.is_object()) {
        append_lines(all, show_json(result));
        return all;
    }
    const json::object& tool = result.get_object();
    const json::value* const structured = tool.if_contains("structuredContent");
    const json::value* const content = tool.if_contains("content");
    if (content != nullptr && content->is_array()) {
        for (const json::value& each : content->get_array()) {
            if (each.is_object()) append_lines(all, block_text(each.get_object(), structured, for_terminal));
        }
    }
    if (structured != nullptr) append_lines(all, show_json(*structured));
    if (content == nullptr && structured == nullptr) append_lines(all, show_json(result));
    return all;
}

bool is_tool_error(const json::value& result) {
    const json::object* const tool = result.if_object();
    const json::value* const flag = tool == nullptr ? nullptr : tool->if_contains("isError");
    return flag != nullptr && *flag == true;
}

}  // namespace andon::app
