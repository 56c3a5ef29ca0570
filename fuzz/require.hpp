// What a fuzzer demands of the code, in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace andon::fuzz {

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

}  // namespace andon::fuzz
