// What probes have in common.
#pragma once

#include <optional>
#include <string>

#include "check/probe.hpp"

namespace andon::check {

/// A call in flight.
struct flight {
    std::string raw_id;
    time_point began;
    milliseconds takes;  ///< 0: does not end by itself
};

/// The tool that ends by itself where there is one, else one that lasts. Throws unobservable where there is neither.
[[nodiscard]] const slow_tool& some_slow_tool(const trial& t);
/// One that ends by itself. Throws unobservable.
[[nodiscard]] const slow_tool& timed_tool(const trial& t);
[[nodiscard]] const slow_tool& lasting_tool(const trial& t);

inline constexpr std::string_view not_over_modern_http =
    "this revision has no cancel notification over HTTP: closing the stream is the cancel";

/// Ends a probe that has nothing to look at.
class unobservable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Where a cancel is the closing of a stream, there is no notification to send. Throws unobservable.
void expect_notification(const trial& t);

/// Calls it and returns when it can be taken for started.
[[nodiscard]] flight begin(session& with, const slow_tool& tool, std::string raw_id,
                           milliseconds time = milliseconds(1200));
/// How long a tool that was asked for the usual time takes.
[[nodiscard]] milliseconds time_of(const slow_tool& tool);

/// Listens until the call would have ended by itself, and a good while more.
void outlast(session& with, const flight& call, const trial& t);
/// Listens until its answer is there, for as long as it may take.
[[nodiscard]] const json::object* ending(session& with, const flight& call, const trial& t);
/// Whether it was answered with a result, and not before its time. Else what happened instead, in words.
[[nodiscard]] std::optional<std::string> disturbed(session& with, const flight& call, const trial& t);

/// As `312 ms`.
[[nodiscard]] std::string in_ms(duration time);
[[nodiscard]] std::string percent(milliseconds used, milliseconds of);

/// Processor time, and the time in which it was used.
struct load {
    milliseconds used{};
    milliseconds of{};
    [[nodiscard]] std::string words() const { return percent(used, of); }
};
/// Listens for that long, where the processes can be seen.
[[nodiscard]] load load_of(session& with, milliseconds time);
/// Whether it is still busy, having been as busy as `before`. `after`: what was seen; it may take a second look.
[[nodiscard]] bool works_on(session& with, const load& before, load& after);

/// How a call shows that it is at work, and whether it stopped.
struct signs {
    std::string words{};      ///< of everything that was seen, before and after
    bool any_before = false;  ///< it could be seen working
    bool any_after = false;   ///< and still was, after it should have stopped
};
/// Watches a call of `tool` work, does `stop` to it, and watches again. `between`: how long it may take to stop.
[[nodiscard]] signs watch_stop(session& with, const slow_tool& tool, const std::string& raw_id, bool progress,
                               const std::function<void()>& stop, milliseconds between = milliseconds(1000));

}  // namespace andon::check
