#include "check/slow_tool.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "check/session.hpp"

namespace andon::check {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

int count(const std::string& text, std::initializer_list<std::string_view> words) {
    return static_cast<int>(std::count_if(words.begin(), words.end(),
                                          [&](std::string_view word) { return text.find(word) != std::string::npos; }));
}

bool says(const std::string& text, std::initializer_list<std::string_view> words) { return count(text, words) > 0; }

bool is_number(const json::object& schema) {
    const std::string type = text_at(schema, {"type"});
    return type == "number" || type == "integer";
}

/// The unit, as how many of it are a millisecond; nothing where the property says no time.
std::optional<double> unit_of(const std::string& name, const std::string& description) {
    constexpr double seconds = 1e-3;
    constexpr double minutes = seconds / 60;
    if (name == "ms" || name.ends_with("_ms") || says(name, {"milli"})) return 1;
    if (!says(name, {"sec", "duration", "delay", "time", "wait", "sleep", "minutes", "length", "period"})) {
        return std::nullopt;
    }
    if (says(name, {"minute"})) return minutes;
    if (says(name, {"sec"})) return seconds;
    if (name.ends_with("ms") || says(description, {"millisecond", " ms"})) return 1;
    return seconds;
}

double number_or(const json::object& schema, std::string_view name, double otherwise) {
    const json::value* const found = schema.if_contains(name);
    boost::system::error_code failed;
    const double value = found == nullptr ? otherwise : found->to_number<double>(failed);
    return failed ? otherwise : value;
}

/// Anything that the schema takes.
json::value any_value(const json::object& schema) {
    if (const json::value* const given = schema.if_contains("default")) return *given;
    if (const json::value* const given = schema.if_contains("const")) return *given;
    const json::value* const choices = schema.if_contains("enum");
    if (choices != nullptr && choices->is_array() && !choices->get_array().empty()) return choices->get_array()[0];
    const std::string type = text_at(schema, {"type"});
    if (type == "integer") return static_cast<std::int64_t>(number_or(schema, "minimum", 1));
    if (type == "number") return number_or(schema, "minimum", 1);
    if (type == "boolean") return false;
    if (type == "array") return json::array();
    if (type == "object") return json::object();
    return json::string("andon check");
}

bool required(const json::object& schema, std::string_view name) {
    const json::value* const all = schema.if_contains("required");
    if (all == nullptr || !all->is_array()) return false;
    return std::any_of(all->get_array().begin(), all->get_array().end(), [&](const json::value& each) {
        return each.is_string() && std::string_view(each.get_string()) == name;
    });
}

/// What it would be wrong to try.
bool harmful(const json::object& tool, const std::string& name) {
    const json::value* const destroys = find(tool, {"annotations", "destructiveHint"});
    if (destroys != nullptr && destroys->is_bool() && destroys->get_bool()) return true;
    return says(name, {"delete", "remove", "drop", "write", "send", "create", "update", "kill", "exec", "purchase",
                       "pay", "deploy", "shutdown", "reboot", "publish"});
}

json::object schema_of(const json::object& tool) {
    const json::value* const schema = tool.if_contains("inputSchema");
    return schema != nullptr && schema->is_object() ? schema->get_object() : json::object();
}

}  // namespace

json::object slow_tool::arguments(milliseconds time) const {
    json::object all = fixed;
    if (!time_property.empty()) {
        double value = static_cast<double>(time.count()) * per_millisecond;
        if (most > 0) value = std::min(value, most);
        if (whole) {
            all[time_property] = static_cast<std::int64_t>(std::max(1.0, std::round(value)));
        } else {
            all[time_property] = value;
        }
    }
    if (!steps_property.empty()) all[steps_property] = std::max<std::int64_t>(1, time / interval_limit);
    return all;
}

slow_tool slow_tool_from(const json::object& tool) {
    slow_tool made{.name = text_at(tool, {"name"})};
    const json::object schema = schema_of(tool);
    const json::value* const properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) return made;
    for (const auto& [key, value] : properties->get_object()) {
        if (!value.is_object()) continue;
        const json::object& its = value.get_object();
        const std::string name = lower(std::string(key));
        const bool of_steps = says(name, {"step", "tick", "iteration", "interval", "count"});
        const auto unit =
            is_number(its) && !of_steps ? unit_of(name, lower(text_at(its, {"description"}))) : std::nullopt;
        if (unit && made.time_property.empty()) {
            made.time_property = key;
            made.per_millisecond = *unit;
            made.whole = text_at(its, {"type"}) == "integer";
            made.most = number_or(its, "maximum", 0);
        } else if (is_number(its) && says(name, {"steps", "iterations"})) {
            made.steps_property = key;
        } else if (required(schema, key)) {
            made.fixed[key] = any_value(its);
        }
    }
    return made;
}

int slowness(const json::object& tool) {
    const std::string name = lower(text_at(tool, {"name"}));
    const std::string description = lower(text_at(tool, {"description"}));
    if (name.empty() || harmful(tool, name)) return 0;
    if (says(name + description, {"ignore", "never looks", "nothing can wake"})) return 0;
    int score = 3 * count(name, {"sleep", "wait", "slow", "long", "delay", "park", "spin", "busy", "hang", "child"});
    score += count(description, {"long-running", "long running", "seconds", "sleep", "waits", "progress", "slow",
                                 "busy", "takes", "duration"});
    if (score > 0 && slow_tool_from(tool).adjustable()) score += 3;
    if (says(name, {"task"}) || text_at(tool, {"execution", "taskSupport"}) == "required") score = std::min(score, 1);
    return score;
}

int curiosity(const json::object& tool) {
    const std::string name = lower(text_at(tool, {"name"}));
    const std::string description = lower(text_at(tool, {"description"}));
    if (name.empty() || harmful(tool, name) || says(name, {"task"})) return 0;
    return 3 * count(name, {"sampl", "ask"}) +
           count(description, {"sampling", "client's model", "model of the client"}) + 2 * count(name, {"elicit"}) +
           count(name, {"roots"});
}

}  // namespace andon::check
