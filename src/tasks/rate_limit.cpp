#include "tasks/rate_limit.hpp"

#include <algorithm>
#include <chrono>

namespace andon::detail {

void rate_limit::fill(bucket& which, time_point now) const noexcept {
    const std::chrono::duration<double> since = now - which.at;
    which.left = std::min(std::max(per_second_, 1.0), which.left + since.count() * per_second_);
    which.at = now;
}

bool rate_limit::take(std::string_view name, time_point now) {
    if (buckets_.size() >= clean_at_) {
        for (auto each = buckets_.begin(); each != buckets_.end();) {
            fill(each->second, now);
            each = each->second.left >= per_second_ ? buckets_.erase(each) : std::next(each);
        }
        clean_at_ = 1'024 + 2 * buckets_.size();
    }
    bucket& which = buckets_.try_emplace(std::string(name), bucket{std::max(per_second_, 1.0), now}).first->second;
    fill(which, now);
    if (which.left < 1) return false;
    which.left -= 1;
    return true;
}

}  // namespace andon::detail
