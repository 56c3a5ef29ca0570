// `andon tools`: what a server offers.
#pragma once

#include <string>

#include "call/call_session.hpp"

namespace andon::app {

struct tools_request {
    session_settings session{};
    std::string tool{};  ///< only this one, with all that is known of it
};

/// Gives the exit status.
int show_tools(const tools_request& asked);

// In `columns` columns; 0: as wide as it gets.

/// Where there is no room for columns, one below the other.
[[nodiscard]] std::string tool_table(const json::array& tools, std::size_t columns, const palette& paint);
[[nodiscard]] std::string tool_page(const json::object& tool, std::size_t columns, const palette& paint);

}  // namespace andon::app
