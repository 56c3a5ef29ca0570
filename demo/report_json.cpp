#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "report.hpp"

namespace demo {
namespace {

// Labels, ids and reasons are visible text by now: nothing but these two is left to escape.
std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

class json_object {
public:
    /// `value` is JSON already.
    json_object& raw(std::string_view name, const std::string& value) {
        text_ += (text_.empty() ? "" : ", ") + quoted(name) + ": " + value;
        return *this;
    }
    json_object& add(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
    json_object& add(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
    json_object& add(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
    json_object& add(std::string_view name, const std::optional<andon::duration>& value) {
        return raw(name, value ? std::to_string(std::chrono::nanoseconds(*value).count()) : "null");
    }

    [[nodiscard]] std::string str() const { return '{' + text_ + '}'; }

private:
    std::string text_;
};

std::string quantiles(const andon::histogram::snapshot& times) {
    const auto at = [&](double q) { return times.total == 0 ? std::nullopt : std::optional(times.quantile(q)); };
    return json_object().add("p50", at(0.5)).add("p99", at(0.99)).add("max", at(1)).str();
}

std::string by_cause(const andon::cancel_counters& counters) {
    json_object causes;
    for (const auto cause : andon::all_causes) {
        const auto& c = counters[cause];
        causes.raw(to_string(cause), json_object()
                                         .add("ended", c.ended)
                                         .add("ignored", c.ignored)
                                         .raw("time_to_notice_ns", quantiles(c.time_to_notice))
                                         .raw("time_to_stop_ns", quantiles(c.time_to_stop))
                                         .str());
    }
    return causes.str();
}

std::string samples(const report& r) {
    std::string list;
    for (const auto& [o, story] : r.samples) {
        const auto id = o.id.view();
        list += (list.empty() ? "" : ", ") +
                json_object()
                    .add("story", story)
                    .add("session", static_cast<std::uint64_t>(o.session))
                    .add("direction", to_string(o.way))
                    .raw("id", id.is_string() ? quoted(id.text()) : std::to_string(id.number()))
                    .add("label", std::string_view(o.label))
                    .add("cause", to_string(o.cause))
                    .add("reason", o.why.text())
                    .add("time_to_notice_ns", o.time_to_notice())
                    .add("time_to_stop_ns", o.time_to_stop())
                    .add("discarded", std::uint64_t{o.discarded})
                    .str();
    }
    return '[' + list + ']';
}

std::string attempts(const andon::cancel_counters& counters) {
    return json_object()
        .add("accepted", counters.accepted)
        .add("already_cancelled", counters.already_cancelled)
        .add("too_late", counters.too_late)
        .add("unknown", counters.unknown)
        .add("uncancellable", counters.uncancellable)
        .str();
}

}  // namespace

std::string to_json(const report& r) {
    return json_object()
               .add("ok", r.ok())
               .add("interrupted", r.interrupted)
               .add("seed", r.seed)
               .add("took_ns", std::optional(r.took))
               .add("requests", std::uint64_t{r.audit.requests})
               .add("answered", std::uint64_t{r.audit.answered})
               .add("cancelled", std::uint64_t{r.audit.cancelled})
               .add("both", std::uint64_t{r.audit.both})
               .add("neither", std::uint64_t{r.audit.neither})
               .add("answered_twice", std::uint64_t{r.audit.twice})
               .add("left_in_flight", std::uint64_t{r.left_in_flight})
               .add("never_started", std::uint64_t{r.audit.never_started})
               .add("refused", std::uint64_t{r.refused})
               .raw("cancels_by_id", attempts(r.counters))
               .raw("by_cause", by_cause(r.counters))
               .raw("samples", samples(r))
               .str() +
           '\n';
}

}  // namespace demo
