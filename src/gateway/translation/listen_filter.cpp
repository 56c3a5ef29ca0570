#include "gateway/translation/listen_filter.hpp"

#include <algorithm>
#include <array>

#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {
namespace {

constexpr std::string_view updated = "notifications/resources/updated";

struct list_change {
    bool listen_filter::*wanted;
    bool announced_changes::*offered;
    std::string_view member;
    std::string_view method;
};
constexpr std::array<list_change, 3> lists{
    {{&listen_filter::tools, &announced_changes::tools, "toolsListChanged", "notifications/tools/list_changed"},
     {&listen_filter::prompts, &announced_changes::prompts, "promptsListChanged", "notifications/prompts/list_changed"},
     {&listen_filter::resources, &announced_changes::resources, "resourcesListChanged",
      "notifications/resources/list_changed"}}};

bool truth(std::string_view raw, std::string_view member) {
    if (raw.empty() || raw == "false") return false;
    if (raw == "true") return true;
    throw translation_fault("\"" + std::string(member) + "\" must be true or false");
}

/// What is updated may lie inside what was subscribed to.
bool covers(std::string_view subscribed, std::string_view uri) noexcept {
    if (uri.substr(0, subscribed.size()) != subscribed) return false;
    const std::string_view rest = uri.substr(subscribed.size());
    return rest.empty() || subscribed.empty() || subscribed.back() == '/' ||
           std::string_view("/?#").find(rest.front()) != std::string_view::npos;
}

}  // namespace

bool is_change(std::string_view method) noexcept {
    return method == updated ||
           std::any_of(lists.begin(), lists.end(), [&](const list_change& list) { return list.method == method; });
}

listen_filter listen_filter::read(std::string_view raw_params, std::size_t most) {
    const std::string_view raw = raw_object(raw_params, "params").at("notifications");
    if (raw.empty()) throw translation_fault("params must have \"notifications\", an object");
    const raw_object asked(raw, "\"notifications\"");
    listen_filter filter;
    for (const list_change& list : lists) filter.*list.wanted = truth(asked.at(list.member), list.member);
    const std::string_view raw_uris = asked.at("resourceSubscriptions");
    if (raw_uris.empty()) return filter;
    for (const std::string_view raw_uri : raw_elements(raw_uris, "\"resourceSubscriptions\"")) {
        auto uri = string_from_json(raw_uri);
        if (!uri) throw translation_fault("\"resourceSubscriptions\" must be an array of strings");
        filter.uris.insert(std::move(*uri));
        if (filter.uris.size() > most) {
            throw translation_fault("\"resourceSubscriptions\" has more than " + std::to_string(most) +
                                    ": use several subscriptions");
        }
    }
    return filter;
}

listen_filter listen_filter::within(const announced_changes& offered) const {
    listen_filter agreed;
    for (const list_change& list : lists) agreed.*list.wanted = this->*list.wanted && offered.*list.offered;
    if (offered.updates) agreed.uris = uris;
    return agreed;
}

std::string listen_filter::written() const {
    raw_writer to;
    for (const list_change& list : lists) {
        if (this->*list.wanted) to.add(list.member, "true");
    }
    if (!uris.empty()) {
        std::string raw = "[";
        for (const std::string& uri : uris) {
            if (raw.size() > 1) raw += ',';
            raw += json_quoted(uri);
        }
        to.add("resourceSubscriptions", raw += ']');
    }
    return std::move(to).done();
}

bool listen_filter::wants(std::string_view method, std::string_view raw_params) const {
    for (const list_change& list : lists) {
        if (list.method == method) return this->*list.wanted;
    }
    if (method != updated) return false;
    const auto uri = string_from_json(raw_object(raw_params, "params").at("uri"));
    return uri && std::any_of(uris.begin(), uris.end(), [&](const std::string& each) { return covers(each, *uri); });
}

std::vector<notification> listen_filter::all_changes() const {
    std::vector<notification> all;
    for (const list_change& list : lists) {
        if (this->*list.wanted) all.push_back({std::string(list.method), {}});
    }
    for (const std::string& uri : uris) {
        all.push_back({std::string(updated), R"({"uri":)" + json_quoted(uri) + '}'});
    }
    return all;
}

}  // namespace andon::gateway
