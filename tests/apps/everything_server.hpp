// The server that the tests of `andon call` call.
#pragma once

#include <string>

namespace andon {

inline const std::string everything_server = ANDON_EVERYTHING_SERVER;

}  // namespace andon
