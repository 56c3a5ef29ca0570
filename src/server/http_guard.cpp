#include "server/http_guard.hpp"

#include <algorithm>
#include <array>

#include "wire/trimmed.hpp"

namespace andon::detail {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower(c);
    return out;
}

/// `wanted` in lower case.
bool is(std::string_view text, std::string_view wanted) noexcept {
    return std::equal(text.begin(), text.end(), wanted.begin(), wanted.end(),
                      [](char a, char b) { return lower(a) == b; });
}

/// `name`, `name:port`, `[::1]:port`: the name. Empty where it is none of them.
std::string_view without_port(std::string_view host) {
    std::size_t end = host.find(':');
    if (!host.empty() && host.front() == '[') {
        const std::size_t close = host.find(']');
        if (close == std::string_view::npos) return {};
        end = close + 1 == host.size() ? std::string_view::npos : close + 1;
        if (end != std::string_view::npos && host[end] != ':') return {};
    }
    if (end == std::string_view::npos) return host;
    const std::string_view port = host.substr(end + 1);
    if (port.find_first_not_of("0123456789") != std::string_view::npos) return {};
    return host.substr(0, end);
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& each) { return each == "*" || lower(each) == one; });
}

template <class F>
void for_each_item(std::string_view list, F f) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        f(trimmed(list.substr(0, comma)));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
}

/// `;q=0` and `;q=0.000` among the parameters: refused in so many words.
bool has_no_weight(std::string_view item) {
    while (true) {
        const std::size_t semicolon = item.find(';');
        if (semicolon == std::string_view::npos) return false;
        item.remove_prefix(semicolon + 1);
        const std::string parameter = lower(trimmed(item.substr(0, item.find(';'))));
        if (parameter.substr(0, 3) == "q=0") return parameter.find_first_not_of("0.", 2) == std::string::npos;
    }
}

}  // namespace

bool is_loopback(std::string_view address) {
    constexpr std::array<std::string_view, 4> names{"localhost", "127.0.0.1", "[::1]", "::1"};
    return std::find(names.begin(), names.end(), address) != names.end();
}

bool host_allowed(const http_request& request, const http_options& options) {
    const auto host = request.header("host");
    if (!host) return false;
    const std::string name = lower(without_port(*host));
    return !name.empty() && (is_loopback(name) || name == options.address || contains(options.hosts, name));
}

bool origin_allowed(const http_request& request, const http_options& options) {
    const auto origin = request.header("origin");
    if (!origin) return true;
    const std::string whole = lower(*origin);
    if (contains(options.origins, whole)) return true;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (std::string_view(whole).substr(0, scheme.size()) != scheme) continue;
        return is_loopback(without_port(std::string_view(whole).substr(scheme.size())));
    }
    return false;
}

accepted_types accepted_by(const http_request& request) {
    const auto accept = request.header("accept");
    if (!accept) return {true, true};
    accepted_types types;
    for_each_item(*accept, [&](std::string_view item) {
        if (has_no_weight(item)) return;
        const std::string_view type = trimmed(item.substr(0, item.find(';')));
        if (is(type, "*/*") || is(type, "application/*") || is(type, "application/json")) types.json = true;
        if (is(type, "*/*") || is(type, "text/*") || is(type, "text/event-stream")) types.events = true;
    });
    return types;
}

bool is_json(const http_request& request) {
    const auto type = request.header("content-type");
    return type && is(trimmed(type->substr(0, type->find(';'))), "application/json");
}

std::string_view path_of(const http_request& request) {
    std::string_view target = request.target;
    // The form for proxies, which every server has to take: its host is not the one that counts, Host is.
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        const std::size_t path = target.find('/', scheme.size());
        target = path == std::string_view::npos ? "/" : target.substr(path);
    }
    return target.substr(0, target.find('?'));
}

}  // namespace andon::detail
