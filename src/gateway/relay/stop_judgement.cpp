#include "gateway/relay/stop_judgement.hpp"

#include <algorithm>

namespace andon::gateway {

bool stop_judgement::silent_for_long(time_point now) const noexcept {
    return now - std::max(asked_, heard_.value_or(asked_)) >= std::min(2 * cadence_, grace_);
}

stop_judgement::verdict stop_judgement::look(const sighting& seen) noexcept {
    const bool grace_over = seen.at - asked_ >= grace_;
    if (!seen.alone || !seen.process) {
        quiet_looks_ = 0;
        if (!grace_over) return verdict::wait;
        const bool goes = seen_at_work_ || goes_on(seen.at, std::max<duration>(grace_ / 2, still_on_its_way));
        return goes ? verdict::ignoring : verdict::unseen;
    }
    const bool works = seen.busy > negligible(seen.span) || seen.children > 0;
    if (!works && !seen.ready && !heard_lately(seen.at, still_on_its_way)) {
        if (++quiet_looks_ == 1) quiet_since_ = seen.at;
        return quiet_looks_ >= 2 && silent_for_long(seen.at) ? verdict::quiet : verdict::wait;
    }
    quiet_looks_ = 0;
    if (!grace_over) return verdict::wait;
    if (goes_on(seen.at, still_on_its_way)) return verdict::ignoring;
    if (!works) return verdict::wait;
    if (seen.another_works && !seen_at_work_) return verdict::unseen;
    seen_at_work_ = true;
    return verdict::ignoring;
}

}  // namespace andon::gateway
