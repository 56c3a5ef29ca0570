// The command line of everything_server.
#pragma once

#include <andon/server/http.hpp>
#include <andon/server/tasks.hpp>
#include <andon/wire/revision.hpp>
#include <optional>
#include <string>

namespace everything {

struct server_flags {
    std::optional<andon::http_options> http{};  ///< nothing: standard input and output
    andon::task_options tasks{};
    std::optional<andon::era> era{};  ///< only this one
};

inline constexpr const char* usage = R"(usage: everything_server [options] [--http PORT [options]]

Serves MCP in every revision of the protocol: on standard input and output, or with --http over Streamable HTTP at
http://127.0.0.1:PORT/mcp. Port 0 is any that is free; standard error says which.

  --era ERA                     speaks only the revisions of this one: legacy or modern

Tasks:
  --task-store FILE             keeps them in this file, over restarts
  --task-poll-ms MS             how often clients are asked to look (1000)
  --task-ttl-ms MS              how long a task is kept, from its creation (3600000)
  --live-tasks N                how many of one owner may work at once (1000)
  --kept-tasks N                how many are kept (1000000)
  --task-requests N             how often one owner may ask about tasks in a second (10000)
  --task-questions              asks clients that know how as tasks too

With --http:
  --no-sessions                 legacy clients get no session: every request stands alone
  --not-resumable               streams that were cut off cannot be picked up again
  --json-only                   never answers in events
  --token TOKEN=PRINCIPAL       takes this bearer token, and no request without one; more than once
  --jwt-key FILE                takes JSON Web Tokens that the owner of this public key signed
  --certificate FILE --private-key FILE
                                speaks TLS
  --host NAME                   is reached under this name too; more than once
  --comment-ms MS               how often a client that waits hears of us (15000)
  --abandon-ms MS               after which a legacy call whose client was cut off is cancelled (300000)
  --idle-session-ms MS          after which an idle session ends (1800000)
  --receive-ms MS               how long a request may take to come in (30000)
  --stalled-ms MS               how long a client may read nothing of what waits for it (30000)
  --per-client N                requests and streams at once of one client (16384)
  --body-bytes N                the longest message (16777216)

Environment:
  ANDON_MARKS=1      tools write `@start KEY NS`, `@cancel KEY NS` and `@end KEY NS` to standard error,
                     and child `@pids KEY SHELL CHILD CHILD_IN_ITS_OWN_SESSION NS`
  ANDON_LOG=LEVEL    debug, info (default), warning, error or off
)";

/// Throws std::invalid_argument with what is wrong. `help`: was asked for.
[[nodiscard]] server_flags read_flags(int argc, char** argv, bool& help);

}  // namespace everything
