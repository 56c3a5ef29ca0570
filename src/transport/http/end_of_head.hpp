#pragma once

#include <string_view>

namespace andon::detail {

/// Behind the headers of a request or a response.
inline constexpr std::string_view end_of_head = "\r\n\r\n";

}  // namespace andon::detail
