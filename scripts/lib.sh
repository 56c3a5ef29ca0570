# Shared by the scripts: sourced, not run.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' red='' green='' plain=''
fi

say() { printf '%s== %s%s\n' "$bold" "$*" "$plain"; }
succeed() { printf '%s%s%s\n' "$green" "$*" "$plain"; }
fail() {
    printf '%s%s%s\n' "$red" "$*" "$plain" >&2
    exit 1
}

# stage NAME COMMAND...: runs it, says what it does and how long it took.
stage_times=()
stage() {
    local name=$1 begun=$SECONDS
    shift
    say "$name"
    "$@" || fail "${0##*/}: failed in: $name ($((SECONDS - begun)) s)"
    stage_times+=("$(printf '%6d s  %s' $((SECONDS - begun)) "$name")")
}

print_stage_times() {
    say "how long each stage took"
    printf '%s\n' "${stage_times[@]}"
    printf '%6d s  in all\n' "$SECONDS"
}
