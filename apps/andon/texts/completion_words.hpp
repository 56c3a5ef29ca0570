// What can stand next on a command line.
#pragma once

#include <string>
#include <string_view>

#include "texts/command_model.hpp"

namespace andon::app {

/// One line each: the word, a tab, what it is; and what the shell is to offer of its own: `:files`, `:folders`, or
/// `:command`, what stands behind -- as if it stood alone. `line`: all that was typed, up to the cursor, with the
/// command's own name first.
[[nodiscard]] std::string completion_words(const command_model& root, std::string_view line);

/// A script for the shell, which asks `andon __complete`; empty for a shell that we do not know.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace andon::app
