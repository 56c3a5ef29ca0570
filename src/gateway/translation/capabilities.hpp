// What each side is told that the other can do.
#pragma once

#include <string>
#include <string_view>

namespace andon::gateway {

/// Which changes a server tells of.
struct announced_changes {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    bool updates = false;  ///< of single resources

    [[nodiscard]] bool of_lists() const noexcept { return tools || prompts || resources; }
};

/// Everything but tasks, whose dialects are not translated.
[[nodiscard]] std::string server_capabilities(std::string_view raw);
/// Everything but what a server could only use by asking the client something: sampling, elicitation, roots; and tasks.
[[nodiscard]] std::string client_capabilities(std::string_view raw);

[[nodiscard]] announced_changes changes_announced(std::string_view raw_server_capabilities);
/// Whether there is a capability of that name.
[[nodiscard]] bool declares(std::string_view raw_capabilities, std::string_view name);

/// Its name and version, which both eras demand; a stand-in where it has none.
[[nodiscard]] std::string implementation(std::string_view raw, std::string_view stand_in);

}  // namespace andon::gateway
