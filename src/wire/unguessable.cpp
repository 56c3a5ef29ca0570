#include "wire/unguessable.hpp"

#include <openssl/rand.h>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace andon::detail {

std::string unguessable_name(std::size_t bytes) {
    std::vector<unsigned char> random(bytes);
    if (RAND_bytes(random.data(), static_cast<int>(bytes)) != 1) {
        throw std::runtime_error("there is no source of random numbers");
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name;
    name.reserve(bytes * 2);
    for (const unsigned char byte : random) (name += digits[byte >> 4U]) += digits[byte & 0xFU];
    return name;
}

}  // namespace andon::detail
