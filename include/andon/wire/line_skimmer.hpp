// What can be seen of a line that nobody keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace andon {

/// The outside of a message, or of what should have been one.
struct skimmed_message {
    bool whole = false;  ///< its end was seen; otherwise this is what was seen before something was out of place
    bool method = false;
    bool result = false;
    bool error = false;
    bool has_id = false;
    bool id_twice = false;
    std::string raw_id{};  ///< as it came; empty where it cannot be told: it is too long for one, or there are two
};

struct skimmed_line {
    std::size_t longest = 0;  ///< the limit that it was beyond
    bool batch = false;
    /// Never none: the last is empty where there was more than could be seen.
    std::vector<skimmed_message> messages{};
};

/// Follows strings, escapes and brackets through a line that comes in pieces, and finds the members of its messages
/// that say what each is and whose. Every byte is looked at once, and what is kept does not grow with the line. It is
/// no parser: what it follows need not be JSON, and values are not looked into.
class line_skimmer {
public:
    static constexpr std::size_t most_messages = 64;              ///< of a batch
    static constexpr std::size_t longest_raw_id = 6 * 1'024 + 2;  ///< in bytes, all of them escaped

    void follow(std::string_view piece);
    /// The line ends here. What follows is another one.
    [[nodiscard]] skimmed_line end();

private:
    enum class place : std::uint8_t { before, element, key, colon, value, scalar, comma, after, lost };
    enum class member : std::uint8_t { id, other };

    [[nodiscard]] std::size_t through_text(std::string_view piece);
    [[nodiscard]] std::size_t through_nested(std::string_view piece);
    void look_at(char c);
    void begin_message();
    void begin_text(bool kept);
    void end_message();
    void end_key();
    void end_value();
    void keep(std::string_view bytes);

    skimmed_line line_;
    skimmed_message message_;
    std::string kept_;  // of a key, or of an id
    std::size_t depth_ = 0;
    std::size_t level_ = 0;  // the depth at which the members of messages are
    place place_ = place::before;
    member member_ = member::other;
    bool keeping_ = false;
    bool in_text_ = false;
    bool escaped_ = false;
    bool in_message_ = false;
    bool more_ = false;  // messages than are kept
};

}  // namespace andon
