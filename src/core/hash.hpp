// Keyed hashing: ids come from strangers, who must not be able to choose which of them collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace andon::detail {

// The two halves of the 128-bit product, folded: every bit of the result depends on every bit of both factors.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

inline constexpr std::uint64_t odd_a = 0x9E3779B97F4A7C15U;
inline constexpr std::uint64_t odd_b = 0xD1B54A32D192ED03U;
inline constexpr std::uint64_t odd_c = 0x8CB92BA72F3D8DD7U;

inline std::uint64_t hash_number(std::uint64_t value, std::uint64_t seed) noexcept {
    return fold(fold(value ^ odd_a, seed ^ odd_b) ^ seed, odd_c);
}

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
    std::uint64_t state = fold(seed ^ odd_b, text.size() ^ odd_c);
    const auto word = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        if (bytes != 0) std::memcpy(&value, text.data() + at, bytes);  // an empty text may be at no address
        return value;
    };
    std::size_t at = 0;
    for (; text.size() - at >= 16; at += 16) state = fold(word(at, 8) ^ odd_a ^ seed, word(at + 8, 8) ^ state);
    const std::size_t rest = text.size() - at;
    const std::uint64_t first = word(at, rest < 8 ? rest : 8);
    const std::uint64_t second = rest > 8 ? word(at + 8, rest - 8) : 0;
    return fold(fold(first ^ odd_a ^ seed, second ^ state) ^ seed, odd_c);
}

}  // namespace andon::detail
