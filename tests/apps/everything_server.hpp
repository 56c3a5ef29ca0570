// The server that the tests of `andon call` call.
#pragma once

#include <string>

#include "built_programs.hpp"

namespace andon {

inline const std::string everything_server = built_program("everything_server");

}  // namespace andon
