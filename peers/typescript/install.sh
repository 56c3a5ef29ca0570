#!/usr/bin/env bash
# Installs the SDKs that the peers need, from npm, if they are missing or older than the lock file. Where that cannot be
# done it says so and exits with 77.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd peers/typescript

leave_out() {
    echo "left out: the TypeScript peers, because $*"
    exit 77
}

command -v node >/dev/null || leave_out "there is no node (on Debian: apt-get install nodejs npm)"
node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' || leave_out "node $(node --version) is older than 18"

exec {lock}<package-lock.json
flock "$lock" # one at a time: npm ci deletes node_modules first
[ node_modules/.package-lock.json -nt package-lock.json ] && exit 0

command -v npm >/dev/null || leave_out "there is no npm (on Debian: apt-get install npm)"
echo "peers: installing the TypeScript SDKs in $PWD"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! npm ci --no-progress --fetch-retries=1 --fetch-timeout=30000 >"$log" 2>&1; then
    cat "$log" >&2
    grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|FETCH_ERROR' "$log" &&
        leave_out "the npm registry cannot be reached"
    fail "peers: npm ci failed"
fi
touch node_modules/.package-lock.json
