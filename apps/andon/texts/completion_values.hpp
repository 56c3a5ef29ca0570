// Values that a command line can have, as they are on this machine at this moment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace andon::app {

struct offered_word {
    std::string text;
    std::string about{};
};

/// What the shell finds better than we do.
enum class shells_own { nothing, files, folders, command };

struct offered_values {
    std::vector<offered_word> words{};
    shells_own beside = shells_own::nothing;
};

/// Of the value that `command` calls `value`, as in `andon stop ID`. `config`: the file that its command line names.
/// Whatever cannot be found out is left out: nobody reads an error between two keys.
[[nodiscard]] offered_values values_of(std::string_view command, std::string_view value, const std::string& config);

}  // namespace andon::app
