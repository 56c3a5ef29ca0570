#include "control/columns.hpp"

#include <algorithm>

namespace andon::app {
namespace {

constexpr std::size_t gap = 2;

/// Which columns are shown, and how wide; 0: left out.
class layout {
public:
    layout(const std::vector<column>& columns, const std::vector<std::vector<cell>>& rows) : columns_(&columns) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            std::size_t widest = width_of(columns[i].title);
            for (const auto& row : rows) widest = std::max(widest, width_of(row.at(i).text));
            widths.push_back(widest);
        }
    }

    void fit_into(std::size_t screen) {
        while (total() > screen && (narrow_one() || leave_one_out())) {
        }
        const auto only = std::find_if(widths.begin(), widths.end(), [](std::size_t width) { return width != 0; });
        if (total() > screen && only != widths.end()) *only = screen;
    }

    std::vector<std::size_t> widths;

private:
    [[nodiscard]] std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t width : widths) sum += width == 0 ? 0 : width + gap;
        return sum == 0 ? 0 : sum - gap;
    }
    bool narrow_one() {
        std::size_t* widest = nullptr;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const bool can = widths[i] > (*columns_)[i].least;
            if (can && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
        }
        if (widest != nullptr) --*widest;
        return widest != nullptr;
    }
    bool leave_one_out() {
        std::size_t shown = 0;
        std::optional<std::size_t> least;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] == 0) continue;
            ++shown;
            if (!least || (*columns_)[i].importance < (*columns_)[*least].importance) least = i;
        }
        if (shown < 2) return false;
        widths[*least] = 0;
        return true;
    }

    const std::vector<column>* columns_;
};

}  // namespace

std::vector<std::string> table_lines(const std::vector<column>& columns, const std::vector<std::vector<cell>>& rows,
                                     std::optional<std::size_t> columns_of_screen, const palette& paint) {
    layout shape(columns, rows);
    if (columns_of_screen) shape.fit_into(*columns_of_screen);
    std::size_t last = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (shape.widths[i] != 0) last = i;
    }
    const auto line = [&](const auto& text_of, const auto& paint_of) {
        std::string made;
        for (std::size_t i = 0; i <= last; ++i) {
            const std::size_t width = shape.widths[i];
            if (width == 0) continue;
            const std::string& text = text_of(i);
            const bool padded = i != last || columns[i].side == align::right || width_of(text) > width;
            made += paint(paint_of(i), padded ? fit(text, width, columns[i].side) : text);
            if (i != last) made.append(gap, ' ');
        }
        made.erase(made.find_last_not_of(' ') + 1);
        return made;
    };
    std::vector<std::string> lines{line([&](std::size_t i) -> const std::string& { return columns[i].title; },
                                        [](std::size_t) { return colour::bold; })};
    for (const auto& row : rows) {
        lines.push_back(line([&](std::size_t i) -> const std::string& { return row[i].text; },
                             [&](std::size_t i) { return row[i].paint; }));
    }
    return lines;
}

}  // namespace andon::app
