#include "gateway/translation/results.hpp"

#include <algorithm>
#include <array>

#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation/meta.hpp"

namespace andon::gateway {
namespace {

bool is_cacheable(std::string_view method) noexcept {
    static constexpr std::array<std::string_view, 5> methods{"tools/list", "prompts/list", "resources/list",
                                                             "resources/templates/list", "resources/read"};
    return std::find(methods.begin(), methods.end(), method) != methods.end();
}

/// What the modern revision adds to a result beside `_meta`.
bool is_modern_member(const raw_member& member, bool cacheable) {
    return member.is("resultType") || (cacheable && (member.is("ttlMs") || member.is("cacheScope")));
}

std::string array_of(const std::vector<std::string>& raw_elements) {
    std::string text = "[";
    for (const std::string& raw : raw_elements) {
        if (text.size() > 1) text += ',';
        text += raw;
    }
    return text += ']';
}

/// The legacy revisions have objects where JSON Schema has `true` and `false` too.
std::string legacy_properties(std::string_view raw) {
    if (!is_raw_object(raw)) return std::string(raw);
    raw_writer to;
    for (raw_member member : raw_object(raw, "properties").members()) {
        if (member.raw_value == "true") member.raw_value = "{}";
        if (member.raw_value == "false") member.raw_value = R"({"not":{}})";
        to.add(member);
    }
    return std::move(to).done();
}

std::string legacy_schema(std::string_view raw) {
    if (!is_raw_object(raw)) return std::string(raw);
    raw_writer to;
    for (const raw_member& member : raw_object(raw, "a tool's schema").members()) {
        if (member.is("properties")) {
            to.add("properties", legacy_properties(member.raw_value));
        } else {
            to.add(member);
        }
    }
    return std::move(to).done();
}

bool describes_object(std::string_view raw_schema) {
    return is_raw_object(raw_schema) &&
           string_from_json(raw_object(raw_schema, "a tool's schema").at("type")) == "object";
}

/// A client refuses the whole list where one tool in it is not as its revision has it.
std::string tool_for_legacy(std::string_view raw, const revision_policy& client) {
    if (!is_raw_object(raw)) return std::string(raw);
    raw_writer to;
    for (const raw_member& member : raw_object(raw, "a tool").members()) {
        if (member.is("execution")) continue;  // it speaks of tasks
        if (member.is("inputSchema")) {
            to.add("inputSchema", legacy_schema(member.raw_value));
        } else if (!member.is("outputSchema")) {
            to.add(member);
        } else if (client.structured_content && describes_object(member.raw_value)) {
            to.add("outputSchema", legacy_schema(member.raw_value));
        }
    }
    return std::move(to).done();
}

std::string tool_for_modern(std::string_view raw) {
    if (!is_raw_object(raw)) return std::string(raw);
    raw_writer to;
    for (const raw_member& member : raw_object(raw, "a tool").members()) {
        if (!member.is("execution")) to.add(member);
    }
    return std::move(to).done();
}

template <class Translate>
std::string translated_tools(std::string_view raw, const Translate& translate) {
    std::vector<std::string> tools;
    for (const std::string_view tool : raw_elements(raw, "the list of tools")) tools.push_back(translate(tool));
    return array_of(tools);
}

/// Structured content that the client's revision has no place for is said as text, where nothing else is said.
class legacy_tool_result {
public:
    legacy_tool_result(const raw_object& result, const revision_policy& client)
        : structured_(result.at("structuredContent")),
          kept_(client.structured_content && is_raw_object(structured_)),
          said_as_text_(!structured_.empty() && !kept_ && says_nothing(result.at("content"))) {}

    void add(const raw_member& member, raw_writer& to) const {
        if (member.is("structuredContent") && !kept_) return;
        if (member.is("content") && said_as_text_) return;
        to.add(member);
    }
    void add_text(raw_writer& to) const {
        if (!said_as_text_) return;
        to.add("content", R"([{"type":"text","text":)" + json_quoted(structured_) + "}]");
    }

private:
    static bool says_nothing(std::string_view raw_content) {
        return !is_raw_array(raw_content) || raw_elements(raw_content, "content").empty();
    }

    std::string_view structured_;
    bool kept_;
    bool said_as_text_;
};

}  // namespace

std::string result_for_legacy(std::string_view method, const raw_object& result, const revision_policy& client) {
    const bool cacheable = is_cacheable(method);
    raw_writer meta;
    add_meta_of_neither(result.at("_meta"), meta);
    raw_writer to;
    if (!meta.empty()) to.add("_meta", std::move(meta).done());
    const auto pass = [&](const auto& add) {
        for (const raw_member& member : result.members()) {
            if (!member.is("_meta") && !is_modern_member(member, cacheable)) add(member);
        }
    };
    if (method == "tools/list") {
        pass([&](const raw_member& member) {
            if (!member.is("tools")) {
                to.add(member);
                return;
            }
            to.add("tools", translated_tools(member.raw_value,
                                             [&](std::string_view tool) { return tool_for_legacy(tool, client); }));
        });
    } else if (method == "tools/call") {
        const legacy_tool_result called(result, client);
        pass([&](const raw_member& member) { called.add(member, to); });
        called.add_text(to);
    } else {
        pass([&](const raw_member& member) { to.add(member); });
    }
    return std::move(to).done();
}

std::string result_for_modern(std::string_view method, const raw_object& result, std::string_view raw_server_info) {
    const bool cacheable = is_cacheable(method);
    raw_writer meta;
    meta.add(meta_key::server_info, raw_server_info);
    add_meta_of_neither(result.at("_meta"), meta);
    raw_writer to;
    to.add("resultType", "\"complete\"").add("_meta", std::move(meta).done());
    if (cacheable) to.add("ttlMs", "0").add("cacheScope", "\"private\"");
    for (const raw_member& member : result.members()) {
        // A legacy server means nothing by them that a modern client could understand.
        if (member.is("_meta") || is_modern_member(member, cacheable)) continue;
        if (method == "tools/list" && member.is("tools")) {
            to.add("tools", translated_tools(member.raw_value, tool_for_modern));
        } else {
            to.add(member);
        }
    }
    return std::move(to).done();
}

}  // namespace andon::gateway
