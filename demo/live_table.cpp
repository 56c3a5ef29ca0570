#include "live_table.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "now.hpp"

namespace demo {
namespace {

using andon::request_info;
using andon::request_state;

constexpr std::size_t most_in_flight = 15;
constexpr std::size_t most_stopped = 8;

std::string name_columns(andon::session_id session, andon::direction way, const andon::request_id& id,
                         std::string_view label) {
    return fit(std::to_string(static_cast<std::uint64_t>(session)), 2, align::right) +
           (way == andon::direction::incoming ? " > " : " < ") + fit(to_string(id), 9) + ' ' + fit(label, 18) + ' ';
}

struct appearance {
    std::string_view state;
    colour paint;
};

appearance appearance_of(const request_info& r, bool waiting) {
    switch (r.state) {
        case request_state::cancelled:
            return r.noticed ? appearance{"stopping", colour::yellow} : appearance{"cancelled", colour::red};
        case request_state::responding: return {"responding", colour::green};
        case request_state::done: return {"ended", colour::dim};
        case request_state::running: break;
    }
    return waiting ? appearance{"waiting", colour::dim} : appearance{"running", colour::plain};
}

std::string in_flight_line(const request_info& r, std::string_view state, andon::time_point drawn_at) {
    auto line = name_columns(r.session, r.way, r.id, r.label) + fit(show(drawn_at - r.started), 7, align::right) +
                "  " + fit(state, 10) + ' ';
    if (r.state == request_state::cancelled) {
        line += fit(to_string(r.cause), 10) + ' ' + std::string(r.why.text());
    }
    return line;
}

std::string stopped_line(const andon::outcome& o) {
    const auto took = [](const std::optional<andon::duration>& d) {
        return fit(d ? show(*d) : "never", 7, align::right);
    };
    return name_columns(o.session, o.way, o.id, o.label) + took(o.time_to_notice()) + "  " + took(o.time_to_stop()) +
           "    " + fit(to_string(o.cause), 10) + ' ' + std::string(o.why.text());
}

// The lines of one frame, none wider than the screen.
class frame {
public:
    frame(std::size_t columns, palette paint) : columns_(columns), paint_(paint) {}

    void add(std::string_view text, colour c = colour::plain) { lines_.push_back(paint_(c, fit(text, columns_))); }

    void add_title(const workload& at_work, andon::duration since_start) {
        const std::string title = at_work.interrupted() ? "andon demo, leaving " : "andon demo ";
        const auto ended = at_work.book().ended();
        const auto all = at_work.book().planned();
        const auto progress = ' ' + std::to_string(ended) + " of " + std::to_string(all) + " ended, " +
                              fit(show(since_start), 7, align::right);
        const auto around = title.size() + progress.size();
        if (columns_ <= around) return add(title + progress, colour::bold);

        const auto room = std::min<std::size_t>(columns_ - around, 80);
        std::string full;
        std::string empty;
        for (std::size_t i = 0; i < room; ++i) i < room* ended / all ? full += "█" : empty += "░";
        lines_.push_back(paint_(colour::bold, title) + paint_(colour::green, full) + paint_(colour::dim, empty) +
                         progress);
    }

    [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }

private:
    std::size_t columns_;
    palette paint_;
    std::vector<std::string> lines_;
};

void add_counts(frame& to, const workload& at_work, const std::vector<request_info>& requests, std::size_t asked) {
    const auto counters = at_work.table().counters();
    const auto width = std::to_string(at_work.book().planned()).size();
    const auto part = [&](std::string_view what, std::size_t n) {
        return std::string(what) + ' ' + fit(std::to_string(n), width);
    };
    std::string causes = "by";
    std::size_t cancelled = 0;
    for (const auto cause : andon::all_causes) {
        cancelled += counters[cause].ended;
        if (cause == andon::cancel_cause::shutdown && !at_work.interrupted()) continue;
        causes += "  " + std::string(to_string(cause)) + ' ' + std::to_string(counters[cause].ended);
    }
    const auto waiting = std::min(at_work.pool().waiting(), requests.size() - asked);
    to.add(part("running", requests.size() - asked - waiting) + "  " + part("waiting", waiting) + "  " +
           part("asked to stop", asked) + "  " + part("answered", at_work.book().answered()) + "  " +
           part("cancelled", cancelled));
    to.add(causes);
}

void add_in_flight(frame& to, const worker_pool& pool, const std::vector<request_info>& requests, std::size_t rows) {
    to.add("SN   ID        TOOL                   AGE  STATE      CAUSE      REASON", colour::bold);
    const auto drawn_at = now();
    const auto waiting = pool.longest_waiting(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        if (i >= requests.size()) {
            to.add("");
            continue;
        }
        const auto& r = requests[i];
        const bool waits = r.way == andon::direction::incoming &&
                           std::find(waiting.begin(), waiting.end(), std::pair(r.session, r.id)) != waiting.end();
        const auto as = appearance_of(r, waits);
        to.add(in_flight_line(r, as.state, drawn_at), as.paint);
    }
}

void add_stopped(frame& to, const std::vector<andon::outcome>& outcomes, std::size_t rows) {
    to.add("JUST STOPPED                      NOTICED  STOPPED    CAUSE      REASON", colour::bold);
    for (std::size_t i = 0; i < rows; ++i) {
        if (i < outcomes.size()) {
            to.add(stopped_line(outcomes[i]), outcomes[i].noticed ? colour::plain : colour::red);
        } else {
            to.add("");
        }
    }
}

}  // namespace

live_table::screen live_table::measure() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {24, 80};
    return {size.ws_row, size.ws_col};
}

void live_table::draw(const workload& at_work, andon::duration since_start) {
    const auto size = measure();
    auto requests = at_work.table().list();
    // Those that were asked to stop first, and then the oldest: the few that matter are in sight.
    const auto others = std::stable_partition(
        requests.begin(), requests.end(), [](const request_info& r) { return r.state == request_state::cancelled; });
    const auto asked = static_cast<std::size_t>(others - requests.begin());

    frame next(size.columns - 1, paint_);  // some terminals wrap a full line
    next.add_title(at_work, since_start);
    add_counts(next, at_work, requests, asked);

    constexpr std::size_t other_lines = 8;  // above, the blank ones, the headings, and that of the cursor
    if (size.rows > other_lines) {
        const auto stopped = std::min(most_stopped, (size.rows - other_lines) / 3);
        const auto in_flight = std::min(most_in_flight, size.rows - other_lines - stopped);
        next.add("");
        add_in_flight(next, at_work.pool(), requests, in_flight);
        next.add("");
        add_stopped(next, at_work.table().recent_outcomes(), stopped);
    }
    replace(next.lines(), size);
}

void live_table::replace(const std::vector<std::string>& lines, screen size) {
    std::string text;
    if (lines_drawn_ == 0) {
        text = "\x1b[?25l";
    } else if (size != screen_) {
        text = "\x1b[2J\x1b[H";  // nobody knows where the old lines are now: begin again on a clean screen
    } else {
        text = "\r\x1b[" + std::to_string(lines_drawn_) + 'A';
    }
    for (const auto& line : lines) text += line + "\x1b[K\n";
    print(text + "\x1b[J");
    screen_ = size;
    lines_drawn_ = lines.size();
}

// Line by line: some terminals take a screen that is cleared as a whole for one to keep in their history.
void live_table::clear() {
    if (lines_drawn_ == 0) return;
    const auto up = "\r\x1b[" + std::to_string(lines_drawn_) + 'A';
    std::string text = up;
    for (; lines_drawn_ != 0; --lines_drawn_) text += "\x1b[K\n";
    print(text + up + "\x1b[?25h");
}

}  // namespace demo
