// How much each may ask for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "andon/core/time.hpp"

namespace andon::detail {

/// A bucket for each name: it holds as much as is allowed in a second, and fills again all the time. Those that are
/// full say nothing, and are forgotten.
class rate_limit {
public:
    explicit rate_limit(double per_second) noexcept : per_second_(per_second) {}

    /// False: that is too much.
    [[nodiscard]] bool take(std::string_view name, time_point now);
    [[nodiscard]] std::size_t names() const noexcept { return buckets_.size(); }

private:
    struct bucket {
        double left;
        time_point at;
    };
    void fill(bucket& which, time_point now) const noexcept;

    double per_second_;
    std::unordered_map<std::string, bucket> buckets_;
    std::size_t clean_at_ = 1'024;
};

}  // namespace andon::detail
