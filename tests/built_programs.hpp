// The programs that tests start.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace andon {

/// What the programs that are tested were built with, as for -fsanitize=. Tests that only start programs and talk to
/// them are built once, and run again with those in the folder ANDON_SANITIZED_PROGRAMS, which were built with
/// ANDON_SANITIZER.
inline const std::string sanitizer = [] {
    const char* const named = std::getenv("ANDON_SANITIZER");
    return std::string(named != nullptr ? named : ANDON_BUILT_WITH);
}();
inline const bool sanitized = !sanitizer.empty();

/// The path of one of our own programs.
[[nodiscard]] inline std::string built_program(std::string_view name) {
    const char* const other = std::getenv("ANDON_SANITIZED_PROGRAMS");
    const bool tested = name == "andon" || name == "everything_server";  // the rest is on the tests' side
    return std::string(other != nullptr && tested ? other : ANDON_PROGRAMS).append("/").append(name);
}

}  // namespace andon
