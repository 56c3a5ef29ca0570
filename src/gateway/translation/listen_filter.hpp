// What a subscription is about (2026-07-28), as the eras have it: three lists, and resources by their URI.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/translation/capabilities.hpp"
#include "gateway/translation/step.hpp"

namespace andon::gateway {

using uri_set = std::set<std::string, std::less<>>;

struct listen_filter {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    uri_set uris{};

    /// From the member `notifications` of the params of subscriptions/listen, or of the acknowledgement. A fault where
    /// it is none, or names more than `most` resources.
    [[nodiscard]] static listen_filter read(std::string_view raw_params, std::size_t most);

    [[nodiscard]] bool empty() const noexcept { return !tools && !prompts && !resources && uris.empty(); }
    /// What of it the server can do.
    [[nodiscard]] listen_filter within(const announced_changes& offered) const;
    [[nodiscard]] std::string written() const;
    /// Whether it asks for that notification.
    [[nodiscard]] bool wants(std::string_view method, std::string_view raw_params) const;
    /// One notification for each thing in it: what is to be said where changes may have been missed.
    [[nodiscard]] std::vector<notification> all_changes() const;
};

/// Of the four kinds of changes.
[[nodiscard]] bool is_change(std::string_view method) noexcept;

}  // namespace andon::gateway
