// What andon does with the calls of a server, and what it does where a cancel is ignored.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"

namespace andon::gateway {

/// With work that goes on after its cancel and the grace time.
enum class ignored_policy : std::uint8_t {
    drop,     ///< forget the answer, and report that the cancel was ignored
    restart,  ///< kill the server's process tree and start it again
    isolate,  ///< each call has a process of its own, which is killed
};

struct call_policy {
    std::optional<duration> timeout{};      ///< without an answer, and without progress where that restarts it
    std::optional<duration> max_timeout{};  ///< whatever progress comes
    bool progress_restarts_timeout = true;
    ignored_policy on_ignored = ignored_policy::drop;
    duration grace = std::chrono::seconds(2);  ///< from the cancel until going on counts as ignoring it
};

/// Of one server; tools may have their own.
struct server_policy {
    call_policy usual{};
    std::map<std::string, call_policy, std::less<>> tools{};

    [[nodiscard]] const call_policy& of(std::string_view tool) const {
        const auto found = tools.find(tool);
        return found == tools.end() ? usual : found->second;
    }
    [[nodiscard]] bool any_isolated() const {
        return usual.on_ignored == ignored_policy::isolate ||
               std::any_of(tools.begin(), tools.end(),
                           [](const auto& each) { return each.second.on_ignored == ignored_policy::isolate; });
    }
};

}  // namespace andon::gateway
