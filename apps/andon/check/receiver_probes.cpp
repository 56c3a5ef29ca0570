// RCV: what a server does with a cancel.
#include "check/receiver_probes.hpp"

#include <algorithm>

#include "andon/wire/error.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

/// Over HTTP a stream that waits for its end may be ended by an error; that is no answer of the tool (HTTP-3).
bool terminator(const session& with, const json::object& answer) {
    return with.over_http() && code_of(answer) == error_code::request_cancelled;
}

/// What was sent for the call after `since`, in words; empty: nothing.
std::string sent_after(const session& with, const std::string& raw_id, time_point cancelled, time_point since) {
    for (const heard* const each : with.answers(raw_id, since)) {
        if (terminator(with, each->message)) continue;
        return "answered with " + in_words(each->message) + ' ' + in_ms(each->at - cancelled) + " after the cancel";
    }
    if (const auto late = with.progress(raw_id, since); !late.empty()) {
        return std::to_string(late.size()) + " progress notifications after the cancel, the last " +
               in_ms(late.back()->at - cancelled) + " later";
    }
    return {};
}

}  // namespace

finding work_stops(const trial& t) {
    if (t.known.showing.empty()) {
        const slow_tool& tool = timed_tool(t);
        const auto with = t.open();
        const flight call = begin(*with, tool, "1");
        const auto cancelled = clock::now();
        with->cancel(call.raw_id, "andon check");
        outlast(*with, call, t);
        for (const heard* const each : with->answers(call.raw_id, cancelled)) {
            if (result_of(each->message) == nullptr || each->at - call.began < call.takes * 9 / 10) continue;
            return fail("'" + tool.name + "' ran to its end and gave its result " + in_ms(each->at - cancelled) +
                        " after the cancel");
        }
        with->fence();
        return not_observable("'" + tool.name +
                              "' shows nothing while it works: no progress, no processor time, no child");
    }
    std::string words;
    bool seen = false;
    for (const slow_tool& tool : t.known.showing) {
        const auto with = t.open();
        // A stream that we closed ourselves shows no progress, whatever the server does.
        const bool hears = !(t.modern() && with->over_http());
        const signs found = watch_stop(*with, tool, "1", hears, [&] {
            with->cancel("1", "andon check");
            with->fence();
        });
        if (!found.any_before) continue;
        seen = true;
        const std::string each = tool.name + ": " + found.words;
        if (found.any_after) return fail("the work goes on; " + each);
        words += (words.empty() ? "" : "; ") + each;
    }
    if (!seen) return not_observable("no call could be seen working");
    return pass(words);
}

finding resources_are_freed(const trial& t) {
    const slow_tool& tool = t.known.showing_children() != nullptr ? *t.known.showing_children() : lasting_tool(t);
    const auto with = t.open();
    if (!with->processes()) return not_observable("the processes of a server at a URL cannot be seen: give --pid");
    constexpr int calls = 12;
    const auto round = [&](int from) {
        std::vector<std::string> ids;
        for (int i = 0; i < calls; ++i) {
            ids.push_back(std::to_string(from + i));
            with->call(ids.back(), tool.name, tool.arguments(milliseconds(60'000)));
        }
        with->listen(milliseconds(400));
        for (const std::string& id : ids) with->cancel(id);
        with->fence();
        // A stream that the server leaves open after a cancel (HTTP-3) is ours to close.
        auto* const http = dynamic_cast<http_session*>(with.get());
        for (const std::string& id : ids) {
            if (http != nullptr) http->drop(id);
        }
    };
    // What a first round leaves behind is what a server keeps for later: buffers, threads, connections.
    round(100);
    with->listen(milliseconds(600));
    const auto before = with->processes();
    round(200);
    std::optional<process_view> after;
    with->wait(
        [&] {
            after = with->processes();
            return after && after->files <= before->files + 2 && after->processes() <= before->processes();
        },
        milliseconds(2500));
    const auto change = [](std::size_t from, std::size_t to) {
        return std::to_string(from) + " -> " + std::to_string(to);
    };
    const std::string words = std::to_string(calls) + " calls of '" + tool.name + "' cancelled: open files " +
                              change(before->files, after->files) + ", processes " +
                              change(before->processes(), after->processes()) + ", threads " +
                              change(before->threads, after->threads);
    const bool kept = after->files >= before->files + calls / 2 || after->processes() > before->processes();
    const bool threads_kept = after->threads >= before->threads + calls / 2;
    return kept || threads_kept ? fail(words) : pass(words);
}

finding no_response(const trial& t) {
    const slow_tool& tool = some_slow_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    if (!with->answers("1").empty())
        return not_observable("'" + tool.name + "' was answered before it could be cancelled");
    const auto cancelled = clock::now();
    with->cancel("1", "andon check");
    outlast(*with, call, t);
    for (const heard* const each : with->answers("1")) {
        if (terminator(*with, each->message)) continue;
        return fail("the cancelled call was answered with " + in_words(each->message) + ", " +
                    in_ms(each->at - cancelled) + " after the cancel");
    }
    with->fence();
    const std::string until = call.takes.count() > 0 ? ", also when it would have ended" : "";
    return pass("no answer within " + in_ms(clock::now() - cancelled) + " of the cancel" + until);
}

finding nothing_more(const trial& t) {
    const slow_tool* const speaking = t.known.showing_progress();
    if (t.modern() && t.server.over_http()) {
        return not_observable("the stream is closed by the cancel: nothing can be heard on it (see HTTP-1)");
    }
    std::string words;
    if (speaking != nullptr) {
        const auto with = t.open();
        const flight call = begin(*with, *speaking, "1", milliseconds(60'000));
        with->wait([&] { return with->progress("1").size() >= 2; }, milliseconds(2000));
        const auto told = with->progress("1").size();
        const auto cancelled = clock::now();
        with->cancel("1", "andon check");
        with->fence();
        const auto since = clock::now();
        with->listen(std::max(t.quiet, milliseconds(1000)));
        if (const std::string late = sent_after(*with, "1", cancelled, since); !late.empty()) return fail(late);
        words = std::to_string(told) + " progress notifications before the cancel, none after";
    }
    if (t.known.timed) {
        const auto with = t.open();
        const flight call = begin(*with, *t.known.timed, "1");
        const auto cancelled = clock::now();
        with->cancel("1", "andon check");
        with->fence();
        const auto since = clock::now();
        outlast(*with, call, t);
        if (const std::string late = sent_after(*with, "1", cancelled, since); !late.empty()) return fail(late);
        words += (words.empty() ? "" : "; ") + std::string("nothing when the call would have ended");
    }
    if (words.empty()) return not_observable("no tool sends progress or ends by itself");
    return pass(words);
}

}  // namespace andon::check
