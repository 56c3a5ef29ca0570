#!/usr/bin/env bash
# Runs the interop tests: clients in the official TypeScript SDKs against build/bin/everything_server, or against the
# command in ANDON_SERVER; with `relayed` as the first argument every pair of client and server that build/bin/andon, or
# ANDON_COMMAND, stands between. Installs the SDKs from npm if need be. Where they cannot be had it exits with 77, which
# ctest counts as skipped; with ANDON_REQUIRE_INTEROP=1 that is a failure.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"

installed=0
peers/typescript/install.sh || installed=$?
if [ "$installed" = 77 ] && [ "${ANDON_REQUIRE_INTEROP:-}" = 1 ]; then
    fail "interop: left out, but ANDON_REQUIRE_INTEROP=1 asks for it"
fi
[ "$installed" = 0 ] || exit "$installed"

if [ "${1:-}" = relayed ]; then
    shift
    exec node --test "$@" tests/interop/relayed.test.mjs
fi
exec node --test "$@" tests/interop/typescript_clients.test.mjs tests/interop/typescript_http_clients.test.mjs \
    tests/interop/typescript_task_clients.test.mjs
