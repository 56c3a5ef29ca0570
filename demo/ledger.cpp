#include "ledger.hpp"

#include <algorithm>

#include "now.hpp"

namespace demo {

bool ledger::take_place() noexcept {
    if (taken_.fetch_add(1) < planned_) return true;
    give_back_place();
    return false;
}

ledger::entry& ledger::begun(const andon::active_request& request, andon::direction way) {
    const std::scoped_lock hold(mutex_);
    auto& e = entries_.emplace_back(request.session(), way, andon::request_id(request.id()), request.token());
    begun_.fetch_add(1);
    return e;
}

void ledger::end(andon::active_request& request) {
    request.finish(now());
    if (ended_.fetch_add(1) + 1 == begun()) all_ended_.ring();
}

ledger::audit ledger::check() const {
    const std::scoped_lock hold(mutex_);
    audit sum;
    for (const auto& e : entries_) {
        const auto responses = e.responses.load();
        const bool was_answered = responses > 0;
        const bool was_cancelled = e.token.cancelled();
        ++sum.requests;
        if (was_answered) ++sum.answered;
        if (was_cancelled) ++sum.cancelled;
        if (was_answered && was_cancelled) ++sum.both;
        if (!was_answered && !was_cancelled) ++sum.neither;
        if (responses > 1) ++sum.twice;
        if (was_cancelled && !e.started.load()) ++sum.never_started;
    }
    return sum;
}

bool ledger::started(const andon::request_key& key) const {
    const std::scoped_lock hold(mutex_);
    return std::any_of(entries_.begin(), entries_.end(), [&](const entry& e) {
        return key == andon::request_key{e.session, e.way, e.id} && e.started.load();
    });
}

}  // namespace demo
