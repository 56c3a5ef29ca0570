// Tools that work, wait or block in every way there is, so that stopping them can be watched.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// echo, wait, wait_ignore, park, spin, block, child and ask.
void add_work_tools(andon::server& server);

}  // namespace everything
