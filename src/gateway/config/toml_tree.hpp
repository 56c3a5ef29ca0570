// A TOML file as a tree that remembers where everything stood. What reads TOML is slow to compile, and stays in one
// file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace andon::gateway {

struct text_position {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

struct toml_member;
struct toml_node;

/// A kind that no setting is: a date, a time.
struct toml_other {};

using toml_array = std::vector<toml_node>;
using toml_table = std::vector<toml_member>;

struct toml_node {
    // Without initializers: clang would make the destructor of the variant here, where a member is not yet complete.
    std::variant<toml_other, bool, std::int64_t, double, std::string, toml_array, toml_table> value;
    text_position at;

    [[nodiscard]] const toml_table* table() const noexcept { return std::get_if<toml_table>(&value); }
    [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&value); }
};

struct toml_member {
    std::string key;
    text_position at;
    toml_node value;
};

/// Why a text is no TOML.
struct toml_fault {
    std::string what{};
    text_position at{};
};

[[nodiscard]] std::variant<toml_table, toml_fault> parse_toml(std::string_view text);

}  // namespace andon::gateway
