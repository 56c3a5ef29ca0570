#!/usr/bin/env bash
# A gateway before two servers, four calls, and four ways in which they end. See --help.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    cat <<'EOF'
usage: demo.sh [--json] [PROGRAMS]

Starts a gateway before two servers, one of which ignores cancels; starts four calls; and shows how one is cancelled, one
is stopped by an operator, one ignores its cancel and is killed, and one runs into its time limit. Then what andon log says.

  --json      one JSON object for each of the four, on a line, for scripts
  PROGRAMS    the folder that has andon and its servers (build/bin)

The server that ignores cancels is one of the TypeScript SDK where peers/typescript/install.sh has installed it, and
otherwise a small one of our own. Everything that is written stands in a folder of its own, which is removed.

Exit status: 0 when everything ended as it should, 1 when not, 2 for a wrong command line, 130 after Ctrl-C.
EOF
}

json=no programs=$here/../build/bin
for each; do
    case $each in
        -h | --help) usage && exit 0 ;;
        --json) json=yes ;;
        -*) echo "demo.sh: no such option: $each" >&2 && usage >&2 && exit 2 ;;
        *) programs=$each ;;
    esac
done
programs=$(cd "$programs" && pwd)
[ -x "$programs/andon" ] || { echo "demo.sh: there is no $programs/andon: scripts/build.sh builds it" >&2 && exit 2; }

bold='' dim='' green='' red='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
fi
tell() { [ $json = yes ] || printf '%b\n' "$*"; }
# Shows a command and what it says.
show() {
    tell "\n${bold}\$ $*${plain}"
    if [ $json = yes ]; then "$@" >/dev/null; else "$@"; fi
}
andon() { "$programs/andon" "$@"; }

# Disturbs nobody: neither the andons of this user, nor their journal, nor their configuration.
place=$(mktemp -d "${TMPDIR:-/tmp}/andon-demo.XXXXXX")
export ANDON_CONFIG=$place/andon.toml ANDON_RUNTIME_DIR=$place/run ANDON_STATE_DIR=$place/state
gateway='' calls=()
clean_up() {
    trap - EXIT INT TERM HUP
    for each in "${calls[@]}" $gateway; do kill "$each" 2>/dev/null || true; done
    for each in "${calls[@]}" $gateway; do wait "$each" 2>/dev/null || true; done
    rm -rf "$place"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

stubborn=$programs/stubborn_server tool=dig arguments=()
if [ -d "$here/../peers/typescript/node_modules" ] && command -v node >/dev/null; then
    stubborn="node $(cd "$here/../peers/typescript" && pwd)/v1_server.mjs"
    tool=spin_ignore arguments=(ms=60000)
fi
cat >"$ANDON_CONFIG" <<EOF
[gateway]
port = 0

[servers.good]
command = "'$programs/everything_server'"

[servers.good.tools.spin]
timeout = "4s"

[servers.stubborn]
command = "$stubborn"
on_ignored = "restart"
grace = "1s"
EOF
tell "The configuration:\n\n${dim}$(cat "$ANDON_CONFIG")${plain}"

tell "\n${bold}\$ andon gateway${plain}"
exec {addresses}< <(exec "$programs/andon" gateway 2>"$place/gateway.log")
gateway=$!
declare -A url
for _ in good stubborn; do
    read -r -t 30 -u "$addresses" name address || { cat "$place/gateway.log" >&2 && exit 1; }
    url[${name%:}]=$address
    tell "$name $address"
done

# call SERVER TOOL ARGUMENTS...: one more in flight.
call() {
    tell "${bold}\$ andon call ${url[$1]} ${*:2} &${plain}"
    # Not the function: the process is the one to signal.
    "$programs/andon" call "${url[$1]}" "${@:2}" --revision 2025-06-18 >"$place/said.$2" 2>&1 &
    calls+=($!)
    for _ in {1..300}; do
        if [[ $(andon ps --json) == *"\"tool\":\"$2\""* ]]; then return; fi
        sleep 0.1
    done
    cat "$place/said.$2" "$place/gateway.log" >&2
    exit 1
}
tell ''
call good wait ms=60000
call good child seconds=600
call stubborn "$tool" "${arguments[@]}"
call good spin ms=60000
show andon ps

all_good=yes
# became STORY TOOL STATUS CALL FILTER...: what the caller was told, and what the journal has of it.
became() {
    local story=$1 of=$2 expected=$3 process=$4 status=0 line='' ok=no
    wait "$process" || status=$?
    for _ in {1..300}; do
        line=$(andon log --json --tool "$of" "${@:5}")
        if [ -n "$line" ]; then break; fi
        sleep 0.1
    done
    if [ $status = "$expected" ] && [ -n "$line" ]; then ok=yes; else all_good=no; fi
    if [ $json = yes ]; then
        printf '{"story":"%s","ok":%s,"status":%d,"call":%s}\n' \
            "$story" "$([ $ok = yes ] && echo true || echo false)" $status "${line:-null}"
    else
        tell "${dim}$(tail -n 2 "$place/said.$of" | sed 's/^/   the caller: /')${plain}"
        [ $ok = yes ] || tell "${red}This is not what should have happened (status $status).${plain}"
    fi
}

tell "\n${bold}1. The host presses Stop, and the server stops.${plain}"
kill -TERM "${calls[0]}"
became cancelled wait 130 "${calls[0]}" --end cancelled

tell "\n${bold}2. An operator stops it: a shell with children, all of which die.${plain}"
show andon stop --tool child --reason 'wrong folder' --wait --timeout 20s || all_good=no
became operator child 1 "${calls[1]}" --end 'stopped by operator'

tell "\n${bold}3. The server ignores the cancel: after the grace time it is killed, and started again.${plain}"
kill -TERM "${calls[2]}"
became ignored "$tool" 130 "${calls[2]}" --end cancelled --ignored

tell "\n${bold}4. Nobody stops it, and it runs into its time limit.${plain}"
became timed_out spin 1 "${calls[3]}" --end 'timed out'

show andon log
tell "\nThat was one gateway for two servers. In front of a single one, paste this into your host's configuration:\n"
tell '  {"mcpServers": {"everything": {"command": "'"$programs/andon"'",'
tell '    "args": ["wrap", "--on-ignored", "restart", "--", "'"$programs/everything_server"'"]}}}\n'
if [ $all_good = yes ]; then
    tell "${green}Everything that was stopped stopped.${plain}"
else
    tell "${red}Something did not end as it should.${plain}"
    exit 1
fi
