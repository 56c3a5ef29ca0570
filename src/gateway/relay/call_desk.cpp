#include "gateway/relay/call_desk.hpp"

#include <algorithm>
#include <utility>

#include "transport/clock.hpp"

namespace andon::gateway {

void call_desk::begun(const std::shared_ptr<relayed_call>& call) {
    calls_.emplace(call->number(), call);
    told_->on_begun(*call);
}

void call_desk::over(const relayed_call& call) {
    told_->on_over(call);
    remember(call);
    forget(call);
}

void call_desk::resumed(const std::shared_ptr<relayed_call>& call) {
    calls_.emplace(call->number(), call);
    std::erase_if(stopped_, [&](const remembered& each) { return each.call.number == call->number(); });
    told_->on_resumed(*call);
}

void call_desk::over_again(const relayed_call& call) {
    told_->on_over_again(call);
    remember(call);
    forget(call);
}

/// For people who look a moment later.
void call_desk::remember(const relayed_call& call) {
    if (call.stage() != call_stage::stopped) return;
    if (stopped_.size() >= most_remembered) stopped_.pop_front();
    stopped_.push_back({now(), call.view()});
}

/// Whoever waits for its end is told.
void call_desk::forget(const relayed_call& call) {
    const std::uint64_t number = call.number();
    const auto [first, last] = waiting_.equal_range(number);
    std::vector<std::function<void(const stopped_call&)>> tell;
    for (auto each = first; each != last; ++each) tell.push_back(std::move(each->second));
    waiting_.erase(first, last);
    for (const auto& each : tell) {
        each({.number = number, .evidence = call.evidence(), .took = call.time_to_stop().value_or(duration())});
    }
    calls_.erase(number);  // it may have been the last to hold the call
}

void call_desk::process_ended() {
    if (--processes_ == 0 && when_none_left_) std::exchange(when_none_left_, {})();
}

void call_desk::when_no_process_is_left(std::function<void()> told) {
    if (processes_ == 0) return told();
    when_none_left_ = std::move(told);
}

std::vector<std::shared_ptr<relayed_call>> call_desk::sorted() const {
    std::vector<std::shared_ptr<relayed_call>> all;
    all.reserve(calls_.size());
    for (const auto& [number, call] : calls_) all.push_back(call);
    std::ranges::sort(all, {}, &relayed_call::number);
    return all;
}

std::shared_ptr<relayed_call> call_desk::find(std::uint64_t number) const {
    const auto found = calls_.find(number);
    return found == calls_.end() ? nullptr : found->second;
}

std::vector<relayed_call_view> call_desk::calls() const {
    std::vector<relayed_call_view> views;
    for (const auto& call : sorted()) views.push_back(call->view());
    return views;
}

std::vector<relayed_call_view> call_desk::stopped() const {
    std::vector<relayed_call_view> views;
    for (const remembered& each : stopped_) {
        if (now() - each.since < remembered_for) views.push_back(each.call);
    }
    return views;
}

std::vector<upstream_view> call_desk::upstreams() const {
    std::vector<upstream_view> views;
    if (lister_) lister_(views);
    return views;
}

std::vector<std::uint64_t> call_desk::stop(const call_selection& which, std::string_view reason,
                                           std::string_view asked_by,
                                           std::function<void(const stopped_call&)> stopped) {
    std::vector<std::uint64_t> numbers;
    for (const auto& call : sorted()) {
        const bool meant = which.all || which.number == call->number() || which.tool == call->tool() ||
                           which.session == call->session();
        if (!meant) continue;
        numbers.push_back(call->number());
        if (stopped) waiting_.emplace(call->number(), stopped);
        call->stop_by_operator(reason, asked_by);
    }
    return numbers;
}

}  // namespace andon::gateway
