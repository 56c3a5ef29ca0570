#include "gateway/relay/stop_watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/clock.hpp"

namespace andon::gateway {
namespace {

constexpr auto first_look = std::chrono::milliseconds(20);
constexpr auto next_look = std::chrono::milliseconds(50);
constexpr auto look_at_ignoring = std::chrono::milliseconds(250);
constexpr auto look_in_doubt = std::chrono::seconds(1);

}  // namespace

stop_watch::stop_watch(detail::event_loop& loop, surroundings of) : around_(std::move(of)), timer_(loop) {}

void stop_watch::note_present() {
    own_.clear();
    if (around_.guardian == 0) return;
    for (const auto& each : detail::activity_below(around_.guardian).processes) own_.insert(each.pid);
}

void stop_watch::watch(const std::shared_ptr<relayed_call>& call) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now() - call->sent());
    waiting_.insert_or_assign(call->wire_id(),
                              watched{.call = call,
                                      .judgement = stop_judgement(call->asked(), call->policy().grace, call->cadence()),
                                      .begun = detail::time_since_boot() - age});
    if (looking_ && waiting_.size() > 1) return;
    looking_ = true;
    if (around_.guardian != 0) static_cast<void>(see(detail::activity_below(around_.guardian), now()));
    look_later(first_look);
}

void stop_watch::hold(bool held) {
    held_ = held;
    if (held_) return;
    released_ = now();
    for (auto& [id, each] : waiting_) {
        each.judgement = stop_judgement(released_, each.call->policy().grace, each.call->cadence());
    }
    if (looking_) look_later(first_look);
}

void stop_watch::look_later(duration in) {
    if (!held_) timer_.set(now() + in, [this] { look(); });
}

sighting stop_watch::see(const detail::process_activity& activity, time_point at) {
    // Threads and processes that have ended since take their times with them.
    const auto grown = [](std::chrono::nanoseconds& from, std::chrono::nanoseconds to) {
        return std::max(std::chrono::nanoseconds(), to - std::exchange(from, to));
    };
    return {.at = at,
            .alone = around_.running() == 0,
            .process = around_.guardian != 0,
            .span = at - std::exchange(looked_, at),
            .busy = grown(spent_, activity.processor_time) + grown(queued_, activity.queued),
            .ready = activity.ready};
}

sighting stop_watch::see(const watched& of, sighting common, const detail::process_activity& activity) const {
    // A clock tick earlier: the times in /proc are cut off to ticks, and ours to milliseconds.
    constexpr auto cut_off = std::chrono::milliseconds(10 + 1);
    common.another_works = at_work_ > (of.judgement.seen_at_work() ? 1U : 0U);
    common.children = static_cast<std::size_t>(std::ranges::count_if(activity.processes, [&](const auto& each) {
        return each.started > of.begun - cut_off && !own_.contains(each.pid);
    }));
    return common;
}

void stop_watch::look() {
    if (held_) return;
    const time_point at = now();
    detail::process_activity activity;
    if (around_.guardian != 0) activity = detail::activity_below(around_.guardian);
    const sighting common = see(activity, at);
    std::vector<std::pair<std::int64_t, stop_evidence>> over;
    std::vector<std::shared_ptr<relayed_call>> ignoring;
    bool soon = false;
    at_work_ = static_cast<std::size_t>(
        std::ranges::count_if(waiting_, [](const auto& each) { return each.second.judgement.seen_at_work(); }));
    for (auto& [id, each] : waiting_) {
        switch (each.judgement.look(see(each, common, activity))) {
            case stop_judgement::verdict::wait: soon = soon || each.call->stage() != call_stage::ignoring; break;
            case stop_judgement::verdict::quiet: over.emplace_back(id, stop_evidence::quiet); break;
            case stop_judgement::verdict::unseen: over.emplace_back(id, stop_evidence::unseen); break;
            case stop_judgement::verdict::ignoring:
                if (each.call->stage() == call_stage::asked_to_stop) ignoring.push_back(each.call);
                break;
        }
    }
    for (const auto& [id, how] : over) {
        const auto found = waiting_.find(id);
        settle(id, how, how == stop_evidence::quiet ? found->second.judgement.quiet_since() : at);
    }
    // As long as one was not seen to stop it is looked whether everything has: only then nobody is in doubt any more.
    if (unseen_ && waiting_.empty()) {
        const bool rests =
            common.alone && !common.ready && common.busy < stop_judgement::negligible(common.span) &&
            std::ranges::all_of(activity.processes, [&](const auto& each) { return own_.contains(each.pid); });
        restful_ = rests ? restful_ + 1 : 0;
        if (restful_ >= 2) unseen_ = false;
    }
    looking_ = !waiting_.empty() || (unseen_ && around_.guardian != 0);
    // A look must not cost more than a twentieth of the time, whatever the server is.
    const duration least = 20 * (now() - at);
    if (looking_)
        look_later(std::max<duration>(soon ? next_look : waiting_.empty() ? look_in_doubt : look_at_ignoring, least));
    // The last: it may be the end of us.
    for (const auto& call : ignoring) {
        call->ignores();
        around_.ignored(*call);
    }
}

void stop_watch::settle(std::int64_t id, stop_evidence how, time_point when) {
    const auto found = waiting_.find(id);
    const auto call = std::move(found->second.call);
    waiting_.erase(found);
    unseen_ = how == stop_evidence::unseen;  // quiet is all of the process
    silent_.emplace(id, call);
    silent_first_.push_back(id);
    if (silent_first_.size() > most_remembered) {
        silent_.erase(silent_first_.front());
        silent_first_.pop_front();
    }
    call->stopped(how, when);
}

void stop_watch::heard(const envelope& message) {
    const bool progress = message.kind == message_kind::notification;
    std::string storage;
    const auto id = progress ? id_from_json(message.raw_progress_token, storage)
                             : std::optional(message.has_id ? message.id : request_id_view(-1));
    if (!id || id->is_string()) return;
    if (const auto found = waiting_.find(id->number()); found != waiting_.end()) {
        if (progress) {
            found->second.judgement.heard_progress(now());
            return found->second.call->late_message();
        }
        const auto call = std::move(found->second.call);
        waiting_.erase(found);
        return call->late_answer();
    }
    const auto silent = silent_.find(id->number());
    if (silent == silent_.end()) return;
    const time_point heeded = std::max(silent->second->asked(), released_);
    if (progress && now() - heeded < stop_judgement::still_on_its_way) {
        return silent->second->late_message();
    }
    const auto call = std::move(silent->second);
    silent_.erase(silent);
    if (progress) return resume(call);
    call->late_answer();
}

void stop_watch::resume(const std::shared_ptr<relayed_call>& call) {
    call->late_message();
    call->goes_on();
    watch(call);
    waiting_.find(call->wire_id())->second.judgement.heard_progress(now());
}

void stop_watch::gone(stop_evidence how, std::uint32_t killed) {
    timer_.clear();
    looking_ = false;
    const auto all = std::exchange(waiting_, {});
    silent_.clear();
    silent_first_.clear();
    for (const auto& [id, each] : all) each.call->stopped(how, now(), killed);
}

}  // namespace andon::gateway
