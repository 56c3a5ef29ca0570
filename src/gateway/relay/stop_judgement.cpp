#include "gateway/relay/stop_judgement.hpp"

namespace andon::gateway {

stop_judgement::verdict stop_judgement::look(const sighting& seen) noexcept {
    const bool grace_over = seen.at - asked_ >= grace_;
    if (!seen.alone || !seen.process) {
        quiet_looks_ = 0;
        if (!grace_over) return verdict::wait;
        return heard_lately(seen.at, grace_ / 2) ? verdict::ignoring : verdict::unseen;
    }
    const bool busy = seen.busy > negligible || seen.children > 0 || heard_lately(seen.at, still_on_its_way);
    if (!busy && ++quiet_looks_ == 1) quiet_since_ = seen.at;
    if (busy) quiet_looks_ = 0;
    if (quiet_looks_ >= 2) return verdict::quiet;
    return grace_over ? verdict::ignoring : verdict::wait;
}

}  // namespace andon::gateway
