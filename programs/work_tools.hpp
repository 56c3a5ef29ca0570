// Tools that work, wait or block in every way there is, so that stopping them can be watched.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// echo, wait, wait_ignore, park, spin, block, child and ask; and the same once more as task_echo and so on, which may
/// be tasks.
void add_work_tools(andon::server& server);

}  // namespace everything
