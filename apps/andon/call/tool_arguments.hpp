// The arguments of a call, from the words of a command line.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/wire/error.hpp"

namespace andon::app {

/// Where the words say so, the arguments are read from standard input or from a file.
using text_source = std::function<std::string(std::string_view from)>;
/// `-`: standard input, else a file; at most 16 MiB. Throws std::invalid_argument.
[[nodiscard]] std::string read_text(std::string_view from);

/// One word is a JSON object, `-` or `@file`; else each is `key=value`, of the type that the schema has for it, or
/// `key:=JSON`. Checked against the tool's inputSchema, as far as a user is likely to go wrong: what is missing, what
/// is not known, what is of another type. Throws std::invalid_argument with what to do; nothing was sent then.
[[nodiscard]] json::object tool_arguments(const std::vector<std::string>& words, const json::object& input_schema,
                                          const text_source& read = read_text);

/// One value as a person writes it, of one of these types (JSON Schema's words). Throws std::invalid_argument.
[[nodiscard]] json::value value_from(std::string_view text, const struct argument_schema& schema);

}  // namespace andon::app
