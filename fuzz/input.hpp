// The bytes of a fuzzer, as decisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

namespace andon::fuzz {

struct input {
    const unsigned char* at;
    const unsigned char* end;
    unsigned next() { return at == end ? 0U : *at++; }
    template <class Pool>
    const auto& pick(const Pool& pool) {
        return pool[next() % std::size(pool)];
    }
    /// For one line.
    std::string bytes(std::size_t most) {
        const std::size_t size = std::min<std::size_t>(next() % (most + 1), static_cast<std::size_t>(end - at));
        std::string taken(at, at + size);
        at += size;
        std::replace(taken.begin(), taken.end(), '\n', ' ');
        return taken;
    }
};

}  // namespace andon::fuzz
