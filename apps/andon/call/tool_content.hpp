// The result of a tool, for people.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "andon/wire/error.hpp"

namespace andon::app {

/// Text as text, structured content as JSON over several lines, the rest described by kind, type and size. Ends with a
/// line's end, unless there is nothing. `for_terminal`: what could play with a terminal is made visible; else text
/// comes out byte for byte.
[[nodiscard]] std::string content_text(const json::value& result, bool for_terminal);

/// The tool says that it failed.
[[nodiscard]] bool is_tool_error(const json::value& result);

}  // namespace andon::app
