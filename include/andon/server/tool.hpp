// A tool: what it is called, what it takes, what it does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

#include "andon/core/time.hpp"
#include "andon/server/handler.hpp"
#include "andon/server/tasks.hpp"
#include "andon/server/tool_result.hpp"

namespace andon {

struct tool_options {
    std::string name;
    std::string description{};
    std::string title{};
    json::object input_schema{};   ///< empty: made from the handler's arguments
    json::object output_schema{};  ///< empty: made from the handler's result, where that is a described struct
    json::object annotations{};
    json::object meta{};
    /// It is stopped, and answered with an error, when it takes longer (TIME-5).
    std::optional<duration> limit{};
    /// The peer's cancel is ignored: the work is answered whatever happens. A limit or a shutdown still stop it.
    bool uncancellable = false;
    /// How many calls run at once; 0: as many as come. The others wait, and can be cancelled there.
    std::size_t concurrency = 0;
    /// Whether calls may outlive their request. See docs/tasks.md.
    task_use task = task_use::never;
    /// 2026-07-28: a call is a task not from its beginning, but when its handler says call.become_task().
    bool task_on_demand = false;
};

namespace detail {

template <class F>
void complete_options(tool_options& options) {
    using argument = typename signature<F>::argument;
    using result = typename signature<F>::result;
    if (options.input_schema.empty()) {
        if constexpr (std::is_void_v<argument>) {
            options.input_schema = {{"type", "object"}, {"additionalProperties", false}};
        } else if constexpr (described_struct<std::remove_cvref_t<argument>>) {
            options.input_schema = schema_of<std::remove_cvref_t<argument>>();
        } else {
            options.input_schema = {{"type", "object"}};
        }
    }
    if constexpr (described_struct<result>) {
        if (options.output_schema.empty()) options.output_schema = schema_of<result>();
    }
}

}  // namespace detail

}  // namespace andon
