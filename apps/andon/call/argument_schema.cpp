#include "call/argument_schema.hpp"

#include <algorithm>
#include <cmath>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "call/safe_text.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

constexpr int deepest = 16;  // references that lead in a circle

bool is_integer(const json::value& value) {
    if (value.is_int64() || value.is_uint64()) return true;
    return value.is_double() && std::isfinite(value.get_double()) &&
           std::trunc(value.get_double()) == value.get_double();
}

bool is_of(const json::value& value, std::string_view type) {
    if (type == "string") return value.is_string();
    if (type == "integer") return is_integer(value);
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_bool();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    if (type == "null") return value.is_null();
    return true;  // no type that we know
}

class reader {
public:
    explicit reader(const json::object& root) : root_(root) {}

    /// Adds what `schema` allows.
    void read(const json::object& schema, argument_schema& into, int depth = 0) const {
        if (depth > deepest) return;
        if (const auto reference = text_in(schema, "$ref"); reference.starts_with("#/")) {
            boost::system::error_code none;
            const json::value* const found = whole().find_pointer(reference.substr(1), none);
            if (!none && found != nullptr && found->is_object()) read(found->get_object(), into, depth + 1);
        }
        if (const json::value* const type = schema.if_contains("type")) add_types(*type, into);
        if (const json::value* const choices = schema.if_contains("enum"); choices != nullptr && choices->is_array()) {
            for (const json::value& each : choices->get_array()) into.choices.push_back(each);
        }
        if (const json::value* const only = schema.if_contains("const")) into.choices.push_back(*only);
        read_any("anyOf", schema, into, depth);
        read_any("oneOf", schema, into, depth);
    }

private:
    [[nodiscard]] const json::value& whole() const { return whole_; }

    static void add_types(const json::value& type, argument_schema& into) {
        if (type.is_string()) into.types.emplace_back(type.get_string());
        if (!type.is_array()) return;
        for (const json::value& each : type.get_array()) {
            if (each.is_string()) into.types.emplace_back(each.get_string());
        }
    }

    /// One branch that we know nothing of allows everything.
    void read_any(std::string_view key, const json::object& schema, argument_schema& into, int depth) const {
        const json::value* const branches = schema.if_contains(key);
        if (branches == nullptr || !branches->is_array()) return;
        bool anything = false;
        bool any_value = false;
        for (const json::value& each : branches->get_array()) {
            argument_schema branch;
            if (each.is_object()) read(each.get_object(), branch, depth + 1);
            anything = anything || (branch.types.empty() && branch.choices.empty());
            any_value = any_value || branch.choices.empty();
            for (std::string& type : branch.types) into.types.push_back(std::move(type));
            for (json::value& choice : branch.choices) into.choices.push_back(std::move(choice));
        }
        if (anything) into.types.clear();
        if (any_value) into.choices.clear();
    }

    const json::object& root_;
    json::value whole_ = root_;
};

}  // namespace

std::string argument_schema::type_text() const {
    std::string text;
    for (const std::string& each : types) (text += text.empty() ? "" : "|") += visible_text(each, 32);
    return text.empty() ? "any" : text;
}

bool argument_schema::takes(std::string_view type) const { return std::ranges::find(types, type) != types.end(); }

std::optional<std::string> argument_schema::fault_of(const json::value& value) const {
    const bool typed =
        types.empty() || std::ranges::any_of(types, [&](const std::string& each) { return is_of(value, each); });
    if (!typed) return "must be " + type_text() + ", and is " + visible_text(gateway::plain_json(value), 80);
    if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return std::nullopt;
    return "must be one of " + visible_text(gateway::plain_json(json::value(choices)), 400) + ", and is " +
           visible_text(gateway::plain_json(value), 80);
}

std::vector<argument_schema> arguments_in(const json::object& input_schema) {
    std::vector<argument_schema> all;
    const json::object* const properties = object_in(input_schema, "properties");
    if (properties == nullptr) return all;
    const json::value* const required = input_schema.if_contains("required");
    const reader in(input_schema);
    for (const auto& [name, schema] : *properties) {
        argument_schema& next = all.emplace_back();
        next.name = std::string(name);
        if (required != nullptr && required->is_array()) {
            next.required = std::ranges::find(required->get_array(), json::value(name)) != required->get_array().end();
        }
        if (!schema.is_object()) continue;
        in.read(schema.get_object(), next);
        next.description = std::string(text_in(schema.get_object(), "description"));
        if (const json::value* const given = schema.get_object().if_contains("default")) next.fallback = *given;
    }
    return all;
}

std::vector<std::string> names_of(const std::vector<argument_schema>& arguments) {
    std::vector<std::string> names;
    names.reserve(arguments.size());
    for (const argument_schema& each : arguments) names.push_back(each.name);
    return names;
}

}  // namespace andon::app
