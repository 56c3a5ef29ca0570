#include <algorithm>
#include <set>

#include "andon/core/visible_text.hpp"
#include "andon/wire/http_headers.hpp"

namespace andon {
namespace {

constexpr std::string_view annotation = "x-mcp-header";
constexpr std::size_t longest_value_shown = 100;

/// What a keyword of JSON Schema holds.
enum class content : std::uint8_t { schemas, named_schemas, data };

content content_of(std::string_view keyword) noexcept {
    for (const std::string_view each : {"default", "const", "enum", "examples", "required"}) {
        if (keyword == each) return content::data;
    }
    // What stands in them is a name that somebody chose, and may be "x-mcp-header".
    for (const std::string_view each : {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
                                        "dependentRequired", "dependencies"}) {
        if (keyword == each) return content::named_schemas;
    }
    return content::schemas;
}

/// Whether there is an annotation in it, however deep. Without recursion: it comes from a stranger.
bool is_annotated(const json::value& outermost, content held) {
    struct place {
        const json::value* value;
        content held;
    };
    std::vector<place> places{{&outermost, held}};
    while (!places.empty()) {
        const place here = places.back();
        places.pop_back();
        if (here.held == content::data) continue;
        if (const auto* const list = here.value->if_array()) {
            for (const json::value& each : *list) places.push_back({&each, content::schemas});
        } else if (const auto* const object = here.value->if_object()) {
            const bool names = here.held == content::named_schemas;
            if (!names && object->contains(annotation)) return true;
            for (const auto& each : *object) {
                places.push_back({&each.value(), names ? content::schemas : content_of(each.key())});
            }
        }
    }
    return false;
}

/// 1*tchar, as RFC 9110 has the names of headers.
bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

std::optional<param_header::kind> kind_of(const json::object& schema) noexcept {
    const json::value* const type = schema.if_contains("type");
    const json::string* const name = type == nullptr ? nullptr : type->if_string();
    if (name == nullptr) return std::nullopt;
    if (*name == "string") return param_header::kind::string;
    if (*name == "integer") return param_header::kind::integer;
    if (*name == "boolean") return param_header::kind::boolean;
    return std::nullopt;
}

bool refers(const json::object& schema) noexcept {
    return schema.contains("$ref") || schema.contains("$dynamicRef") || schema.contains("$recursiveRef");
}

class schema_reader {
public:
    explicit schema_reader(const json::object& root) : properties_{{&root, 0, {}, 0}} {}

    param_headers read() {
        for (std::size_t i = 0; i < properties_.size() && found_.error.empty(); ++i) look_at(i);
        if (!found_.error.empty()) found_.all.clear();
        return std::move(found_);
    }

private:
    /// Reachable by a chain of `properties`. Names are copied only for those that are annotated: a stranger could make
    /// many of them, and deep.
    struct property {
        const json::object* schema;
        std::size_t parent;
        std::string_view name;
        std::size_t depth;
    };

    void look_at(std::size_t index) {
        const property here = properties_[index];
        const bool reachable = !refers(*here.schema);
        for (const auto& member : *here.schema) {
            const std::string_view keyword = member.key();
            const json::object* const named = member.value().if_object();
            if (keyword == annotation) {
                take(index, member.value(), reachable);
            } else if (keyword == "properties" && named != nullptr && reachable) {
                for (const auto& each : *named) {
                    if (const auto* const schema = each.value().if_object()) {
                        properties_.push_back({schema, index, each.key(), here.depth + 1});
                    } else if (is_annotated(each.value(), content::schemas)) {
                        fail(index, "is only allowed where nothing but `properties` leads to it");
                    }
                }
            } else if (is_annotated(member.value(), content_of(keyword))) {
                fail(index, "is only allowed where nothing but `properties` leads to it, not in `" +
                                visible_text(keyword, longest_value_shown) + '`');
            }
            if (!found_.error.empty()) return;
        }
    }

    void take(std::size_t index, const json::value& value, bool reachable) {
        const property& here = properties_[index];
        const json::string* const name = value.if_string();
        const auto type = kind_of(*here.schema);
        if (index == 0) return fail(index, "is only allowed on a property");
        if (!reachable) return fail(index, "is not allowed beside a reference");
        if (here.depth > deepest_param) return fail(index, "lies too deep");
        if (name == nullptr || !is_token(*name)) return fail(index, "is not the name of a header");
        if (!type) return fail(index, "is only allowed where `type` is string, integer or boolean");
        if (!names_.insert(lower_case(*name)).second) {
            return fail(index, '\'' + visible_text(*name, longest_value_shown) + "' is there twice");
        }
        found_.all.push_back({std::string(*name), path_of(index), *type});
    }

    [[nodiscard]] std::vector<std::string> path_of(std::size_t index) const {
        std::vector<std::string> path;
        for (; index != 0; index = properties_[index].parent) path.emplace_back(properties_[index].name);
        std::reverse(path.begin(), path.end());
        return path;
    }

    void fail(std::size_t index, const std::string& why) {
        const std::string_view name = properties_[index].name;
        const std::string where = index == 0 ? "the schema" : '\'' + visible_text(name, longest_value_shown) + '\'';
        found_.error = std::string(annotation) + " of " + where + ' ' + why;
    }

    std::vector<property> properties_;  // the schema itself first
    std::set<std::string> names_;       // in lower case
    param_headers found_;
};

}  // namespace

param_headers read_param_headers(const json::object& input_schema) { return schema_reader(input_schema).read(); }

}  // namespace andon
