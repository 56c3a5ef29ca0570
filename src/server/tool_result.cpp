#include "andon/server/tool_result.hpp"

#include "andon/wire/message.hpp"

namespace andon {

tool_result tool_result::error(std::string_view words) { return tool_result().text(words).failed(); }

tool_result& tool_result::add(std::string_view raw) {
    if (!raw_content_.empty()) raw_content_ += ',';
    raw_content_ += raw;
    return *this;
}

tool_result& tool_result::text(std::string_view words) {
    if (!raw_content_.empty()) raw_content_ += ',';
    raw_content_ += R"({"type":"text","text":)";
    raw_content_ += json_quoted(words);
    raw_content_ += '}';
    return *this;
}

tool_result& tool_result::content(const json::object& any) { return add(json_text(any)); }

tool_result& tool_result::image(std::string_view base64, std::string_view mime_type) {
    return content({{"type", "image"}, {"data", base64}, {"mimeType", mime_type}});
}

tool_result& tool_result::audio(std::string_view base64, std::string_view mime_type) {
    return content({{"type", "audio"}, {"data", base64}, {"mimeType", mime_type}});
}

tool_result& tool_result::resource(const json::object& contents) {
    return content({{"type", "resource"}, {"resource", contents}});
}

tool_result& tool_result::link(const json::object& resource) {
    json::object whole = resource;
    whole["type"] = "resource_link";
    return content(whole);
}

tool_result& tool_result::structured(const json::value& value) {
    raw_structured_ = json_text(value);
    return text(raw_structured_);
}

tool_result& tool_result::meta(json::object value) {
    meta_ = std::move(value);
    return *this;
}

detail::handler_result tool_result::written() {
    std::string raw = R"("content":[)";
    raw += raw_content_;
    raw += ']';
    if (is_error_) raw += R"(,"isError":true)";
    return {.raw_members = std::move(raw),
            .raw_structured = std::move(raw_structured_),
            .meta = std::move(meta_),
            .is_error = is_error_};
}

}  // namespace andon
