#include "report.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace demo {
namespace {

using andon::cancel_cause;
using andon::outcome;

// The newest outcome of each of the stories worth telling.
std::vector<sample> pick_samples(const std::vector<outcome>& outcomes, const ledger& book) {
    const auto is = [](tool t) { return [t](const outcome& o) { return o.label == to_string(t); }; };
    const auto by = [](cancel_cause cause, tool t) {
        return [=](const outcome& o) { return o.cause == cause && o.label == to_string(t); };
    };
    const auto never_started = [&book](const outcome& o) {
        return o.cause != cancel_cause::timeout && !book.started({o.session, o.way, o.id});
    };
    const auto child = [](const outcome& o) {
        return o.way == andon::direction::outgoing && o.cause == cancel_cause::parent;
    };
    const std::array<std::pair<std::string_view, std::function<bool(const outcome&)>>, 7> stories{{
        {"ran on", is(tool::legacy_export)},
        {"in an uninterrupted section", is(tool::commit_order)},
        {"its callback interrupted it", by(cancel_cause::peer, tool::query_database)},
        {"polled", by(cancel_cause::peer, tool::hash_files)},
        {"fell silent", by(cancel_cause::timeout, tool::tail_log)},
        {"went with its parent", child},
        {"still waited for a worker", never_started},
    }};
    std::vector<sample> samples;
    for (const auto& [story, fits] : stories) {
        const auto found = std::find_if(outcomes.begin(), outcomes.end(), fits);
        if (found != outcomes.end()) samples.push_back({*found, story});
    }
    return samples;
}

std::string took_or_never(const std::optional<andon::duration>& took) {
    return took ? "after " + show(*took) : "never";
}

std::string cause_line(std::string_view name, const andon::cancel_counters::by_cause& c) {
    std::string line = "  " + fit(name, 10) + fit(std::to_string(c.ended), 6, align::right) +
                       fit(std::to_string(c.ignored), 9, align::right);
    const auto column = [&](const andon::histogram::snapshot& times, double q, std::size_t width) {
        line += fit(times.total == 0 ? "-" : show(times.quantile(q)), width, align::right);
    };
    column(c.time_to_notice, 0.5, 12);
    column(c.time_to_notice, 0.99, 9);
    column(c.time_to_notice, 1, 9);
    column(c.time_to_stop, 0.5, 13);
    column(c.time_to_stop, 0.99, 9);
    return line;
}

std::string sample_lines(const sample& s, const palette& paint) {
    const auto& o = s.what;
    std::string text = "  session " + std::to_string(static_cast<std::uint64_t>(o.session)) + "  " +
                       paint(colour::bold, o.label) + ' ' + to_string(o.id) + "  " + std::string(to_string(o.cause));
    if (!o.why.empty()) text += ": " + std::string(o.why.text());
    text += "\n    " + std::string(s.story) + "; noticed ";
    text += o.noticed ? took_or_never(o.time_to_notice()) : paint(colour::red, "never");
    text += ", stopped " + took_or_never(o.time_to_stop());
    if (o.discarded != 0) text += ", " + std::to_string(o.discarded) + " messages discarded";
    return text + '\n';
}

std::string verdict_line(const report& r, const palette& paint) {
    const auto& a = r.audit;
    const auto n = [](std::size_t count) { return std::to_string(count); };
    std::string line = "andon demo: " + n(a.requests) + " requests, " + n(a.answered) + " answered, " + n(a.cancelled) +
                       " cancelled, " + n(a.both) + " both, " + n(a.neither) + " neither, ";
    if (a.twice != 0) line += n(a.twice) + " answered twice, ";
    line += (r.left_in_flight == 0 ? "nothing" : n(r.left_in_flight)) + " left in flight: ";
    if (r.interrupted) line += "interrupted, ";
    return line + (r.ok() ? paint(colour::green, "ok") : paint(colour::red, "FAILED")) + '\n';
}

}  // namespace

bool report::ok() const noexcept {
    std::uint64_t outcomes = 0;
    for (const auto& c : counters.cause) outcomes += c.ended;
    return audit.both == 0 && audit.neither == 0 && audit.twice == 0 && left_in_flight == 0 &&
           audit.answered + audit.cancelled == audit.requests && outcomes == audit.cancelled;
}

report make_report(const workload& done, const options& asked, andon::duration took) {
    report r;
    r.audit = done.book().check();
    r.counters = done.table().counters();
    r.samples = pick_samples(done.table().recent_outcomes(), done.book());
    r.left_in_flight = done.table().size();
    r.refused = done.refused();
    r.interrupted = done.interrupted();
    r.took = took;
    r.seed = asked.seed;
    return r;
}

std::string to_text(const report& r, const palette& paint) {
    std::string text = paint(colour::bold, "What was cancelled, by cause") + "\n";
    text +=
        paint(colour::dim, "             ended  ignored  notice p50      p99      max     stop p50      p99") + '\n';
    for (const auto cause : andon::all_causes) {
        const auto& c = r.counters[cause];
        const auto line = cause_line(to_string(cause), c);
        text += paint(c.ended == 0 ? colour::dim : colour::plain, line) + '\n';
    }

    text += '\n' + paint(colour::bold, "Some of them") + '\n';
    for (const auto& s : r.samples) text += sample_lines(s, paint);

    const auto n = [](std::uint64_t count) { return std::to_string(count); };
    text += '\n' + paint(colour::bold, "Cancels that came by id") + "\n  " + n(r.counters.accepted) + " accepted, " +
            n(r.counters.already_cancelled) + " already cancelled, " + n(r.counters.too_late) + " too late, " +
            n(r.counters.unknown) + " unknown, " + n(r.counters.uncancellable) + " not allowed\n  " +
            n(r.audit.never_started) + " requests still waited for a worker when they were cancelled: never started\n";
    if (r.refused != 0) text += "  " + n(r.refused) + " refused: the session was closed\n";
    text += '\n';
    return text + verdict_line(r, paint);
}

}  // namespace demo
