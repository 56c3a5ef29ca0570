#include "wire/base64.hpp"

#include <array>

namespace andon::detail {
namespace {

constexpr std::string_view standard_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::string_view alphabet_of(base64_form form) noexcept {
    return form == base64_form::url ? url_alphabet : standard_alphabet;
}

using values = std::array<std::int8_t, 256>;

constexpr values values_of(std::string_view alphabet) noexcept {
    values table{};
    table.fill(-1);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
    }
    return table;
}

constexpr values standard_values = values_of(standard_alphabet);
constexpr values url_values = values_of(url_alphabet);

}  // namespace

std::string base64_encoded(std::string_view bytes, base64_form form) {
    const std::string_view alphabet = alphabet_of(form);
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 0x3FU];
    }
    if (held > 0) text += alphabet[bits << (6 - held) & 0x3FU];
    while (form == base64_form::standard && text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string> base64_decoded(std::string_view text, base64_form form) {
    if (form == base64_form::standard) {
        if (text.size() % 4 != 0) return std::nullopt;
        for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return std::nullopt;
    const values& table = form == base64_form::url ? url_values : standard_values;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : text) {
        const std::int8_t value = table[static_cast<unsigned char>(c)];
        if (value < 0) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes += static_cast<char>(bits >> held & 0xFFU);
        }
    }
    if ((bits & ((1U << held) - 1U)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace andon::detail
