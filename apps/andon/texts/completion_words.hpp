// What can stand next on a command line.
#pragma once

#include <string>
#include <string_view>

#include "texts/command_model.hpp"

namespace andon::app {

/// One line each: the word, a tab, what it is; `:files` where the shell is to offer files. `line`: all that was typed,
/// up to the cursor, with the command's own name first.
[[nodiscard]] std::string completion_words(const command_model& root, std::string_view line);

/// A script for the shell, which asks `andon __complete`; empty for a shell that we do not know.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace andon::app
