#include "gateway/config/nearest_word.hpp"

#include <algorithm>
#include <cstddef>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

// Names may come from strangers, and the work grows with the product of two lengths.
constexpr std::size_t longest_compared = 64;
constexpr std::size_t longest_shown = 4 * longest_compared;

/// Letters to add, to leave out, to change, or to swap with their neighbour; case, `-` and `_` make no difference.
std::size_t distance(std::string_view one, std::string_view other) {
    const auto letter = [](char c) {
        if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
        return c == '-' ? '_' : c;
    };
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last(other.size() + 1);
    for (std::size_t j = 0; j <= other.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        std::vector<std::size_t> now(other.size() + 1, i);
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const bool same = letter(one[i - 1]) == letter(other[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
                now[j] = std::min(now[j], before_last[j - 2] + 1);
            }
        }
        before_last = std::move(last);
        last = std::move(now);
    }
    return last.back();
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
    if (word.size() > longest_compared) return {};
    std::string_view nearest;
    const std::size_t most = std::max<std::size_t>(2, word.size() / 2);
    std::size_t least = most + 1;
    for (const std::string_view each : known) {
        if (each.empty() || each.size() > longest_compared) continue;
        // A longer word for the same thing, or a shorter one: "max_rows_kept", "rows".
        const bool within = std::min(word.size(), each.size()) >= 3 &&
                            (each.find(word) != std::string_view::npos || word.find(each) != std::string_view::npos);
        const std::size_t changes = distance(word, each);
        const std::size_t far = within ? std::min(changes, most) : changes;
        if (far < least && (within || 2 * far <= std::max(word.size(), each.size()))) {
            least = far;
            nearest = each;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
    const std::string_view nearest = nearest_word(word, known);
    return nearest.empty() ? std::string() : "; did you mean \"" + visible_text(nearest, longest_shown) + "\"?";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    return did_you_mean(word, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace andon::gateway
