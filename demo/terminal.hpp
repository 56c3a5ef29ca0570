// Text for a terminal: columns, durations for people, colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"

namespace demo {

enum class align { left, right };

/// `text` in exactly `columns` columns: padded, or cut and marked with "…". A character counts as one column.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns, align side = align::left);

/// As `250 ns`, `41 µs`, `3.2 ms`, `1.20 s`.
[[nodiscard]] std::string show(andon::duration d);

enum class colour { plain, bold, dim, red, green, yellow };

/// Paints, or leaves the text alone where nobody would see it.
class palette {
public:
    explicit palette(bool on) noexcept : on_(on) {}
    [[nodiscard]] std::string operator()(colour c, std::string_view text) const;

private:
    bool on_;
};

/// To standard output, at once.
void print(std::string_view text);

/// Whether standard output is a terminal that understands more than lines.
[[nodiscard]] bool on_terminal();
/// NO_COLOR, set to anything, says no.
[[nodiscard]] bool colours_wanted();

}  // namespace demo
