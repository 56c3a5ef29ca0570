#include "andon/core/visible_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace andon {
namespace {

constexpr std::string_view ellipsis = "\xE2\x80\xA6";
constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct code_point {
    std::uint32_t value = 0;
    std::size_t length = 0;  // 0: the byte at this place begins no valid sequence
};

code_point decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};

    std::size_t length = 0;
    std::uint32_t value = 0;
    std::uint32_t smallest = 0;
    if ((lead & 0xE0U) == 0xC0) {
        length = 2, value = lead & 0x1FU, smallest = 0x80;
    } else if ((lead & 0xF0U) == 0xE0) {
        length = 3, value = lead & 0x0FU, smallest = 0x800;
    } else if ((lead & 0xF8U) == 0xF0) {
        length = 4, value = lead & 0x07U, smallest = 0x10000;
    } else {
        return {};
    }
    if (text.size() < length) return {};
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return {};
        value = value << 6U | (byte(i) & 0x3FU);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < smallest || value > 0x10FFFF || surrogate) return {};
    return {value, length};
}

// Characters that move the cursor, reorder the line or cannot be seen at all.
bool hidden(std::uint32_t c) {
    struct range {
        std::uint32_t first, last;
    };
    constexpr std::array<range, 14> ranges{{{0x00, 0x1F},
                                            {0x7F, 0x9F},
                                            {0xAD, 0xAD},
                                            {0x34F, 0x34F},
                                            {0x61C, 0x61C},
                                            {0x115F, 0x1160},
                                            {0x17B4, 0x17B5},
                                            {0x180B, 0x180F},
                                            {0x200B, 0x200F},
                                            {0x2028, 0x202E},
                                            {0x2060, 0x206F},
                                            {0xFEFF, 0xFEFF},
                                            {0xFFF9, 0xFFFB},
                                            {0xE0000, 0xE0FFF}}};
    for (const auto& r : ranges) {
        if (c <= r.last) return c >= r.first;
    }
    return false;
}

void append_hex(std::string& out, std::uint32_t value, int least_digits) {
    constexpr std::string_view digits = "0123456789abcdef";
    bool started = false;
    for (int i = 7; i >= 0; --i) {
        const auto digit = (value >> (4U * static_cast<unsigned>(i))) & 0xFU;
        started = started || digit != 0 || i < least_digits;
        if (started) out += digits[digit];
    }
}

std::string written_out(std::uint32_t c) {
    switch (c) {
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        default: break;
    }
    std::string out;
    if (c <= 0xFF) {
        out = "\\x";
        append_hex(out, c, 2);
    } else {
        out = "\\u{";
        append_hex(out, c, 1);
        out += '}';
    }
    return out;
}

}  // namespace

std::string visible_text(std::string_view text, std::size_t max_bytes) {
    std::string out;
    out.reserve(std::min(text.size(), max_bytes));
    std::size_t room_for_ellipsis = 0;  // the longest prefix of out that leaves room to say that more was cut
    while (!text.empty()) {
        const code_point next = decode(text);
        const std::size_t taken = next.length == 0 ? 1 : next.length;
        std::string escaped;
        std::string_view shown = text.substr(0, taken);
        if (next.length == 0) {
            shown = replacement;
        } else if (hidden(next.value)) {
            shown = escaped = written_out(next.value);
        }
        if (out.size() + shown.size() > max_bytes) {
            out.resize(room_for_ellipsis);
            if (out.size() + ellipsis.size() <= max_bytes) out += ellipsis;
            return out;
        }
        out += shown;
        if (out.size() + ellipsis.size() <= max_bytes) room_for_ellipsis = out.size();
        text.remove_prefix(taken);
    }
    return out;
}

}  // namespace andon
