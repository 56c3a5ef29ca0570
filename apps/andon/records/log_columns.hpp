// The lines of `andon log` for people: columns that stand below one another, in the terminal's width.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gateway/journal/journal_reader.hpp"
#include "terminal.hpp"

namespace andon::app {

/// A row is one line, as long as it is, where there is no terminal. On one, names are shortened and columns left out
/// until there is room for what became of the call, which is broken at blanks into as many lines as it needs; without
/// room for the date it stands above the first call of a day.
class log_columns {
public:
    log_columns(std::optional<std::size_t> screen, bool colours) : screen_(screen), paint_(colours) {}

    /// Columns become wider, and never narrower again: what follows stands below what is there.
    void make_room(const std::vector<gateway::journal_row>& rows);
    /// For a terminal; else empty.
    [[nodiscard]] std::string heading() const;
    /// With the end of the last line.
    [[nodiscard]] std::string lines(const gateway::journal_row& row);

private:
    static constexpr std::size_t count = 5;
    using cells = std::array<std::string, count>;
    enum column : std::size_t { ended, id, server, tool, request };
    enum class clock { with_milliseconds, with_date, alone };

    [[nodiscard]] static cells cells_of(const gateway::journal_row& row);
    [[nodiscard]] std::size_t before_outcome() const;
    [[nodiscard]] std::string line_of(const cells& texts) const;
    [[nodiscard]] bool outcome_is_below() const;
    void fit_to_screen();

    std::optional<std::size_t> screen_;
    palette paint_;
    std::array<std::size_t, count> wanted_{};
    std::array<std::size_t, count> widths_{};  ///< 0: left out
    clock clock_ = clock::with_milliseconds;
    std::string day_;
};

}  // namespace andon::app
