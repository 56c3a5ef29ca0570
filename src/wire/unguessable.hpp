// Names that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace andon::detail {

/// So many bytes from a secure source, as hexadecimal digits. Throws where there is no such source.
[[nodiscard]] std::string unguessable_name(std::size_t bytes);

}  // namespace andon::detail
