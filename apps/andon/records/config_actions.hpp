// What the subcommands of `andon config` do. Each gives its exit status.
#pragma once

#include <string>

namespace andon::app {

// An empty `file` is the one that is looked for.

[[nodiscard]] int init_config(const std::string& file, bool force);
[[nodiscard]] int check_config(const std::string& file, bool json);
[[nodiscard]] int show_config(const std::string& file, bool json);
[[nodiscard]] int show_config_path(const std::string& file);

}  // namespace andon::app
