#include "andon/core/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace andon {

// The highest bit picks a group of eight, the three bits below it the bucket in the group; values under eight have a
// bucket each.
std::size_t histogram::bucket_of(duration took) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<duration::rep>(took.count(), 0));
    const auto width = static_cast<unsigned>(std::bit_width(nanoseconds));
    if (width <= sub_bits) return nanoseconds;
    const unsigned shift = width - sub_bits - 1;
    return (std::size_t{shift} << sub_bits) + (nanoseconds >> shift);
}

duration histogram::upper_end(std::size_t bucket) noexcept {
    if (bucket < std::size_t{2} << sub_bits) return duration(static_cast<duration::rep>(bucket));
    const auto shift = (bucket >> sub_bits) - 1;
    const std::uint64_t mantissa = (bucket & ((1U << sub_bits) - 1U)) | 1U << sub_bits;
    return duration(static_cast<duration::rep>(((mantissa + 1) << shift) - 1));
}

void histogram::add(duration took) noexcept { count_[bucket_of(took)].fetch_add(1, std::memory_order_relaxed); }

histogram::snapshot histogram::read() const noexcept {
    snapshot s;
    for (std::size_t i = 0; i < buckets; ++i) {
        s.count[i] = count_[i].load(std::memory_order_relaxed);
        s.total += s.count[i];
    }
    return s;
}

void histogram::snapshot::merge(const snapshot& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) count[i] += other.count[i];
    total += other.total;
}

duration histogram::snapshot::quantile(double q) const noexcept {
    if (total == 0) return duration::zero();
    const double share = q > 0 ? std::ceil(std::min(q, 1.0) * static_cast<double>(total)) : 0;  // also where q is a NaN
    const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += count[i];
        if (seen >= wanted) return upper_end(i);
    }
    return upper_end(buckets - 1);
}

}  // namespace andon
