// Any bytes in any chunks: the lines of a plain split, whatever the limit.
#include "andon/wire/line_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "require.hpp"

namespace {

using namespace andon;
using fuzz::require;

bool blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size < 3) return 0;
    const std::size_t longest = data[0];
    const bool enlarge = data[1] % 2 != 0;  // each byte stands for many, so that the buffer has to grow
    const std::size_t chunk = enlarge ? 1'000U + 500U * data[2] : 1U + data[2];
    std::string bytes;
    for (std::size_t i = 3; i < size; ++i) {
        const char c = static_cast<char>(data[i]);
        bytes.append(enlarge && c != '\n' ? 1'000 : 1, c);
    }
    const std::size_t limit = enlarge ? longest * 1'000 : longest;

    line_splitter splitter(limit);
    std::string_view rest = bytes;
    std::string_view expected = bytes;
    while (!rest.empty()) {
        const auto room = splitter.room();
        require(room.size() >= 1'024, "there is always room");
        require(room.size() <= std::max<std::size_t>(limit + 64 * 1'024, 128 * 1'024),
                "and not more than the limit needs");
        const std::size_t taken = std::min({room.size(), chunk, rest.size()});
        std::memcpy(room.data(), rest.data(), taken);
        splitter.filled(taken);
        rest.remove_prefix(taken);
        while (const auto line = splitter.next()) {
            std::string_view wanted;
            do {
                const std::size_t end = expected.find('\n');
                require(end != std::string_view::npos, "no line without an end");
                wanted = expected.substr(0, end);
                expected.remove_prefix(end + 1);
            } while (wanted.size() <= limit && blank(wanted));
            require(line->too_long == (wanted.size() > limit), "too long is what is beyond the limit");
            require(line->too_long ? line->text.empty() : line->text == wanted, "a line as it was written");
            if (line->too_long) {
                line_skimmer skimmer;
                skimmer.follow(wanted);
                const skimmed_line seen = skimmer.end();
                require(line->seen->longest == limit, "beyond which limit it was");
                require(line->seen->messages.size() == seen.messages.size(), "and what was seen of it");
                for (std::size_t i = 0; i < seen.messages.size(); ++i) {
                    require(line->seen->messages[i].raw_id == seen.messages[i].raw_id, "in whatever chunks it came");
                }
                continue;
            }
            const char* const behind = line->text.data() + line->text.size();
            std::size_t sum = 0;
            for (std::size_t i = 0; i < line_splitter::padding; ++i) sum += static_cast<unsigned char>(behind[i]);
            require(sum != 0, "the newline is behind it");
        }
    }
    // Nothing is left but blank lines and one that has no end.
    for (std::size_t end = 0; (end = expected.find('\n')) != std::string_view::npos; expected.remove_prefix(end + 1)) {
        require(end <= limit && blank(expected.substr(0, end)), "every line came out");
    }
    return 0;
}
