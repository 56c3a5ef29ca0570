#!/usr/bin/env bash
# Puts `andon check` to other people's servers and to ours, and writes what it found to docs/peers.md. Servers that are
# not there are left out, with the reason: the TypeScript ones come from npm, those in Python, Rust and Go from
# peers/build.sh. Exits with 0 whatever the servers are like; only our own must pass.
. "$(dirname "$0")/lib.sh"

page=docs/peers.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --build build --target andon_command everything_server >/dev/null || fail "peers: andon cannot be built"
andon=build/bin/andon
typescript=peers/typescript

version_of() { node -p "require('./$typescript/node_modules/$1/package.json').version"; }

names=()
# check NAME WORDS ARGUMENT...: a column of the table, and a section.
check() {
    local name=$1 words=$2
    shift 2
    names+=("$name")
    say "$name" >&2
    local status=0
    "$andon" check --markdown "$@" >"$work/$name.md" 2>"$work/$name.err" || status=$?
    printf 'andon check %s\n' "$(printf '%q ' "$@" | sed 's/\\{/{/g; s/\\}/}/g; s/ $//')" >"$work/$name.command"
    printf '%s\n' "$words" >"$work/$name.words"
    if [ "$status" = 3 ]; then cp "$work/$name.err" "$work/$name.md"; fi
    if [ "$status" != 0 ] && [[ $name == everything_server* ]]; then
        cat "$work/$name.md" >&2
        fail "peers: our own server does not pass"
    fi
}

both() { # NAME WORDS COMMAND...: on stdio, and with --http
    local name=$1 words=$2
    shift 2
    check "$name" "$words, on stdio" -- "$@"
    check "$name over HTTP" "$words, over Streamable HTTP" --url 'http://127.0.0.1:{port}/mcp' -- "$@" --http '{port}'
}

both everything_server "andon's own \`everything_server\`" build/bin/everything_server
if $typescript/install.sh >&2; then
    check server-everything "\`@modelcontextprotocol/server-everything\` $(version_of @modelcontextprotocol/server-everything), on stdio" \
        -- node $typescript/node_modules/@modelcontextprotocol/server-everything/dist/index.js stdio
    check 'server-everything over HTTP' \
        "\`@modelcontextprotocol/server-everything\` $(version_of @modelcontextprotocol/server-everything), over Streamable HTTP" \
        --url 'http://127.0.0.1:{port}/mcp' \
        -- env 'PORT={port}' node $typescript/node_modules/@modelcontextprotocol/server-everything/dist/index.js streamableHttp
    both 'TypeScript v1' "a server in \`@modelcontextprotocol/sdk\` $(version_of @modelcontextprotocol/sdk)" node $typescript/v1_server.mjs
    both 'TypeScript v2' "a server in \`@modelcontextprotocol/server\` $(version_of @modelcontextprotocol/server)" node $typescript/v2_server.mjs
fi
if [ -x build/peers/python/bin/python ]; then
    both Python "a server in \`mcp\` $(sed -n 's/^mcp[^=]*==//p' peers/python/requirements.txt)" build/peers/python/bin/python peers/python/server.py
fi
if [ -x build/peers/rust_server ]; then
    both Rust "a server in \`rmcp\` $(sed -n '/name = "rmcp"/{n;s/version = "\(.*\)"/\1/p}' peers/rust/Cargo.lock)" build/peers/rust_server
fi
if [ -x build/peers/go_server ]; then
    both Go "a server in \`go-sdk\` $(sed -n 's/.*modelcontextprotocol\/go-sdk v//p' peers/go/go.mod)" build/peers/go_server
fi

# The results of one server in one era, as `RULE RESULT`.
results() { # FILE ERA
    awk -v era="$2" '
        /^\*\*.*, 20[0-9][0-9]-/ { modern = $0 ~ /2026-07-28/ }
        /^\| [A-Z]+-[0-9]+ \|/ && modern == (era == "modern") { split($0, c, " \\| "); sub(/^\| /, "", c[1]); print c[1], c[3] }' "$1"
}

matrix() { # ERA
    local era=$1 name columns=() rule
    for name in "${names[@]}"; do
        if [ -n "$(results "$work/$name.md" "$era")" ]; then columns+=("$name"); fi
    done
    printf '| rule |'
    printf ' %s |' "${columns[@]}"
    printf '\n|---|'
    printf -- '---|%.0s' "${columns[@]}"
    printf '\n'
    for name in "${columns[@]}"; do results "$work/$name.md" "$era"; done | awk '!seen[$1]++ { print $1 }' |
        awk -F- '{ order = index("MSG DIR RCV HTTP TASK SUB", $1); printf "%03d %03d %s\n", order, $2, $0 }' | sort | cut -d' ' -f3 |
        while read -r rule; do
            printf '| %s |' "$rule"
            for name in "${columns[@]}"; do
                printf ' %s |' "$(results "$work/$name.md" "$era" | awk -v rule="$rule" '
                    $1 == rule { $1 = ""; sub(/^ /, ""); r = $0 }
                    END { print r == "pass" ? "pass" : r == "fail" ? "**fail**" : r == "differs" ? "differs" : r == "" ? "" : "-" }')"
            done
            printf '\n'
        done
    printf '\n'
}

{
    cat <<'TEXT'
# What `andon check` finds in other servers

Made by `scripts/peers.sh`, which puts [`andon check`](check.md) to servers in the official SDKs, in the versions named
below, and to andon's own. `fail` is a MUST or a SHOULD of the specification that is broken. `differs` is a rule that
andon sets itself where the specification leaves a choice: no fault of anybody. `-` could not be observed with this
server: see why in its table. What a table says is about that server with those tools, and not about all that can be made
with its SDK.

TEXT
    printf '## Revisions with a handshake\n\n'
    matrix legacy
    printf '## 2026-07-28\n\n'
    matrix modern
    for name in "${names[@]}"; do
        printf '## %s\n\nThis is %s:\n\n```sh\n' "$name" "$(cat "$work/$name.words")"
        cat "$work/$name.command"
        printf '```\n\n'
        cat "$work/$name.md"
        printf '\n'
    done
} >"$work/page"
cp "$work/page" "$page"
succeed "peers: $page has the tables of ${#names[@]} servers"
