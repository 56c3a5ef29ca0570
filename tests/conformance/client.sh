#!/bin/sh
# The client, as the suite starts it; leaves word of how it ended.
"$ANDON_PROGRAMS/everything_client" "$@"
ended=$?
echo "$ended" >"$ANDON_ENDED/$(basename "$MCP_CONFORMANCE_SCENARIO")"
exit "$ended"
