// `andon call`: one call of one tool, by a person.
#pragma once

#include <string>
#include <vector>

#include "call/call_session.hpp"

namespace andon::app {

struct call_request {
    session_settings session{};
    std::string tool{};
    std::vector<std::string> words{};  ///< the arguments, as they were typed
    bool task = false;                 ///< as a task, which is followed
    bool detach = false;               ///< as a task, which is left to itself
};

/// Gives the exit status.
int call_tool(const call_request& asked);

}  // namespace andon::app
