// `andon tasks`: calls that outlive their requests, listed, followed, stopped.
#pragma once

#include <optional>
#include <string>

#include "call/call_session.hpp"

namespace andon::app {

struct task_request {
    session_settings session{};
    std::string id{};
    std::optional<duration> leave_after{};  ///< of follow_task()
};

/// Each gives the exit status.
int list_tasks(const task_request& asked);
/// Ctrl-C leaves the task alone, and so does the end of its time.
int follow_task(const task_request& asked);
int cancel_task(const task_request& asked);

}  // namespace andon::app
