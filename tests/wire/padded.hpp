// A line as line_splitter hands it out.
#pragma once

#include <string>
#include <string_view>

#include "andon/wire/line_splitter.hpp"

namespace andon {

/// Readable for a few bytes behind its end. What lies there looks like more of the message: nobody may read on into it.
class padded {
public:
    padded(std::string_view text)  // NOLINT(google-explicit-constructor)
        : bytes_(text), size_(text.size()) {
        bytes_.append(line_splitter::padding, '9');
    }
    operator std::string_view() const noexcept { return {bytes_.data(), size_}; }  // NOLINT

private:
    std::string bytes_;
    std::size_t size_;
};

}  // namespace andon
