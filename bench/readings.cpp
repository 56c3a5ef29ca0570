#include "readings.hpp"

#include <algorithm>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace andon::bench {

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return std::nan("");
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

void settle() { ::usleep(300'000); }

}  // namespace andon::bench
