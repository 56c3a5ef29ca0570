// Text from a stranger, made safe to show (rule MSG-4).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace andon {

/// `text` as it may go to a log or a terminal: valid UTF-8, no control or invisible formatting character (each is
/// written out, as `\n`, `\x1b` or `\u{202e}`), at most `max_bytes` long; what was cut off is marked by "…".
/// Reads no more of the input than it needs. Applying it twice changes nothing.
[[nodiscard]] std::string visible_text(std::string_view text, std::size_t max_bytes);

}  // namespace andon
