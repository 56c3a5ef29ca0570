// Text for a terminal: columns, durations for people, colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "andon/core/time.hpp"

namespace andon::app {

enum class align { left, right };

/// `text` in exactly `columns` columns: padded, or cut and marked with "…". A character is cut off whole, with the
/// marks that stand on it.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns, align side = align::left);

/// How many columns a text takes on a terminal: two for a character that is twice as wide, as Chinese ones and most
/// emoji, none for a mark that stands on another. Where the C library has no locale C.UTF-8, each is one.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// In lines of at most `columns`, broken at blanks; a word that is longer is broken where it must be. All but the first
/// are indented.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0);

/// As `250 ns`, `41 µs`, `3.2 ms`, `1.20 s`.
[[nodiscard]] std::string show(duration d);

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
/// False: something that was printed is lost, as on a full disk. That a reader left is no loss.
[[nodiscard]] bool all_was_printed();

/// Whether it is a terminal on which a line can be drawn again; one that only knows lines (TERM=dumb, or unset) is
/// none.
[[nodiscard]] bool on_terminal(int fd = STDOUT_FILENO);

struct window_size {
    std::size_t columns = 80;
    std::size_t lines = 24;
};
/// As it is now; the defaults where the terminal does not say.
[[nodiscard]] window_size window_of(int fd);
/// Into how many columns a table for standard output should fit; nothing where that is no terminal of any kind.
[[nodiscard]] std::optional<std::size_t> output_width();
/// NO_COLOR, set to anything, says no.
[[nodiscard]] bool colours_wanted();

}  // namespace andon::app
