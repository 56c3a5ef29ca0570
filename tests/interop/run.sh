#!/usr/bin/env bash
# Runs the interop tests: clients in the official TypeScript SDKs against build/bin/everything_server, or against the
# command in ANDON_SERVER. Installs the SDKs from npm if need be. Where they cannot be had it exits with 77, which ctest
# counts as skipped; with ANDON_REQUIRE_INTEROP=1 that is a failure.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"

installed=0
peers/typescript/install.sh || installed=$?
if [ "$installed" = 77 ] && [ "${ANDON_REQUIRE_INTEROP:-}" = 1 ]; then
    fail "interop: left out, but ANDON_REQUIRE_INTEROP=1 asks for it"
fi
[ "$installed" = 0 ] || exit "$installed"

exec node --test "$@" tests/interop/typescript_clients.test.mjs tests/interop/typescript_http_clients.test.mjs \
    tests/interop/typescript_task_clients.test.mjs
