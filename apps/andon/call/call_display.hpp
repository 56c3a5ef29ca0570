// What a person sees of a call while it runs, on standard error.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "andon/wire/message.hpp"
#include "call/progress_bar.hpp"
#include "terminal.hpp"

namespace andon::app {

enum class display_style {
    bar,    ///< one line, drawn again in its place, below everything else
    lines,  ///< for a file, a pipe, or a terminal that knows nothing else: a line now and then
    quiet,  ///< nothing
};

/// Every call from any thread. What comes from the server is made visible here, and nowhere else.
class call_display {
public:
    /// What standard error can show.
    [[nodiscard]] static display_style style_of_stderr(bool quiet);

    explicit call_display(display_style style);
    call_display(const call_display&) = delete;
    call_display& operator=(const call_display&) = delete;
    /// Takes the bar away.
    ~call_display();

    [[nodiscard]] bool draws() const noexcept { return style_ == display_style::bar; }

    /// What is being done from now on; the clock starts again. In lines nothing is said of it.
    void doing(std::string_view what);
    void progress(const progress_update& update);
    /// The server's state of the task, for the bar.
    void message(std::string_view text);
    /// A log message of the server's.
    void log(std::string_view level, std::string_view logger, std::string_view text);
    /// A piece of what the server writes to its standard error.
    void server_said(std::string_view piece);
    /// A line of ours, above the bar. Also when quiet, if it is important.
    void say(std::string_view line, bool important = false);

    /// The time has gone on, or the window has changed.
    void redraw();
    /// Takes the bar away until resume(): somebody else writes.
    void pause();
    void resume();
    /// Takes the bar away for good; what the server says while it leaves is of no interest.
    void finish();

    /// Async-signal-safe: clears the line of the bar, as far as the terminal takes it at once.
    static void abandon_line() noexcept;

private:
    void draw_locked();
    void erase_locked();
    void write_locked(const std::string& text);
    void line_locked(const std::string& line);

    const display_style style_;
    const palette paint_;
    std::mutex mutex_;
    progress_state state_;
    time_point began_;
    time_point last_plain_{};
    time_point last_drawn_{};
    std::size_t drawn_columns_ = 0;  // of the bar that is there now
    std::string partial_;            // of the server's standard error
    int paused_ = 0;
    bool finished_ = false;
};

}  // namespace andon::app
