#include "gateway/relay/lane.hpp"

#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/call_desk.hpp"

namespace andon::gateway {
namespace {

constexpr auto proven_after = std::chrono::seconds(10);  // a process that lived so long was no failed start

time_point now() noexcept { return std::chrono::steady_clock::now(); }

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
    return std::make_shared<upstream>(around_, *desk_, *server_, how_.own, how_.instead);
}

void lane::start() {
    auto made = make();
    shared_.push_back(made);
    started_ = now();
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
    started_ = now();
    try {
        made->start(*this, memory_);
        return made;
    } catch (const std::exception& error) {
        std::erase(among, made);
        last_failure_ = visible_text(error.what(), 512);
        around_->log(log_level::error, server_->name + " cannot be started: " + last_failure_);
        retry_later();
        around_->loop.post([this, alive = std::weak_ptr(alive_), why = last_failure_] {
            if (alive.lock()) give_up_waiting(why);
        });
    }
    return nullptr;
}

// Which process takes a call.

/// Tasks outlive the call that made them, and have to be found again: they are not for a process of one call.
bool lane::isolated(const relayed_call& call) const {
    return call.method() == "tools/call" && call.policy().on_ignored == ignored_policy::isolate &&
           std::holds_alternative<command_target>(server_->target) &&
           call.raw_params().find("\"task\"") == std::string::npos;
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
    if (waiting_.size() >= most_waiting) {
        return call->fail(error_code::internal_error, "too many calls wait for the server to start", call_end::refused);
    }
    if (waiting_.empty()) {
        impatience_.set(now() + server_->start_timeout,
                        [this] { give_up_waiting(last_failure_.empty() ? "it does not answer" : last_failure_); });
    }
    waiting_.push_back(call);
}

void lane::send_waiting() {
    while (!waiting_.empty()) {
        const auto ready = best();
        if (!ready) return;
        const auto call = std::move(waiting_.front());
        waiting_.pop_front();
        call->send(ready);
    }
    impatience_.clear();
}

void lane::give_up_waiting(const std::string& why) {
    auto all = std::exchange(waiting_, {});
    for (auto& each : std::exchange(waiting_isolated_, {})) all.push_back(std::move(each));
    for (const auto& each : all) {
        each->fail(error_code::internal_error, server_->name + " could not be started: " + why, call_end::refused);
    }
}

void lane::notify(std::string_view line) {
    for (const auto& each : shared_) {
        if (each->where() == upstream::state::ready) each->talk().send(line);
    }
}

// A process for each call.

void lane::send_isolated(const std::shared_ptr<relayed_call>& call) {
    if (waiting_isolated_.size() >= most_waiting) {
        return call->fail(error_code::internal_error, "too many calls wait for a process", call_end::refused);
    }
    if (waiting_isolated_.empty()) {
        impatience_.set(now() + server_->start_timeout,
                        [this] { give_up_waiting(last_failure_.empty() ? "it does not answer" : last_failure_); });
    }
    waiting_isolated_.push_back(call);
    serve_isolated();
}

void lane::serve_isolated() {
    while (!waiting_isolated_.empty()) {
        if (waiting_isolated_.front()->is_over_for_host()) {
            waiting_isolated_.pop_front();
            continue;
        }
        const auto ready =
            std::ranges::find(warm_, upstream::state::ready, [](const auto& each) { return each->where(); });
        if (ready == warm_.end()) break;
        const auto its = *ready;
        warm_.erase(ready);
        busy_.emplace(its.get(), its);
        const auto call = std::move(waiting_isolated_.front());
        waiting_isolated_.pop_front();
        call->when_over([this, its, alive = std::weak_ptr(alive_)](const relayed_call& over) {
            if (alive.lock()) isolated_over(its, over);
        });
        call->send(its);
    }
    if (waiting_isolated_.empty() && waiting_.empty()) impatience_.clear();
    keep_warm();
}

void lane::keep_warm() {
    if (closed_ || retrying_) return;
    const std::size_t wanted = waiting_isolated_.size() + server_->warm;
    while (warm_.size() < wanted && warm_.size() + busy_.size() < most_isolated) {
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

// What happens to processes.

void lane::on_ready(upstream& which) {
    last_failure_.clear();
    told_->on_server_ready(which);
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
    which.kill("the server was killed: it ignored the cancel of " +
               (call.tool().empty() ? call.method() : call.tool()));
}

void lane::on_gone(upstream& which, const std::string& why) {
    const auto is_it = [&](const auto& each) { return each.get() == &which; };
    const bool shared = std::erase_if(shared_, is_it) != 0;
    std::erase_if(warm_, is_it);
    busy_.erase(&which);
    if (closed_) return;
    ++restarts_;
    last_failure_ = why;
    around_->log(log_level::warning, server_->name + ": " + why);
    if (which.was_killed() || now() - started_ > proven_after) pause_ = {};
    desk_->restarted(server_->name);
    if (!shared || !shared_.empty()) return;
    if (which.was_killed()) {
        around_->loop.post([this, alive = std::weak_ptr(alive_)] {
            if (alive.lock() && !closed_ && shared_.empty() && !retrying_) start_one(shared_);
        });
        return;
    }
    retry_later();
}

void lane::retry_later() {
    if (retrying_ || closed_) return;
    retrying_ = true;
    pause_ = pause_ == duration() ? server_->restart_first : std::min(pause_ * 2, server_->restart_most);
    retry_.set(now() + pause_, [this] {
        retrying_ = false;
        if (shared_.empty()) start_one(shared_);
        if (!waiting_isolated_.empty()) serve_isolated();
    });
}

void lane::close() {
    if (std::exchange(closed_, true)) return;
    alive_.reset();
    retry_.clear();
    impatience_.clear();
    give_up_waiting("the host is gone");
    for (const auto& each : std::exchange(shared_, {})) each->let_go();
    for (const auto& each : std::exchange(warm_, {})) each->let_go();
    for (const auto& [key, each] : std::exchange(busy_, {})) each->let_go();
}

// What was agreed on.

void lane::remember_subscription(std::string_view raw_params, bool wanted) {
    std::erase(memory_.subscribed, raw_params);
    if (wanted && memory_.subscribed.size() < most_subscriptions) memory_.subscribed.emplace_back(raw_params);
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
