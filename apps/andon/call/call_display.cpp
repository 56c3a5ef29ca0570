#include "call/call_display.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>

#include "andon/core/visible_text.hpp"

namespace andon::app {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t longest_text = 2'048;
constexpr std::chrono::seconds between_lines{1};
constexpr std::chrono::milliseconds between_drawings{50};  // a server may tell of progress a million times a second

std::atomic<bool> bar_is_drawn = false;  // for a signal's handler, which has no object

colour colour_of(std::string_view level) {
    if (level == "debug" || level == "info" || level == "notice") return colour::dim;
    return level == "warning" ? colour::yellow : colour::red;
}

}  // namespace

display_style call_display::style_of_stderr(bool quiet) {
    if (quiet) return display_style::quiet;
    return on_terminal(STDERR_FILENO) ? display_style::bar : display_style::lines;
}

call_display::call_display(display_style style)
    : style_(style), paint_(style == display_style::bar && colours_wanted()), began_(steady_clock::now()) {}

call_display::~call_display() { finish(); }

void call_display::finish() {
    const std::lock_guard lock(mutex_);
    ++paused_;
    erase_locked();
    // A line that it did not end may be all that it said of its failure.
    if (!finished_ && !partial_.empty()) {
        line_locked(paint_(colour::dim, "server: " + visible_text(partial_, longest_text)));
    }
    finished_ = true;
}

void call_display::write_locked(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t wrote = ::write(STDERR_FILENO, rest.data(), rest.size());
        if (wrote < 0 && errno == EAGAIN) {  // somebody else's pipe may not block
            pollfd ready{STDERR_FILENO, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (wrote < 0 && errno != EINTR) {
            return;
        }
        rest.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
}

void call_display::erase_locked() {
    if (drawn_columns_ == 0) return;
    // The cursor is at the beginning of the bar. A window that became narrower has broken it into several rows, of
    // which the others are below; there is nothing else there. Row by row, because some terminals keep a copy of what
    // is cleared as a whole.
    const std::size_t below = (drawn_columns_ - 1) / std::max<std::size_t>(window_of(STDERR_FILENO).columns, 1);
    drawn_columns_ = 0;
    bar_is_drawn = false;
    std::string rows;
    for (std::size_t i = 0; i < below; ++i) rows += "\x1b[B\x1b[2K";
    constexpr const char* keep_place = "\0337";
    constexpr const char* back_to_it = "\0338";
    write_locked("\r\x1b[K" + (below > 0 ? keep_place + rows + back_to_it : rows));
}

void call_display::draw_locked() {
    if (style_ != display_style::bar || paused_ > 0 || state_.what.empty()) return;
    erase_locked();
    const std::size_t columns = window_of(STDERR_FILENO).columns;
    // The last columns stay free: the terminal itself writes ^C there, and must not begin a new line for it.
    constexpr std::size_t free = 3;
    const std::string line = bar_line(state_, steady_clock::now() - began_, columns > free ? columns - free : 1);
    drawn_columns_ = width_of(line);
    bar_is_drawn = true;
    last_drawn_ = steady_clock::now();
    // Without wrapping, a message in letters of double width is cut and breaks nothing.
    write_locked("\x1b[?7l" + line + "\r\x1b[?7h");
}

void call_display::line_locked(const std::string& line) {
    erase_locked();
    write_locked(line + '\n');
    draw_locked();
}

void call_display::doing(std::string_view what) {
    const std::lock_guard lock(mutex_);
    state_ = {.what = visible_text(what, 200)};
    began_ = steady_clock::now();
    draw_locked();
}

void call_display::progress(const progress_update& update) {
    const std::lock_guard lock(mutex_);
    state_.known = true;
    state_.progress = update.progress;
    state_.total = update.total;
    if (!update.message.empty()) state_.message = visible_text(update.message, longest_text);
    const auto now = steady_clock::now();
    if (style_ == display_style::bar && now - last_drawn_ >= between_drawings) draw_locked();
    if (style_ != display_style::lines) return;
    if (now - last_plain_ < between_lines) return;
    last_plain_ = now;
    line_locked(plain_progress(state_));
}

void call_display::message(std::string_view text) {
    const std::lock_guard lock(mutex_);
    std::string shown = visible_text(text, longest_text);
    if (shown == state_.message) return;
    state_.message = std::move(shown);
    if (style_ == display_style::bar) draw_locked();
    if (style_ == display_style::lines && !state_.message.empty()) line_locked(state_.what + ": " + state_.message);
}

void call_display::log(std::string_view level, std::string_view logger, std::string_view text) {
    if (style_ == display_style::quiet) return;
    std::string line = paint_(colour_of(level), '[' + visible_text(level, 32) + ']') + ' ';
    if (!logger.empty()) line += visible_text(logger, 200) + ": ";
    line += visible_text(text, longest_text);
    const std::lock_guard lock(mutex_);
    line_locked(line);
}

void call_display::server_said(std::string_view piece) {
    if (style_ == display_style::quiet) return;
    const std::lock_guard lock(mutex_);
    while (!piece.empty() && !finished_) {
        const auto end = piece.find('\n');
        const std::string_view part = piece.substr(0, end);
        // One byte more than is shown, so that the cut is marked.
        partial_ += part.substr(0, longest_text + 1 - std::min(longest_text + 1, partial_.size()));
        if (end == std::string_view::npos) return;
        if (partial_.ends_with('\r')) partial_.pop_back();
        line_locked(paint_(colour::dim, "server: " + visible_text(partial_, longest_text)));
        partial_.clear();
        piece.remove_prefix(end + 1);
    }
}

void call_display::say(std::string_view line, bool important) {
    if (style_ == display_style::quiet && !important) return;
    const std::lock_guard lock(mutex_);
    line_locked(std::string(line));
}

void call_display::redraw() {
    const std::lock_guard lock(mutex_);
    draw_locked();
}

void call_display::pause() {
    const std::lock_guard lock(mutex_);
    ++paused_;
    erase_locked();
}

void call_display::resume() {
    const std::lock_guard lock(mutex_);
    if (--paused_ == 0) draw_locked();
}

void call_display::abandon_line() noexcept {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (!bar_is_drawn || ::poll(&ready, 1, 0) != 1) return;
    // The terminal wrote ^C over it, and what comes next is to stand in a line of its own.
    constexpr std::string_view clear = "\r\x1b[K";
    static_cast<void>(::write(STDERR_FILENO, clear.data(), clear.size()));
}

}  // namespace andon::app
