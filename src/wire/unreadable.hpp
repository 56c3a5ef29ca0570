// What can be told of what is no message: whoever waits for an answer in it is to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "andon/wire/line_skimmer.hpp"

namespace andon::detail {

struct unreadable_answer {
    bool is_one = false;               ///< by all appearances, and perhaps to a request of ours
    std::optional<std::int64_t> to{};  ///< that one; nothing: it does not say which
};
/// Of a message that is no good as such.
[[nodiscard]] unreadable_answer answer_in(const skimmed_message& seen);
/// The same, of one that need not be JSON.
[[nodiscard]] unreadable_answer answer_in(std::string_view line);

/// A batch that cannot be read as one.
struct batch_pieces {
    std::vector<std::string_view> elements{};  ///< by their brackets alone: each may be a message, or no JSON at all
    std::vector<std::int64_t> lost{};          ///< ids of answers behind the place where the brackets go wrong
};
[[nodiscard]] batch_pieces pieces_of_batch(std::string_view line);

}  // namespace andon::detail
