// The kinds of values that a key of andon.toml can have: how each is read, and how it is shown.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/config/config_keys.hpp"
#include "gateway/config/duration_text.hpp"

namespace andon::gateway {

inline constexpr std::size_t longest_text = 4'096;
inline constexpr std::string_view no_limit = "none";

/// Gives what was expected; empty: the text is good.
using text_check = std::string (*)(std::string_view);

/// Empty where it fits into the file's other texts: not too long, and without a zero byte.
[[nodiscard]] std::string plain_text(std::string_view text);
/// The name of an environment variable.
[[nodiscard]] std::string variable_name(std::string_view text);

[[nodiscard]] std::string read_texts(std::vector<std::string>& into, const toml_node& from);
[[nodiscard]] std::string read_text_map(std::map<std::string, std::string>& into, const toml_node& from,
                                        text_check name_check, text_check value_check);
/// `~/` is the user's home; what is relative begins in `base`.
[[nodiscard]] std::string read_path(std::string& into, const toml_node& from, std::string_view base);
[[nodiscard]] std::string read_command(std::vector<std::string>& into, const toml_node& from);
[[nodiscard]] json::value shown(const std::vector<std::string>& texts);
[[nodiscard]] json::value shown(const std::map<std::string, std::string>& texts);

// Each makes a key of `Section` from a function that finds its field, and a line about it.

template <class Section, class Field>
config_key<Section> boolean_key(std::string_view name, Field field, std::string_view about) {
    return {name, about,
            [field](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const auto* const value = std::get_if<bool>(&from.value);
                if (value == nullptr) return "true or false";
                field(to) = *value;
                return {};
            },
            [field](const Section& of) -> json::value { return field(of); }};
}

template <class Section, class Field>
config_key<Section> number_key(std::string_view name, Field field, std::int64_t least, std::int64_t most,
                               std::string_view about) {
    return {name, about,
            [=](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const auto* const value = std::get_if<std::int64_t>(&from.value);
                if (value == nullptr || *value < least || *value > most) {
                    return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
                }
                field(to) = static_cast<std::remove_reference_t<decltype(field(to))>>(*value);
                return {};
            },
            [field](const Section& of) -> json::value { return static_cast<std::int64_t>(field(of)); }};
}

template <class Section, class Field>
config_key<Section> text_key(std::string_view name, Field field, text_check check, std::string_view about) {
    return {name, about,
            [field, check](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const std::string* const text = from.text();
                if (text == nullptr) return "a text in quotes";
                if (std::string expected = plain_text(*text); !expected.empty()) return expected;
                if (std::string expected = check(*text); !expected.empty()) return expected;
                field(to) = *text;
                return {};
            },
            [field](const Section& of) -> json::value { return json::string(field(of)); }};
}

template <class Section, class Field>
config_key<Section> path_key(std::string_view name, Field field, std::string_view about) {
    return {
        name, about,
        [field](Section& to, const toml_node& from, std::string_view base) { return read_path(field(to), from, base); },
        [field](const Section& of) -> json::value { return json::string(field(of)); }};
}

template <class Section, class Field>
config_key<Section> texts_key(std::string_view name, Field field, std::string_view about) {
    return {
        name, about,
        [field](Section& to, const toml_node& from, std::string_view /*base*/) { return read_texts(field(to), from); },
        [field](const Section& of) { return shown(field(of)); }};
}

template <class Section, class Field>
config_key<Section> text_map_key(std::string_view name, Field field, text_check name_check, text_check value_check,
                                 std::string_view about) {
    return {name, about,
            [=](Section& to, const toml_node& from, std::string_view /*base*/) {
                return read_text_map(field(to), from, name_check, value_check);
            },
            [field](const Section& of) { return shown(field(of)); }};
}

/// At least `least`.
template <class Section, class Field>
config_key<Section> duration_key(std::string_view name, Field field, duration least, std::string_view about) {
    return {name, about,
            [field, least](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const auto value = from.text() == nullptr ? std::nullopt : parse_duration(*from.text());
                if (value && *value >= least) {
                    field(to) = *value;
                    return {};
                }
                return "a duration with its unit, as \"30s\", \"250ms\" or \"1h30m\", from " + duration_text(least) +
                       " to " + duration_text(longest_duration);
            },
            [field](const Section& of) -> json::value { return json::string(duration_text(field(of))); }};
}

/// Or "none".
template <class Section, class Field>
config_key<Section> limit_key(std::string_view name, Field field, std::string_view about) {
    return {name, about,
            [field](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const std::string* const text = from.text();
                const auto value = text == nullptr ? std::nullopt : parse_duration(*text);
                const bool none = text != nullptr && *text == no_limit;
                if (!none && !(value && *value > duration::zero())) {
                    return "a duration with its unit, as \"30s\", \"250ms\" or \"1h30m\", from 1ms to " +
                           duration_text(longest_duration) + ", or \"none\"";
                }
                if (none) {
                    field(to).reset();
                } else {
                    field(to) = value;
                }
                return {};
            },
            [field](const Section& of) -> json::value {
                return json::string(field(of) ? duration_text(*field(of)) : std::string(no_limit));
            }};
}

template <class Section, class Field>
config_key<Section> size_key(std::string_view name, Field field, std::uint64_t least, std::uint64_t most,
                             std::string_view about) {
    return {name, about,
            [=](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                const auto* const number = std::get_if<std::int64_t>(&from.value);
                const auto size = from.text() != nullptr              ? parse_size(*from.text())
                                  : number != nullptr && *number >= 0 ? std::optional<std::uint64_t>(*number)
                                                                      : std::nullopt;
                if (!size || *size < least || *size > most) {
                    return "a size from " + size_text(least) + " to " + size_text(most) + ", as \"16MiB\"";
                }
                field(to) = *size;
                return {};
            },
            [field](const Section& of) -> json::value { return json::string(size_text(field(of))); }};
}

/// One of a few words; the place of each in `words` is the value's.
template <class Section, class Field, std::size_t N>
config_key<Section> choice_key(std::string_view name, Field field, const std::array<std::string_view, N>& words,
                               std::string_view about) {
    return {name, about,
            [field, words](Section& to, const toml_node& from, std::string_view /*base*/) -> std::string {
                std::string expected;
                for (std::size_t i = 0; i < N; ++i) {
                    if (from.text() != nullptr && *from.text() == words[i]) {
                        field(to) = static_cast<std::remove_reference_t<decltype(field(to))>>(i);
                        return {};
                    }
                    ((expected += i == 0 ? "\"" : i + 1 == N ? " or \"" : ", \"") += words[i]) += '"';
                }
                return expected;
            },
            [field, words](const Section& of) -> json::value {
                return json::string(words[static_cast<std::size_t>(field(of))]);
            }};
}

}  // namespace andon::gateway
