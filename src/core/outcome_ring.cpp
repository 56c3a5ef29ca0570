#include "core/outcome_ring.hpp"

#include <utility>

namespace andon {

namespace {

std::optional<duration> between(const std::optional<time_point>& from, const std::optional<time_point>& to) noexcept {
    if (!from || !to) return std::nullopt;
    duration::rep apart = 0;
    if (__builtin_sub_overflow(to->time_since_epoch().count(), from->time_since_epoch().count(), &apart)) {
        return *to < *from ? duration::min() : duration::max();
    }
    return duration(apart);
}

}  // namespace

std::optional<duration> outcome::time_to_notice() const noexcept { return between(asked, noticed); }
std::optional<duration> outcome::time_to_stop() const noexcept { return between(asked, stopped); }

namespace detail {

outcome_ring::~outcome_ring() {
    for (auto* r : slots_) {
        if (r != nullptr) r->release();
    }
}

void outcome_ring::file(request& ended) noexcept {
    auto& of_cause = by_cause_[static_cast<std::size_t>(ended.cause())];
    const auto asked = known(ended.asked_at());
    of_cause.ended.fetch_add(1, std::memory_order_relaxed);
    const auto noticed = known(ended.noticed());
    if (!noticed) of_cause.ignored.fetch_add(1, std::memory_order_relaxed);
    if (const auto took = between(asked, noticed)) of_cause.time_to_notice.add(*took);
    if (const auto took = between(asked, known(ended.stopped))) of_cause.time_to_stop.add(*took);

    if (slots_.empty()) return;
    ended.retain();
    request* oldest = nullptr;
    {
        const std::scoped_lock hold(lock_);
        oldest = std::exchange(slots_[next_], &ended);
        next_ = (next_ + 1) % slots_.size();
    }
    if (oldest != nullptr) oldest->release();
}

std::vector<outcome> outcome_ring::newest_first() const {
    std::vector<cancel_token> kept;  // tokens, for the references that they hold
    kept.reserve(slots_.size());
    {
        const std::scoped_lock hold(lock_);
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            auto* r = slots_[(next_ + slots_.size() - 1 - i) % slots_.size()];
            if (r == nullptr) break;
            kept.emplace_back(*r);
        }
    }
    std::vector<outcome> result;
    result.reserve(kept.size());
    for (const auto& token : kept) {
        const auto* r = static_cast<const request*>(token.state());
        result.push_back({.session = r->in_session(),
                          .way = r->way(),
                          .id = request_id(r->id()),
                          .label = shown_label(*r),
                          .cause = r->cause(),
                          .why = r->why(),
                          .started = known(r->started()),
                          .asked = known(r->asked_at()),
                          .noticed = known(r->noticed()),
                          .stopped = known(r->stopped),
                          .killed = r->killed.load(std::memory_order_relaxed),
                          .discarded = r->discarded.load(std::memory_order_relaxed)});
    }
    return result;
}

void outcome_ring::add_to(cancel_counters& counters) const noexcept {
    for (std::size_t i = 0; i < by_cause_.size(); ++i) {
        auto& to = counters.cause[i];
        to.ended += by_cause_[i].ended.load(std::memory_order_relaxed);
        to.ignored += by_cause_[i].ignored.load(std::memory_order_relaxed);
        to.time_to_notice.merge(by_cause_[i].time_to_notice.read());
        to.time_to_stop.merge(by_cause_[i].time_to_stop.read());
    }
}

}  // namespace detail
}  // namespace andon
