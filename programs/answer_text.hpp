// Texts in what a client answered.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace everything {

/// The string at a JSON pointer, such as "/content/name"; empty if there is none.
inline std::string text_at(const boost::json::value& answer, std::string_view pointer) {
    boost::system::error_code missing;
    const auto* const found = answer.find_pointer(pointer, missing);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// What a model said: its one piece of content, or the first of several.
inline std::string sampled_text(const boost::json::value& answer) {
    const std::string only = text_at(answer, "/content/text");
    return only.empty() ? text_at(answer, "/content/0/text") : only;
}

}  // namespace everything
