// JSON as people and their scripts write it.
#pragma once

#include <string>

#include "andon/wire/error.hpp"

namespace andon::gateway {

/// On one line, as json_text(), but with numbers in plain decimals: 19 and 48.868, not 1.9E1 and 4.8868E1.
[[nodiscard]] std::string plain_json(const json::value& value);

}  // namespace andon::gateway
