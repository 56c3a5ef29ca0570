// How long things took: counted in buckets, from any thread, in constant memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "andon/core/time.hpp"

namespace andon {

/// Durations from a nanosecond to centuries, in buckets at most an eighth wide: a quantile is right within 12.5 %.
class histogram {
public:
    static constexpr unsigned sub_bits = 3;
    static constexpr std::size_t buckets = (64U - sub_bits) << sub_bits;

    void add(duration took) noexcept;

    /// What was counted until some moment during the call.
    struct snapshot {
        std::array<std::uint64_t, buckets> count{};
        std::uint64_t total = 0;

        /// The upper end of the bucket in which the share `q` (0 to 1) of all durations is reached; zero when empty.
        [[nodiscard]] duration quantile(double q) const noexcept;
        void merge(const snapshot& other) noexcept;
    };
    [[nodiscard]] snapshot read() const noexcept;

    [[nodiscard]] static std::size_t bucket_of(duration took) noexcept;
    [[nodiscard]] static duration upper_end(std::size_t bucket) noexcept;

private:
    std::array<std::atomic<std::uint64_t>, buckets> count_{};
};

}  // namespace andon
