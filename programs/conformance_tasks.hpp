// The tools of the conformance suite that are about tasks.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// greet, slow_compute, failing_job, protocol_error_job, confirm_delete, multi_input and test_tool_with_task.
void add_conformance_tasks(andon::server& server);

}  // namespace everything
