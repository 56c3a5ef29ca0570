#pragma once

#include <string_view>

namespace andon::detail {

/// Without the blanks and tabs that HTTP allows around a header's value.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view value) noexcept {
    constexpr std::string_view blanks = " \t";
    const auto first = value.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return value.substr(first, value.find_last_not_of(blanks) - first + 1);
}

}  // namespace andon::detail
