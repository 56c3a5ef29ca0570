#include "gateway/translation/capabilities.hpp"

#include <algorithm>
#include <initializer_list>

#include "andon/wire/message.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {
namespace {

std::string without(std::string_view raw, std::initializer_list<std::string_view> left_out, std::string_view what) {
    raw_writer to;
    for (const raw_member& member : raw_object(raw, what).members()) {
        const bool dropped =
            std::any_of(left_out.begin(), left_out.end(), [&](std::string_view name) { return member.is(name); });
        if (dropped) continue;
        if (!member.is("extensions")) {
            to.add(member);
            continue;
        }
        const std::string extensions = without(member.raw_value, {"io.modelcontextprotocol/tasks"}, "extensions");
        if (extensions != "{}") to.add("extensions", extensions);
    }
    return std::move(to).done();
}

bool says_true(std::string_view raw_capability, std::string_view name) {
    return is_raw_object(raw_capability) && raw_object(raw_capability, "a capability").at(name) == "true";
}

}  // namespace

std::string server_capabilities(std::string_view raw) { return without(raw, {"tasks"}, "the server's capabilities"); }

std::string client_capabilities(std::string_view raw) {
    return without(raw, {"sampling", "elicitation", "roots", "tasks"}, "the client's capabilities");
}

announced_changes changes_announced(std::string_view raw_server_capabilities) {
    const raw_object all(raw_server_capabilities, "the server's capabilities");
    const std::string_view resources = all.at("resources");
    return {.tools = says_true(all.at("tools"), "listChanged"),
            .prompts = says_true(all.at("prompts"), "listChanged"),
            .resources = says_true(resources, "listChanged"),
            .updates = says_true(resources, "subscribe")};
}

bool declares(std::string_view raw_capabilities, std::string_view name) {
    return is_raw_object(raw_object(raw_capabilities, "the capabilities").at(name));
}

std::string implementation(std::string_view raw, std::string_view stand_in) {
    if (is_raw_object(raw)) {
        const raw_object given(raw, "the implementation");
        if (is_raw_string(given.at("name")) && is_raw_string(given.at("version"))) return std::string(raw);
    }
    raw_writer to;
    to.add("name", json_quoted(stand_in)).add("version", "\"unknown\"");
    return std::move(to).done();
}

}  // namespace andon::gateway
