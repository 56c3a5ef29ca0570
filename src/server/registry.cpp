#include "server/registry.hpp"

#include <charconv>

namespace andon::detail {
namespace {

std::string percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned byte = 0;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
            out += static_cast<char>(byte);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace

std::optional<json::object> match_template(std::string_view pattern, std::string_view uri) {
    json::object variables;
    while (!pattern.empty()) {
        if (pattern.front() != '{') {
            if (uri.empty() || uri.front() != pattern.front()) return std::nullopt;
            pattern.remove_prefix(1);
            uri.remove_prefix(1);
            continue;
        }
        const std::size_t close = pattern.find('}');
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view name = pattern.substr(1, close - 1);
        pattern.remove_prefix(close + 1);
        // A name stands for everything up to what follows it in the template, within one segment.
        const std::size_t segment = std::min(uri.find('/'), uri.size());
        const std::size_t stop = pattern.empty() ? segment : std::min(uri.find(pattern.front()), segment);
        if (stop == 0) return std::nullopt;
        variables[name] = percent_decoded(uri.substr(0, stop));
        uri.remove_prefix(stop);
    }
    if (!uri.empty()) return std::nullopt;
    return variables;
}

void registry::add(std::shared_ptr<handler_entry> entry) {
    const std::lock_guard lock(mutex_);
    auto& entries = entries_[static_cast<std::size_t>(entry->kind)];
    const std::string name = entry->name;
    entries.insert_or_assign(name, std::move(entry));
}

bool registry::remove(offered kind, std::string_view name) {
    const std::lock_guard lock(mutex_);
    auto& entries = entries_[static_cast<std::size_t>(kind)];
    const auto found = entries.find(name);
    if (found == entries.end()) return false;
    entries.erase(found);
    return true;
}

std::shared_ptr<const handler_entry> registry::find(offered kind, std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = of(kind).find(name);
    return found == of(kind).end() ? nullptr : found->second;
}

std::shared_ptr<const handler_entry> registry::match(std::string_view uri, json::object& variables) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [pattern, entry] : of(offered::resource_template)) {
        if (auto found = match_template(pattern, uri)) {
            variables = std::move(*found);
            return entry;
        }
    }
    return nullptr;
}

bool registry::any(offered kind) const {
    const std::shared_lock lock(mutex_);
    return !of(kind).empty();
}

json::array registry::page(offered kind, std::optional<std::string_view> after, std::size_t most, std::string& last,
                           bool& more) const {
    const std::shared_lock lock(mutex_);
    json::array listed;
    auto next = after ? of(kind).upper_bound(*after) : of(kind).begin();
    for (; next != of(kind).end() && listed.size() < most; ++next) {
        listed.emplace_back(next->second->listing);
        last = next->first;
    }
    more = next != of(kind).end();
    return listed;
}

}  // namespace andon::detail
