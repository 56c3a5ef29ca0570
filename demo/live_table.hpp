// What is in flight, redrawn in place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "andon/core/time.hpp"
#include "terminal.hpp"
#include "workload.hpp"

namespace demo {

/// Owns the lines below the cursor while it lives. Leaves none of them behind, and the cursor visible.
class live_table {
public:
    explicit live_table(palette paint) : paint_(paint) {}
    live_table(const live_table&) = delete;
    live_table& operator=(const live_table&) = delete;
    ~live_table() { clear(); }

    void draw(const workload& at_work, andon::duration since_start);
    /// Gives the lines and the cursor back; the next draw() takes them again.
    void clear();

private:
    struct screen {
        std::size_t rows, columns;
        friend bool operator==(const screen&, const screen&) = default;
    };

    [[nodiscard]] static screen measure();
    void replace(const std::vector<std::string>& lines, screen size);

    palette paint_;
    screen screen_{};
    std::size_t lines_drawn_ = 0;
};

}  // namespace demo
