// Base64, as RFC 4648 has it, and nothing that it does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace andon::detail {

enum class base64_form : std::uint8_t {
    standard,  ///< `+` and `/`, padded
    url        ///< `-` and `_`, not padded, as in tokens
};

[[nodiscard]] std::string base64_encoded(std::string_view bytes, base64_form form = base64_form::standard);

/// Nothing for what base64_encoded() cannot have made: another alphabet, padding that is missing, wrong or too much, or
/// bits behind the last byte. So each value has one form only.
[[nodiscard]] std::optional<std::string> base64_decoded(std::string_view text,
                                                        base64_form form = base64_form::standard);

}  // namespace andon::detail
