// The man page, from the command line itself.
#pragma once

#include <string>

#include "texts/command_model.hpp"

namespace andon::app {

/// In roff, with the macros of man(7).
[[nodiscard]] std::string man_page(const command_model& root);

}  // namespace andon::app
