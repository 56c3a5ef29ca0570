#include "gateway/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t longest_label = 128;

/// With what must be escaped inside the quotes.
std::string label(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    for (const char c : visible_text(value, longest_label)) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text += '"';
}

void append_head(std::string& to, std::string_view name, std::string_view kind, std::string_view about) {
    (((to += "# HELP ") += name) += ' ') += about;
    ((((to += "\n# TYPE ") += name) += ' ') += kind) += '\n';
}

template <class Number>
void append_sample(std::string& to, std::string_view name, std::string_view labels, Number value) {
    to += name;
    if (!labels.empty()) ((to += '{') += labels) += '}';
    (to += ' ') += std::to_string(value);
    to += '\n';
}

std::string seconds(std::int64_t ms) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", static_cast<double>(ms) / 1'000);
    return text.data();
}

}  // namespace

void duration_counts::add(duration took) noexcept {
    const auto us = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    const auto* const limit =
        std::find_if(limits_ms.begin(), limits_ms.end(), [us](std::int64_t ms) { return us <= ms * 1'000; });
    counts_.at(static_cast<std::size_t>(limit - limits_ms.begin())).fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(static_cast<std::uint64_t>(us), std::memory_order_relaxed);
}

void duration_counts::append(std::string& to, std::string_view name, std::string_view labels) const {
    const std::string bucket = std::string(name) + "_bucket";
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        sum += counts_.at(i).load(std::memory_order_relaxed);
        const std::string limit = i < limits_ms.size() ? seconds(limits_ms.at(i)) : "+Inf";
        append_sample(to, bucket, std::string(labels) + ",le=\"" + limit + '"', sum);
    }
    const auto us = sum_us_.load(std::memory_order_relaxed);
    append_sample(to, std::string(name) + "_sum", labels, static_cast<double>(us) / 1e6);
    append_sample(to, std::string(name) + "_count", labels, sum);  // as in the last bucket, whatever comes meanwhile
}

server_metrics& relay_metrics::of(std::string_view server) {
    const std::lock_guard lock(mutex_);
    auto found = servers_.find(server);
    if (found == servers_.end()) {
        const std::string_view name = servers_.size() < most_servers ? server : "other";
        found = servers_.try_emplace(std::string(name)).first;
        if (!found->second) found->second = std::make_unique<server_metrics>();
    }
    return *found->second;
}

std::string relay_metrics::text() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    const auto now = [](const auto& number) { return number.load(std::memory_order_relaxed); };
    const auto family = [&](std::string_view name, std::string_view kind, std::string_view about, auto value) {
        append_head(text, name, kind, about);
        for (const auto& [server, figures] : servers_) {
            append_sample(text, name, label("server", server), now(value(*figures)));
        }
    };
    const auto durations = [&](std::string_view name, std::string_view about, auto value) {
        append_head(text, name, "histogram", about);
        for (const auto& [server, figures] : servers_) value(*figures).append(text, name, label("server", server));
    };
    using figures = const server_metrics&;

    family(
        "andon_requests_total", "counter", "Requests that hosts sent.",
        [](figures of) -> auto& { return of.requests_; });
    append_head(text, "andon_request_ends_total", "counter", "Requests that are over, by what became of them.");
    for (const auto& [server, of] : servers_) {
        for (std::size_t i = 0; i < server_metrics::ends; ++i) {
            append_sample(text, "andon_request_ends_total",
                          label("server", server) + ',' + label("end", to_string(static_cast<call_end>(i))),
                          now(of->ends_.at(i)));
        }
    }
    family(
        "andon_requests_in_flight", "gauge", "Requests that wait for their answer.",
        [](figures of) -> auto& { return of.in_flight_; });
    family(
        "andon_requests_stopping", "gauge", "Requests that were asked to stop and are not known to have.",
        [](figures of) -> auto& { return of.stopping_; });
    family(
        "andon_sessions", "gauge", "Sessions of hosts.", [](figures of) -> auto& { return of.sessions_; });
    append_head(text, "andon_cancels_total", "counter", "Requests that were asked to stop, by cause.");
    for (const auto& [server, of] : servers_) {
        for (const cancel_cause cause : all_causes) {
            append_sample(text, "andon_cancels_total", label("server", server) + ',' + label("cause", to_string(cause)),
                          now(of->cancels_.at(static_cast<std::size_t>(cause))));
        }
    }
    family(
        "andon_cancels_ignored_total", "counter", "Cancels after which the work went on.",
        [](figures of) -> auto& { return of.ignored_; });
    durations(
        "andon_time_to_notice_seconds", "From a cancel to the first sign that the server saw it.",
        [](figures of) -> auto& { return of.time_to_notice_; });
    durations(
        "andon_time_to_stop_seconds", "From a cancel until the work had stopped.",
        [](figures of) -> auto& { return of.time_to_stop_; });
    family(
        "andon_late_messages_dropped_total", "counter", "Messages of a request that came after its cancel.",
        [](figures of) -> auto& { return of.late_; });
    family(
        "andon_restarts_total", "counter", "Servers started again after a crash or an ignored cancel.",
        [](figures of) -> auto& { return of.restarts_; });
    family(
        "andon_processes_killed_total", "counter", "Processes killed because they ignored a cancel.",
        [](figures of) -> auto& { return of.killed_; });
    append_head(text, "andon_journal_lost_total", "counter", "Outcomes that the journal could not keep.");
    append_sample(text, "andon_journal_lost_total", "", now(journal_lost_));
    return text;
}

}  // namespace andon::gateway
