// Input as line_splitter hands it out: readable behind its end.
#pragma once

#include <string>
#include <string_view>

#include "andon/wire/line_splitter.hpp"

namespace andon::fuzz {

class padded {
public:
    explicit padded(std::string_view text) : bytes_(text), size_(text.size()) {
        bytes_.append(line_splitter::padding, '9');
    }
    [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

private:
    std::string bytes_;
    std::size_t size_;
};

}  // namespace andon::fuzz
