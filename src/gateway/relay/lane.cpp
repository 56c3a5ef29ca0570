#include "gateway/relay/lane.hpp"

#include <algorithm>
#include <utility>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/call_desk.hpp"
#include "transport/clock.hpp"

namespace andon::gateway {
namespace {

constexpr auto proven_after = std::chrono::seconds(10);  // a process that lived so long was no failed start

}  // namespace

lane::lane(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
           settings how, host& told)
    : around_(std::move(around)),
      desk_(&desk),
      server_(&server),
      how_(std::move(how)),
      told_(&told),
      retry_(around_->loop),
      impatience_(around_->loop) {}

lane::~lane() { close(); }

std::shared_ptr<upstream> lane::make() {
    auto made = std::make_shared<upstream>(around_, *desk_, *server_, how_.own, how_.instead, how_.computes);
    made->hold(held_);
    return made;
}

void lane::start() {
    auto made = make();
    shared_.push_back(made);
    shares_ = true;
    try {
        made->start(*this, memory_);
    } catch (...) {
        std::erase(shared_, made);
        throw;
    }
}

std::shared_ptr<upstream> lane::start_one(std::vector<std::shared_ptr<upstream>>& among) {
    auto made = make();
    among.push_back(made);
    shares_ = shares_ || &among == &shared_;
    try {
        made->start(*this, memory_);
        return made;
    } catch (const std::exception& error) {
        std::erase(among, made);
        last_failure_ = visible_text(error.what(), 512);
        around_->log(log_level::error, server_->name + " cannot be started: " + last_failure_);
        retry_later();
        // Later: whoever needs it is about to wait for it.
        around_->loop.post([this, alive = std::weak_ptr(alive_)] {
            if (alive.lock()) start_failed();
        });
    }
    return nullptr;
}

/// Those that nothing else can take are told now: waiting for another try would tell them the same, later.
void lane::start_failed() {
    if (shared_.empty()) give_up(waiting_, last_failure_);
    if (warm_.empty() && busy_.empty()) give_up(waiting_isolated_, last_failure_);
}

// Which process takes a call.

/// Tasks outlive the call that made them, and have to be found again: they are not for a process of one call.
bool lane::isolated(const relayed_call& call) const {
    return call.method() == "tools/call" && call.policy().on_ignored == ignored_policy::isolate &&
           std::holds_alternative<command_target>(server_->target) && !call.may_be_task();
}

std::shared_ptr<upstream> lane::best() const {
    std::shared_ptr<upstream> found;
    for (const auto& each : shared_) {
        if (each->where() != upstream::state::ready) continue;
        if (!found || each->running() < found->running()) found = each;
    }
    return found;
}

void lane::send(const std::shared_ptr<relayed_call>& call) {
    if (closed_) return call->fail(error_code::internal_error, "the server is being left", call_end::refused);
    if (isolated(*call)) return send_isolated(call);
    const auto ready = best();
    const bool one_more = shared_.size() < how_.processes && (!ready || ready->running() > 0);
    if (one_more && !retrying_) start_one(shared_);
    if (ready) return call->send(ready);
    wait_in(waiting_, call, "the server to start");
}

void lane::send_waiting() {
    while (!waiting_.empty()) {
        const auto ready = best();
        if (!ready) return;
        waiting_.take_front()->send(ready);
    }
    if (waiting_isolated_.empty()) be_patient();
}

// Each waits for its own time, and no longer; the first of a queue is the one that came first.

void lane::wait_in(waiting_calls& queue, const std::shared_ptr<relayed_call>& call, std::string_view for_what) {
    if (!queue.put(call)) {
        return call->fail(error_code::internal_error, "too many calls wait for " + std::string(for_what),
                          call_end::refused);
    }
    if (!patient_) be_patient();
}

void lane::be_patient() {
    std::optional<time_point> first;
    for (const auto* const queue : {&waiting_, &waiting_isolated_}) {
        if (!queue->empty()) first = std::min(first.value_or(time_point::max()), queue->front().since);
    }
    patient_ = first.has_value();
    if (!first) return impatience_.clear();
    impatience_.set(*first + server_->start_timeout, [this] { lose_patience(); });
}

void lane::lose_patience() {
    const time_point before = now() - server_->start_timeout;
    std::vector<std::shared_ptr<relayed_call>> tired;
    for (auto* const queue : {&waiting_, &waiting_isolated_}) {
        while (!queue->empty() && queue->front().since <= before) {
            tired.push_back(queue->take_front());
        }
    }
    be_patient();
    const std::string why = last_failure_.empty() ? "it does not answer" : last_failure_;
    for (const auto& each : tired) {
        each->fail(error_code::internal_error, server_->name + " could not be started: " + why, call_end::refused);
    }
}

void lane::give_up(waiting_calls& queue, const std::string& why) {
    for (const auto& each : queue.take_all()) {
        each.call->fail(error_code::internal_error, server_->name + " could not be started: " + why, call_end::refused);
    }
}

void lane::give_up_start(const std::string& why) {
    const auto all = shared_;
    for (const auto& each : all) each->give_up(why);
}

template <class Do>
void lane::each_isolated_ready(Do what) const {
    for (const auto& each : warm_) {
        if (each->where() == upstream::state::ready) what(*each);
    }
    for (const auto& [key, each] : busy_) {
        if (each->where() == upstream::state::ready) what(*each);
    }
}

void lane::notify(std::string_view line) {
    for (const auto& each : shared_) {
        if (each->where() == upstream::state::ready) each->talk().send(line);
    }
    each_isolated_ready([&](upstream& each) { each.talk().send(line); });
}

void lane::tell_isolated(std::string_view method, std::string_view raw_params) {
    each_isolated_ready([&](upstream& each) { each.ask(std::string(method), std::string(raw_params), {}); });
}

// A process for each call.

void lane::send_isolated(const std::shared_ptr<relayed_call>& call) {
    wait_in(waiting_isolated_, call, "a process");
    serve_isolated();
}

void lane::serve_isolated() {
    while (!waiting_isolated_.empty()) {
        if (!waiting_isolated_.front().call->is_waited_for()) {
            waiting_isolated_.take_front();
            continue;
        }
        const auto ready =
            std::ranges::find(warm_, upstream::state::ready, [](const auto& each) { return each->where(); });
        if (ready == warm_.end()) break;
        const auto its = *ready;
        warm_.erase(ready);
        busy_.emplace(its.get(), its);
        const auto call = waiting_isolated_.take_front();
        call->when_over([this, its, alive = std::weak_ptr(alive_)](const relayed_call& over) {
            if (alive.lock()) isolated_over(its, over);
        });
        call->send(its);
    }
    if (waiting_isolated_.empty() && waiting_.empty()) be_patient();
    keep_warm();
}

/// In the loop's next turn, however many calls want one in this.
void lane::keep_warm() {
    if (std::exchange(warming_, true)) return;
    around_->loop.post([this, alive = std::weak_ptr(alive_)] {
        if (alive.lock()) warm_some();
    });
}

void lane::warm_some() {
    warming_ = false;
    if (closed_ || retrying_) return;
    constexpr int at_once = 2;  // to start one takes a millisecond, in which the loop does nothing else
    const std::size_t wanted = waiting_isolated_.size() + server_->warm;
    for (int i = 0; warm_.size() < wanted && warm_.size() + busy_.size() < most_isolated; ++i) {
        if (i == at_once) return keep_warm();
        if (!start_one(warm_)) return;
    }
}

/// One that has answered can take another call. One that was asked to stop is not trusted again.
void lane::isolated_over(const std::shared_ptr<upstream>& its, const relayed_call& call) {
    if (busy_.erase(its.get()) == 0) return;
    if (its->where() == upstream::state::ready && !call.asked_to_stop() && warm_.size() < server_->warm + 1) {
        warm_.push_back(its);
    } else {
        its->let_go(call.asked_to_stop() ? std::optional(call.asked() + call.policy().grace) : std::nullopt);
    }
    serve_isolated();
}

// Who writes more than is read.

void lane::hold(bool wanted) {
    held_ = wanted;
    for (const auto& each : shared_) each->hold(wanted);
    for (const auto& each : warm_) each->hold(wanted);
    for (const auto& [key, each] : busy_) each->hold(wanted);
}

/// A process of one call has no more to read than that: others are not to wait for it.
void lane::on_crowded(upstream& /*which*/) {
    const bool crowded = std::ranges::any_of(shared_, [](const auto& each) { return each->crowded(); });
    if (std::exchange(crowded_, crowded) != crowded) told_->on_server_crowded(crowded);
}

// What happens to processes.

void lane::on_ready(upstream& which) {
    last_failure_.clear();
    told_->on_server_ready(which, std::ranges::any_of(shared_, [&](const auto& each) { return each.get() == &which; }));
    send_waiting();
    if (!waiting_isolated_.empty()) serve_isolated();
}

void lane::on_server_request(upstream& which, detail::incoming_request request, const envelope& message) {
    told_->on_server_request(which, std::move(request), message);
}

void lane::on_server_notification(upstream& which, const envelope& message) {
    told_->on_server_notification(which, message);
}

void lane::on_ignored(upstream& which, relayed_call& call) {
    if (call.policy().on_ignored == ignored_policy::drop || which.pid() == 0) return;
    // One that could not be isolated, for it might have been a task: others' calls are not to die with it.
    if (call.policy().on_ignored == ignored_policy::isolate && !busy_.contains(&which)) return;
    which.kill("the server was killed: it ignored the cancel of " +
               (call.tool().empty() ? call.method() : call.tool()));
}

void lane::on_gone(upstream& which, const std::string& why) {
    const auto is_it = [&](const auto& each) { return each.get() == &which; };
    const bool shared = std::erase_if(shared_, is_it) != 0;
    const bool had_call = busy_.erase(&which) != 0;
    std::erase_if(warm_, is_it);
    if (closed_) return;
    on_crowded(which);
    ++restarts_;
    last_failure_ = why;
    around_->log(log_level::warning, server_->name + ": " + why);
    if (which.was_killed() || now() - which.started() > proven_after) pause_ = {};
    desk_->restarted(server_->name);
    // A process that was killed is no sign that the next one fails. Nor is one that died with the call that it had to
    // itself: there are no more of those than calls.
    if (!which.was_killed() && (shared || !had_call)) return retry_later();
    around_->loop.post([this, alive = std::weak_ptr(alive_)] {
        if (alive.lock() && !retrying_) replace_lost();
    });
}

/// What is wanted and not there.
void lane::replace_lost() {
    if (shares_ && shared_.empty()) start_one(shared_);
    if (!waiting_isolated_.empty() || server_->policy.any_isolated()) serve_isolated();
}

void lane::retry_later() {
    if (retrying_ || closed_) return;
    retrying_ = true;
    pause_ = pause_ == duration() ? server_->restart_first : std::min(pause_ * 2, server_->restart_most);
    retry_.set(now() + pause_, [this] {
        retrying_ = false;
        replace_lost();
    });
}

void lane::close() {
    if (std::exchange(closed_, true)) return;
    alive_.reset();
    retry_.clear();
    impatience_.clear();
    give_up(waiting_, "the host is gone");
    give_up(waiting_isolated_, "the host is gone");
    for (const auto& each : std::exchange(shared_, {})) each->let_go();
    for (const auto& each : std::exchange(warm_, {})) each->let_go();
    for (const auto& [key, each] : std::exchange(busy_, {})) each->let_go();
}

// What was agreed on.

void lane::remember_log_level(std::string_view raw_params) {
    memory_.raw_log_level = raw_params;
    tell_isolated("logging/setLevel", raw_params);
}

void lane::remember_subscription(std::string_view raw_params, bool wanted) {
    tell_isolated(wanted ? "resources/subscribe" : "resources/unsubscribe", raw_params);
    const auto params = object_from_json(raw_params);
    const json::value* const uri = params ? params->if_contains("uri") : nullptr;
    if (uri == nullptr || !uri->is_string() || uri->get_string().size() > longest_uri) return;
    const std::string again = json_text(json::object{{"uri", *uri}});
    std::erase(memory_.subscribed, again);
    if (wanted && memory_.subscribed.size() < most_subscriptions) memory_.subscribed.push_back(again);
}

void lane::agreed(revision which) {
    memory_.agreed = which;
    for (const auto& each : shared_) each->talk().adopt(which);
    if (server_->policy.any_isolated()) keep_warm();
}

const peer* lane::known() const noexcept {
    const auto ready = best();
    return ready ? &ready->talk().protocol() : nullptr;
}

std::size_t lane::running() const noexcept {
    std::size_t all = 0;
    for (const auto& each : shared_) all += each->running();
    for (const auto& [key, each] : busy_) all += each->running();
    return all;
}

void lane::list(std::vector<upstream_view>& views) const {
    const auto show = [&](const upstream& each) {
        views.push_back({.server = server_->name,
                         .state = each.where() == upstream::state::ready ? "ready" : "starting",
                         .pid = each.pid(),
                         .restarts = restarts_,
                         .in_flight = each.running()});
    };
    for (const auto& each : shared_) show(*each);
    for (const auto& each : warm_) show(*each);
    for (const auto& [key, each] : busy_) show(*each);
    if (shared_.empty()) {
        views.push_back({.server = server_->name,
                         .state = retrying_ ? "restarting: " + last_failure_ : "not started",
                         .restarts = restarts_});
    }
}

}  // namespace andon::gateway
