#include "check/probe_steps.hpp"

#include <algorithm>

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

constexpr milliseconds settling{250};
constexpr milliseconds margin{1000};
constexpr milliseconds window{500};
constexpr milliseconds lasting_time{60'000};

std::string why_not(const trial& t, std::string_view wanted) {
    return t.known.why_not.empty() ? "no tool " + std::string(wanted) : t.known.why_not;
}

}  // namespace

const slow_tool& some_slow_tool(const trial& t) {
    if (t.known.timed) return *t.known.timed;
    if (t.known.lasting) return *t.known.lasting;
    throw unobservable(why_not(t, "is slow"));
}

const slow_tool& timed_tool(const trial& t) {
    if (t.known.timed) return *t.known.timed;
    throw unobservable(why_not(t, "was seen to take its time and then end by itself"));
}

const slow_tool& lasting_tool(const trial& t) {
    if (t.known.lasting) return *t.known.lasting;
    if (t.known.timed) return *t.known.timed;
    throw unobservable(why_not(t, "lasts long enough"));
}

milliseconds time_of(const slow_tool& tool) { return tool.takes; }

void expect_notification(const trial& t) {
    if (!t.modern() || !t.server.over_http()) return;
    throw unobservable("this revision has no cancel notification over HTTP: closing the stream is the cancel");
}

flight begin(session& with, const slow_tool& tool, std::string raw_id, milliseconds time) {
    const auto began = clock::now();
    with.call(raw_id, tool.name, tool.arguments(time));
    with.wait([&] { return !with.progress(raw_id).empty() || !with.answers(raw_id).empty(); }, settling);
    return {std::move(raw_id), began, tool.takes};
}

void outlast(session& with, const flight& call, const trial& t) {
    const auto until = call.takes.count() > 0 ? call.began + call.takes + margin : clock::now() + t.quiet + margin;
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now());
    with.listen(std::max(left, t.quiet));
}

const json::object* ending(session& with, const flight& call, const trial& t) {
    return with.answer(call.raw_id, call.takes + t.patience);
}

std::optional<std::string> disturbed(session& with, const flight& call, const trial& t) {
    const json::object* const said = ending(with, call, t);
    if (said == nullptr) return "call " + call.raw_id + " was never answered";
    const auto took = with.answers(call.raw_id).front()->at - call.began;
    if (result_of(*said) == nullptr) {
        return "call " + call.raw_id + " was answered with " + in_words(*said) + " after " + in_ms(took);
    }
    if (took < call.takes / 2) return "call " + call.raw_id + " ended after " + in_ms(took) + ", before its time";
    if (with.answers(call.raw_id).size() > 1) return "call " + call.raw_id + " was answered more than once";
    return std::nullopt;
}

std::string in_ms(duration time) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

std::string percent(milliseconds used, milliseconds of) {
    return std::to_string(of.count() == 0 ? 0 : 100 * used.count() / of.count()) + " %";
}

load load_of(session& with, milliseconds time) {
    const auto from = with.processes();
    const auto began = clock::now();
    with.listen(time);
    const auto to = with.processes();
    if (!from || !to) return {};
    return {to->used_since(*from), std::chrono::duration_cast<milliseconds>(clock::now() - began)};
}

bool works_on(session& with, const load& before, load& after) {
    const auto less_than = [&](std::int64_t part) {
        return after.used.count() * part * before.of.count() < before.used.count() * after.of.count();
    };
    if (after.used <= milliseconds(20) || less_than(20)) return false;
    if (!less_than(4)) return true;
    // In between: a busy machine that gives it little, or a server that has something else to do. Time tells.
    after = load_of(with, milliseconds(1500));
    return after.used > after.of / 25;
}

signs watch_stop(session& with, const slow_tool& tool, const std::string& raw_id, bool progress,
                 const std::function<void()>& stop, milliseconds between) {
    const auto idle = with.processes();
    const flight call = begin(with, tool, raw_id, lasting_time);
    const load busy = load_of(with, window);
    if (tool.progress && progress) {
        // Waited for, so that its absence says something.
        with.wait([&] { return with.progress(raw_id).size() >= 2; }, milliseconds(2000));
    }
    const auto working = with.processes();
    const auto told = with.progress(raw_id);
    const auto interval = told.size() < 2
                              ? milliseconds()
                              : std::chrono::duration_cast<milliseconds>(told.back()->at - told[told.size() - 2]->at);
    stop();
    // It may take a moment; less than that is not waited for.
    const auto until = clock::now() + between;
    while (idle && clock::now() < until) {
        const auto now = with.processes();
        with.listen(milliseconds(100));
        const auto then = with.processes();
        if (!now || !then) break;
        if (then->processes() <= idle->processes() && then->used_since(*now) <= milliseconds(20)) break;
    }
    const auto stopped = clock::now();
    load still = load_of(with, std::max(window, std::min(3 * interval, milliseconds(3000))));
    const auto after = with.processes();

    signs seen;
    const auto add = [&](bool was, bool is, const std::string& words) {
        if (!was) return;
        seen.any_before = true;
        seen.any_after = seen.any_after || is;
        seen.words += (seen.words.empty() ? "" : ", ") + words;
    };
    if (progress) {
        const std::size_t late = with.progress(raw_id, stopped).size();
        add(!told.empty(), late > 0,
            "progress " + std::to_string(told.size()) + " before and " + std::to_string(late) + " after");
    }
    if (idle && working && after) {
        const bool was_busy = tool.processor && busy.used > busy.of / 20;
        const bool is_busy = was_busy && works_on(with, busy, still);
        add(was_busy, is_busy, "processor " + busy.words() + " before and " + still.words() + " after");
        const auto extra = [&](const process_view& view) {
            return view.processes() > idle->processes() ? view.processes() - idle->processes() : 0;
        };
        add(extra(*working) > 0, extra(*after) > 0,
            "child processes " + std::to_string(extra(*working)) + " before and " + std::to_string(extra(*after)) +
                " after");
    }
    return seen;
}

}  // namespace andon::check
