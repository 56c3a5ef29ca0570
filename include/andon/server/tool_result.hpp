// What a tool answers.
#pragma once

#include <boost/json/object.hpp>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "andon/server/handler.hpp"
#include "andon/wire/described.hpp"
#include "andon/wire/error.hpp"

namespace andon {

/// Pieces of content in order, and perhaps a structured value. A plain string is one piece of text; a described struct
/// or JSON is structured, with its text beside it for those who read only that.
class tool_result {
public:
    tool_result() = default;
    template <class T>
    requires std::convertible_to<T, std::string_view> tool_result(const T& words) {
        text(words);
    }                                                              // NOLINT(google-explicit-constructor)
    tool_result(const json::value& value) { structured(value); }   // NOLINT(google-explicit-constructor)
    tool_result(const json::object& value) { structured(value); }  // NOLINT(google-explicit-constructor)
    template <described_struct T>
    tool_result(const T& value) : tool_result(json::value(to_json(value))) {}  // NOLINT(google-explicit-constructor)

    /// The work failed, and the model should know why.
    [[nodiscard]] static tool_result error(std::string_view words);

    tool_result& text(std::string_view words);
    tool_result& image(std::string_view base64, std::string_view mime_type);
    tool_result& audio(std::string_view base64, std::string_view mime_type);
    tool_result& resource(const json::object& contents);  ///< `uri`, `mimeType`, and `text` or `blob`
    tool_result& link(const json::object& resource);      ///< `uri`, `name`, ...
    tool_result& content(const json::object& any);
    tool_result& structured(const json::value& value);
    tool_result& meta(json::object value);
    tool_result& failed() {
        is_error_ = true;
        return *this;
    }

    [[nodiscard]] bool is_error() const noexcept { return is_error_; }
    [[nodiscard]] detail::handler_result written();

private:
    tool_result& add(std::string_view raw);

    std::string raw_content_;  // the elements, with commas between
    std::string raw_structured_;
    json::object meta_;
    bool is_error_ = false;
};

}  // namespace andon
