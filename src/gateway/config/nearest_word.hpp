// The word that somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace andon::gateway {

/// The one of `known` that is nearest to `word`, if it is near enough to be meant; else empty.
[[nodiscard]] std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// `; did you mean "name"?`, or nothing. Safe to show, whoever chose the names.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace andon::gateway
