// How far a call is, in one line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "andon/core/time.hpp"

namespace andon::app {

struct progress_state {
    std::string what{};  ///< the tool, or what is being done
    bool known = false;  ///< the server has told of progress
    double progress = 0;
    std::optional<double> total{};
    std::string message{};  ///< the server's; made visible
};

/// In at most `columns` columns, whatever they are: what matters least goes first, the message, the name, then the bar.
[[nodiscard]] std::string bar_line(const progress_state& state, duration elapsed, std::size_t columns);

/// For where no line is drawn twice: `wait: 42% (420 of 1000), message`.
[[nodiscard]] std::string plain_progress(const progress_state& state);

/// `0.4 s`, `12 s`, `3:05`, `2:00:00`.
[[nodiscard]] std::string clock_text(duration elapsed);

}  // namespace andon::app
