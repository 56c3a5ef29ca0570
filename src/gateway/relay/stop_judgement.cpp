#include "gateway/relay/stop_judgement.hpp"

#include <algorithm>

namespace andon::gateway {

bool stop_judgement::silent_for_long(time_point now) const noexcept {
    return now - std::max(asked_, heard_.value_or(asked_)) >= std::min(2 * cadence_, grace_);
}

stop_judgement::burning stop_judgement::burns(const sighting& seen) noexcept {
    constexpr double clearly = 0.5;    // of a processor
    constexpr int looks_in_a_row = 4;  // its own threads are not as even as that
    if (seen.own_rate == 0) return seen.busy > negligible(seen.span) ? burning::yes : burning::no;
    const bool above =
        std::chrono::duration<double>(seen.busy) > (seen.own_rate + clearly) * std::chrono::duration<double>(seen.span);
    looks_above_ = above ? looks_above_ + 1 : 0;
    return !above ? burning::no : looks_above_ < looks_in_a_row ? burning::perhaps : burning::yes;
}

stop_judgement::verdict stop_judgement::look(const sighting& seen) noexcept {
    const bool grace_over = seen.at - asked_ >= grace_;
    if (!seen.alone || !seen.process || (seen.mixed && !rests(seen))) {
        quiet_looks_ = 0;
        looks_above_ = 0;
        if (!grace_over) return verdict::wait;
        const bool goes = seen_at_work_ || goes_on(seen.at, std::max<duration>(grace_ / 2, still_on_its_way));
        return goes ? verdict::ignoring : verdict::unseen;
    }
    const burning burns_now = burns(seen);
    if (rests(seen) && !heard_lately(seen.at, still_on_its_way)) {
        if (++quiet_looks_ == 1) quiet_since_ = seen.at;
        return quiet_looks_ >= 2 && silent_for_long(seen.at) ? verdict::quiet : verdict::wait;
    }
    quiet_looks_ = 0;
    if (!grace_over) return verdict::wait;
    if (goes_on(seen.at, still_on_its_way)) return verdict::ignoring;
    if (burns_now != burning::yes && seen.children == 0) {
        return seen.own_rate != 0 && burns_now == burning::no && !rests(seen) ? verdict::unseen : verdict::wait;
    }
    if (seen.another_works && !seen_at_work_) return verdict::unseen;
    seen_at_work_ = true;
    return verdict::ignoring;
}

}  // namespace andon::gateway
