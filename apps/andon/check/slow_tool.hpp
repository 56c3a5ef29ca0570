// A tool that takes its time, with arguments that make it do so.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace andon::check {

namespace json = boost::json;
using std::chrono::milliseconds;

/// Made from a tool's schema, or from the user's own arguments.
struct slow_tool {
    std::string name;
    json::object fixed{};              ///< its arguments, but those below
    std::string time_property{};       ///< says how long it takes; empty: nothing does
    double per_millisecond = 1;        ///< the unit of it
    bool whole = true;                 ///< of an integer
    double most = 0;                   ///< that the schema allows; 0: anything
    std::string steps_property{};      ///< says in how many steps
    milliseconds interval_limit{100};  ///< between the steps

    // What was seen of it.
    milliseconds takes{};    ///< ends by itself after that; 0: was not seen to end
    bool progress = false;   ///<
    bool processor = false;  ///< keeps a processor busy
    milliseconds used{};     ///< how much of it, while it was looked at
    bool children = false;   ///< starts processes
    bool asks = false;       ///< sends requests to the client

    [[nodiscard]] bool adjustable() const noexcept { return !time_property.empty(); }
    [[nodiscard]] json::object arguments(milliseconds time) const;
    [[nodiscard]] bool shows() const noexcept { return progress || processor || children; }
};

/// From an entry of tools/list.
[[nodiscard]] slow_tool slow_tool_from(const json::object& tool);
/// How much it looks like a tool that takes its time and does no harm; 0: not at all.
[[nodiscard]] int slowness(const json::object& tool);
/// The same for a tool that asks its client something.
[[nodiscard]] int curiosity(const json::object& tool);

}  // namespace andon::check
