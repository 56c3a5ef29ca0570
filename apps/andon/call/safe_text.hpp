// Text of a server's, for a terminal and for a pipe.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "andon/wire/error.hpp"

namespace andon::app {

/// As visible_text(), but lines and tabs stay what they are: for text that has lines of its own, and nothing around
/// it that could be forged.
[[nodiscard]] std::string visible_lines(std::string_view text);

/// What a user typed, in an error.
[[nodiscard]] std::string in_quotes(std::string_view typed);

/// Over several lines, members indented by two.
[[nodiscard]] std::string pretty_json(const json::value& value);

/// A member that is text; empty where there is none.
[[nodiscard]] std::string_view text_in(const json::object& in, std::string_view key);
/// A member that is an object; null where there is none.
[[nodiscard]] const json::object* object_in(const json::object& in, std::string_view key);

}  // namespace andon::app
