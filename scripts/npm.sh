# What comes from npm: sourced after lib.sh.
# shellcheck shell=bash

# leave_out WHAT WHY: where something cannot be had, which ctest counts as skipped.
leave_out() {
    echo "left out: $1, because $2"
    exit 77
}

# install_npm DIRECTORY WHAT: what the lock file there names, unless it is there already.
install_npm() {
    local directory=$1 what=$2 lock log
    exec {lock}<"$directory/package-lock.json"
    flock "$lock" # one at a time: npm ci deletes node_modules first
    if ! [ "$directory/node_modules/.package-lock.json" -nt "$directory/package-lock.json" ]; then
        command -v npm >/dev/null || leave_out "$what" "there is no npm (on Debian: apt-get install npm)"
        echo "installing $what in $directory"
        log=$(mktemp)
        if ! (cd "$directory" && npm ci --no-progress --fetch-retries=1 --fetch-timeout=30000) >"$log" 2>&1; then
            cat "$log" >&2
            grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|FETCH_ERROR' "$log" &&
                leave_out "$what" "the npm registry cannot be reached"
            fail "npm ci failed in $directory"
        fi
        rm -f "$log"
        touch "$directory/node_modules/.package-lock.json"
    fi
    exec {lock}<&-
}
