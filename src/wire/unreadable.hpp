// What can be told of a line that is no JSON: whoever waits for an answer in it is to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace andon::detail {

[[nodiscard]] bool looks_like_answer(std::string_view line) noexcept;
/// The id of an answer, as it stands at either end of what is usually written.
[[nodiscard]] std::optional<std::int64_t> number_behind_id(std::string_view line) noexcept;

/// A batch that cannot be read as one.
struct batch_pieces {
    std::vector<std::string_view> elements{};  ///< by their brackets alone: each may be a message, or no JSON at all
    std::vector<std::int64_t> lost{};          ///< ids of answers behind the place where the brackets go wrong
};
[[nodiscard]] batch_pieces pieces_of_batch(std::string_view line);

}  // namespace andon::detail
