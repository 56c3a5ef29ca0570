// A table for people, in as many columns of the terminal as there are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace andon::app {

struct column {
    std::string title;
    /// Narrower than that it is left out, the one of the least importance first.
    std::size_t least = 4;
    int importance = 0;
    align side = align::left;
};

struct cell {
    std::string text;
    colour paint = colour::plain;
};

/// Lines of `columns_of_screen` at most, or as wide as the text is; the first is the title. No cell is padded at the
/// end of a line.
[[nodiscard]] std::vector<std::string> table_lines(const std::vector<column>& columns,
                                                   const std::vector<std::vector<cell>>& rows,
                                                   std::optional<std::size_t> columns_of_screen, const palette& paint);

}  // namespace andon::app
