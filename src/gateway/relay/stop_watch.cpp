#include "gateway/relay/stop_watch.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "transport/clock.hpp"

namespace andon::gateway {
namespace {

constexpr auto first_look = std::chrono::milliseconds(20);
constexpr auto next_look = std::chrono::milliseconds(50);
constexpr auto look_at_ignoring = std::chrono::milliseconds(250);
constexpr auto shortest_trial = std::chrono::milliseconds(500);
constexpr auto has_started_after = std::chrono::seconds(1);   // most have, once they are ready
constexpr auto look_at_new = std::chrono::milliseconds(200);  // whose calls wait for it
constexpr int most_looks_at_new = 3;                          // as it may be slow to start
constexpr duration first_trial_pause = std::chrono::seconds(1);
constexpr duration longest_trial_pause = std::chrono::minutes(1);

constexpr std::uint64_t never = ~std::uint64_t{0};  // a number of changes that there is not

/// Of this thread.
duration processor_time() noexcept {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// On the clock of processes. Rather too early, where we had to wait for a processor between the two clocks: else what
/// a call had started would be taken for older than the call.
std::chrono::milliseconds since_boot(time_point when) {
    const auto at = detail::time_since_boot();
    return at - std::chrono::duration_cast<std::chrono::milliseconds>(now() - when);
}

}  // namespace

stop_watch::stop_watch(detail::event_loop& loop, surroundings of)
    : loop_(&loop),
      around_(std::move(of)),
      timer_(loop),
      by_itself_(around_.computes),
      trial_pause_(first_trial_pause) {}

detail::process_activity stop_watch::activity() const {
    return around_.guardian == 0 ? detail::process_activity() : detail::activity_below(around_.guardian);
}

std::chrono::nanoseconds stop_watch::used() const {
    const auto seen = activity();
    return seen.processor_time + seen.queued;
}

void stop_watch::ready() {
    own_.clear();
    if (around_.guardian == 0) return;
    for (const auto& each : activity().processes) own_.insert(each.pid);
    starting_ = true;
    timer_.set(now() + has_started_after, [this] {
        starting_ = false;
        if (around_.changes() == 0) by_itself_.pause_began(now(), used(), true);
    });
}

void stop_watch::watch(const std::shared_ptr<relayed_call>& call) {
    if (gone_) return call->stopped(around_.guardian == 0 ? stop_evidence::unseen : stop_evidence::exited, now());
    waiting_.insert_or_assign(call->wire_id(),
                              watched{.call = call,
                                      .judgement = stop_judgement(call->asked(), call->policy().grace, call->cadence()),
                                      .begun = since_boot(call->sent())});
    on_trial_ = false;
    if (looking_ && waiting_.size() > 1) return;
    looking_ = true;
    if (around_.guardian != 0 && now() >= not_before_) static_cast<void>(see(activity(), now()));
    look_later(first_look);
}

void stop_watch::hold(bool held) {
    held_ = held;
    if (held_) return;
    released_ = now();
    on_trial_ = false;
    for (auto& [id, each] : waiting_) {
        each.judgement = stop_judgement(released_, each.call->policy().grace, each.call->cadence());
    }
    if (looking_) look_later(first_look);
}

void stop_watch::look_later(duration in) {
    if (held_) return;
    starting_ = false;
    timer_.set(std::max(now() + in, not_before_), [this] { look(); });
}

// What it does by itself, and when the unseen ones can be tried.

bool stop_watch::looks_at_start(std::function<void()> then) {
    if (around_.guardian == 0 || !by_itself_.in_question()) return false;
    look_at_start(most_looks_at_new, std::numeric_limits<double>::max(), std::move(then));
    return true;
}

/// The least of a few: one that is still about to start comes to rest in the end.
void stop_watch::look_at_start(int times, double least, std::function<void()> then) {
    timer_.set(now() + look_at_new, [=, this, since = now(), before = used()]() mutable {
        const std::chrono::duration<double> span = now() - since;
        least = std::min(least, std::chrono::duration<double>(used() - before) / span);
        if (times > 1 && least > own_rates::little) return look_at_start(times - 1, least, std::move(then));
        by_itself_.seen_at_start(least);
        then();
    });
}

void stop_watch::pause_ends() {
    if (std::exchange(starting_, false)) timer_.clear();  // there is no pause to look at
    if (around_.guardian == 0 || !by_itself_.wants_end(now())) return;
    loop_->post([this, alive = std::weak_ptr(alive_)] {
        if (alive.lock()) by_itself_.pause_ended(now(), used());
    });
}

void stop_watch::pause_begins() {
    if (around_.guardian == 0 || gone_ || !waiting_.empty()) return;
    if (!unseen_.empty()) {
        if (looking_ && !trial_waits_) return;
        looking_ = true;
        trial_waits_ = false;
        return look_later(first_look);
    }
    if (!by_itself_.wants_beginning(now())) return;
    loop_->post([this, alive = std::weak_ptr(alive_)] {
        // It may be over already; or the last call was asked to stop, and may work on.
        if (!alive.lock() || around_.running() != 0 || in_doubt()) return;
        by_itself_.pause_began(now(), used());
    });
}

// A look.

sighting stop_watch::see(const detail::process_activity& activity, time_point at) {
    // Threads and processes that have ended since take their times with them.
    const auto grown = [](std::chrono::nanoseconds& from, std::chrono::nanoseconds to) {
        return std::max(std::chrono::nanoseconds(), to - std::exchange(from, to));
    };
    const std::uint64_t changes = around_.changes();
    return {.at = at,
            .alone = around_.running() == 0,
            .mixed = std::exchange(changes_seen_, changes) != changes,
            .process = around_.guardian != 0,
            .own_rate = by_itself_.rate(),
            .span = at - std::exchange(looked_, at),
            .busy = grown(spent_, activity.processor_time) + grown(queued_, activity.queued),
            .ready = activity.ready};
}

sighting stop_watch::see(const watched& of, sighting common, const detail::process_activity& activity) const {
    // A clock tick earlier: the times in /proc are cut off to ticks, and ours to milliseconds.
    constexpr auto cut_off = std::chrono::milliseconds(10 + 1);
    common.children = static_cast<std::size_t>(std::ranges::count_if(activity.processes, [&](const auto& each) {
        return each.started > of.begun - cut_off && (!of.until || each.started <= *of.until) &&
               !own_.contains(each.pid);
    }));
    return common;
}

void stop_watch::look() {
    if (held_) return;
    const time_point at = now();
    const duration before = processor_time();
    const detail::process_activity seen = activity();
    const sighting common = see(seen, at);
    ignoring_calls ignoring;
    auto again = judge_waiting(common, seen, ignoring);
    if (waiting_.empty()) again = try_unseen(common, seen, ignoring);
    looking_ = again.has_value();
    // A look must not cost more than a twentieth of the time, whatever the server is. What counts is what we take of
    // the processor: on a busy machine the next look would else come too late for the grace time.
    not_before_ = now() + 20 * (processor_time() - before);
    if (again) look_later(*again);
    // The last: it may be the end of us.
    for (const auto& call : ignoring) {
        call->ignores();
        around_.ignored(*call);
    }
}

std::optional<duration> stop_watch::judge_waiting(const sighting& common, const detail::process_activity& activity,
                                                  ignoring_calls& ignoring) {
    if (waiting_.empty()) return std::nullopt;
    on_trial_ = false;
    std::vector<std::pair<std::int64_t, stop_evidence>> over;
    bool soon = false;
    const auto is_suspect = [&](const watched& each) {
        return each.judgement.seen_at_work() ||
               common.at - std::max(each.call->asked(), released_) < each.call->policy().grace;
    };
    suspects_ = static_cast<std::size_t>(
        std::ranges::count_if(waiting_, [&](const auto& each) { return is_suspect(each.second); }));
    for (auto& [id, each] : waiting_) {
        sighting of_it = see(each, common, activity);
        of_it.another_works = suspects_ > (is_suspect(each) ? 1U : 0U);
        switch (each.judgement.look(of_it)) {
            case stop_judgement::verdict::wait: soon = soon || each.call->stage() != call_stage::ignoring; break;
            case stop_judgement::verdict::quiet:
                if (deaf_ && each.call->cadence() != duration()) {
                    soon = true;  // its progress may well go on
                } else {
                    over.emplace_back(id, stop_evidence::quiet);
                }
                break;
            case stop_judgement::verdict::unseen: over.emplace_back(id, stop_evidence::unseen); break;
            case stop_judgement::verdict::ignoring:
                if (each.judgement.seen_at_work() && of_it.children == 0) by_itself_.suspect();
                if (each.call->stage() == call_stage::asked_to_stop) ignoring.push_back(each.call);
                break;
        }
    }
    for (const auto& [id, how] : over) {
        const auto found = waiting_.find(id);
        settle(id, how, how == stop_evidence::quiet ? found->second.judgement.quiet_since() : common.at);
    }
    if (waiting_.empty()) return std::nullopt;
    return soon ? next_look : look_at_ignoring;
}

std::optional<duration> stop_watch::try_unseen(const sighting& common, const detail::process_activity& activity,
                                               ignoring_calls& ignoring) {
    trial_waits_ = false;
    if (unseen_.empty() || around_.running() != 0) return std::nullopt;  // pause_begins() will tell
    if (!std::exchange(on_trial_, true)) {
        trial_clock_ = alone_since_ = common.at;
        for (auto& [id, each] : unseen_) try_from(each, trial_clock_);
        return next_look;
    }
    if (common.mixed && !stop_judgement::rests(common)) {
        alone_since_ = trial_clock_;
        return next_look;
    }
    trial_clock_ += common.span;
    bool soon = false;
    std::vector<std::int64_t> rest;
    std::vector<std::int64_t> work;
    for (auto& [id, each] : unseen_) {
        sighting of_it = see(each, common, activity);
        of_it.at = trial_clock_;
        if (each.tried < alone_since_ && !stop_judgement::rests(of_it) && !stop_judgement::works_on(of_it)) {
            try_from(each, alone_since_);
        }
        switch (each.judgement.look(of_it)) {
            case stop_judgement::verdict::wait: soon = true; break;
            case stop_judgement::verdict::quiet: rest.push_back(id); break;
            case stop_judgement::verdict::ignoring:
                if (of_it.children == 0) by_itself_.suspect();
                work.push_back(id);
                break;
            case stop_judgement::verdict::unseen: break;
        }
    }
    for (const std::int64_t id : rest) remember_silent(id, unseen_.extract(id).mapped().call);
    for (const std::int64_t id : work) {
        const auto found = waiting_.insert(unseen_.extract(id)).position;
        found->second.until.reset();
        found->second.call->goes_on();
        ignoring.push_back(found->second.call);
    }
    if (!waiting_.empty()) return look_at_ignoring;
    if (unseen_.empty()) {
        on_trial_ = false;
        trial_pause_ = first_trial_pause;
        return std::nullopt;
    }
    if (soon) return next_look;
    on_trial_ = false;
    trial_waits_ = true;
    return std::exchange(trial_pause_, std::min(2 * trial_pause_, longest_trial_pause));
}

void stop_watch::try_from(watched& each, time_point since) const {
    each.tried = since;
    each.judgement =
        stop_judgement(since, std::max<duration>(each.call->policy().grace, shortest_trial), each.call->cadence());
}

void stop_watch::settle(std::int64_t id, stop_evidence how, time_point when) {
    auto its = std::move(waiting_.extract(id).mapped());
    const auto call = its.call;
    if (how == stop_evidence::unseen && around_.guardian != 0) {
        remember_unseen(id, std::move(its));
    } else {
        remember_silent(id, call);
    }
    call->stopped(how, when);
}

// Of either kind the oldest are forgotten, as there may be any number of them.

void stop_watch::remember_silent(std::int64_t id, const std::shared_ptr<relayed_call>& call) {
    silent_.emplace(id, call);
    silent_first_.push_back(id);
    if (silent_first_.size() <= most_remembered) return;
    silent_.erase(silent_first_.front());
    silent_first_.pop_front();
}

void stop_watch::remember_unseen(std::int64_t id, watched of) {
    of.until = since_boot(of.call->asked());
    unseen_.insert_or_assign(id, std::move(of));
    unseen_first_.push_back(id);
    if (unseen_first_.size() <= most_remembered) return;
    unseen_.erase(unseen_first_.front());
    unseen_first_.pop_front();
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
        changes_seen_ = never;  // what it did until now is no other's
        return call->late_answer();
    }
    const auto unseen = unseen_.find(id->number());
    const auto silent = silent_.find(id->number());
    if (unseen == unseen_.end() && silent == silent_.end()) return;
    const auto call = unseen != unseen_.end() ? unseen->second.call : silent->second;
    const time_point heeded = std::max(call->asked(), released_);
    if (progress && now() - heeded < stop_judgement::still_on_its_way) return call->late_message();
    if (unseen != unseen_.end()) unseen_.erase(unseen);
    if (silent != silent_.end()) silent_.erase(silent);
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
    gone_ = true;
    unseen_.clear();
    unseen_first_.clear();
    const auto all = std::exchange(waiting_, {});
    silent_.clear();
    silent_first_.clear();
    // Behind a URL it is only we who are gone.
    if (around_.guardian == 0) how = stop_evidence::unseen;
    for (const auto& [id, each] : all) each.call->stopped(how, now(), killed);
}

}  // namespace andon::gateway
