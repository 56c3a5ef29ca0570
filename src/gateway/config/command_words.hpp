// A command in one string, and its words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace andon::gateway {

/// As a shell would: words are parted by blanks; '...' and "..." keep them together, and \ takes the next character as
/// it is. Nothing is expanded: no variable, no pattern, no ~. Nothing: a quote or a \ has no end.
[[nodiscard]] std::optional<std::vector<std::string>> command_words(std::string_view line);

}  // namespace andon::gateway
