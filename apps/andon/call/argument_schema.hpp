// What a tool's inputSchema says of one argument.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/wire/error.hpp"

namespace andon::app {

struct argument_schema {
    std::string name;
    std::vector<std::string> types{};  ///< in the words of JSON Schema; empty: any
    json::array choices{};             ///< `enum` and `const`; empty: any
    std::string description{};
    json::value fallback{};  ///< `default`
    bool required = false;

    /// `integer`, `string|null`, `any`.
    [[nodiscard]] std::string type_text() const;
    [[nodiscard]] bool takes(std::string_view type) const;
    /// What is wrong with this value; nothing: it fits. The server knows better and is not asked.
    [[nodiscard]] std::optional<std::string> fault_of(const json::value& value) const;
};

/// All of them, in the order of the schema. Follows local references; of what it does not understand it says "any".
[[nodiscard]] std::vector<argument_schema> arguments_in(const json::object& input_schema);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<argument_schema>& arguments);

}  // namespace andon::app
