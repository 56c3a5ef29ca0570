// What the library has to say to whoever runs the program.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace andon {

enum class log_level : std::uint8_t { debug, info, warning, error, off };

/// The default: one line to standard error, dropped if nobody reads that. ANDON_LOG=debug|info|warning|error|off sets
/// from which level on; unset it is info.
void log_to_stderr(log_level level, std::string_view text);

/// Takes a line; from any thread. The text is safe to show (MSG-4).
using log_sink_function = std::function<void(log_level, std::string_view)>;

struct log_line {
    log_level level;
    std::string text;
};

class log_sink {
public:
    log_sink() : sink_(log_to_stderr) {}
    explicit log_sink(log_sink_function sink) : sink_(std::move(sink)) {}
    /// What the sink throws is lost: it is called where nothing may be thrown.
    void operator()(log_level level, std::string_view text) const noexcept try {
        if (sink_) sink_(level, text);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
    /// Several at once: to standard error they go with few writes.
    void operator()(std::span<const log_line> lines) const noexcept;

private:
    log_sink_function sink_;
};

}  // namespace andon
