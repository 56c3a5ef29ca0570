// What a server offers, by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/time.hpp"
#include "andon/server/handler.hpp"
#include "andon/server/prompt.hpp"
#include "andon/server/resource.hpp"
#include "andon/server/tasks.hpp"
#include "andon/server/tool.hpp"
#include "andon/wire/http_headers.hpp"
#include "server/scheduler.hpp"

namespace andon::detail {

enum class offered : std::uint8_t { tool, prompt, resource, resource_template, completion, subscription, task_request };
inline constexpr std::size_t kinds_offered = 7;

/// One thing that can be called. Shared: it can be taken away while calls of it run.
struct handler_entry {
    offered kind = offered::tool;
    std::string name;      // for a resource: its URI or template
    json::object listing;  // as the list shows it
    handler run;
    std::optional<duration> limit{};
    bool uncancellable = false;
    task_use task = task_use::never;
    bool task_on_demand = false;
    std::string mime_type{};
    std::vector<param_header> mirrored{};  // parameters of a tool that come in headers too (2026-07-28, HTTP)
    mutable gate turns{};
};

/// Read by the loop for every call, changed by whoever adds a tool while the server runs.
class registry {
public:
    void add(std::shared_ptr<handler_entry> entry);
    bool remove(offered kind, std::string_view name);
    [[nodiscard]] std::shared_ptr<const handler_entry> find(offered kind, std::string_view name) const;
    /// The template that fits, with what its names stand for.
    [[nodiscard]] std::shared_ptr<const handler_entry> match(std::string_view uri, json::object& variables) const;
    [[nodiscard]] bool any(offered kind) const;

    /// Up to `most` entries after the one named `after`; says in `more` whether others follow.
    [[nodiscard]] json::array page(offered kind, std::optional<std::string_view> after, std::size_t most,
                                   std::string& last, bool& more) const;

private:
    using by_name = std::map<std::string, std::shared_ptr<const handler_entry>, std::less<>>;
    [[nodiscard]] const by_name& of(offered kind) const { return entries_[static_cast<std::size_t>(kind)]; }

    mutable std::shared_mutex mutex_;
    std::array<by_name, kinds_offered> entries_;
};

/// Whether `uri` fits a template such as `notes://{book}/{page}`, and what the names stand for.
[[nodiscard]] std::optional<json::object> match_template(std::string_view pattern, std::string_view uri);

}  // namespace andon::detail
