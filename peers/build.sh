#!/usr/bin/env bash
# Builds the optional peers of the benchmarks, Python, Rust and Go, into build/peers/. One that cannot be built here is
# left out, with the reason: the toolchain is not there, or its packages cannot be had. That is no failure.
. "$(dirname "$0")/../scripts/lib.sh"

mkdir -p build/peers
limit=900 # seconds for each: a registry that does not answer must not hold up the others

python_peer() {
    local venv=build/peers/python wanted=peers/python/requirements.txt
    cmp -s "$wanted" "$venv/installed.txt" && return
    rm -rf "$venv" && python3 -m venv "$venv" &&
        timeout "$limit" "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" &&
        cp "$wanted" "$venv/installed.txt"
}

rust_peer() {
    timeout "$limit" cargo build --release --locked --manifest-path peers/rust/Cargo.toml \
        --target-dir build/peers/rust_target &&
        cp build/peers/rust_target/release/andon-peer-rust build/peers/rust_server
}

go_peer() {
    timeout "$limit" go build -C peers/go -trimpath -o "$root/build/peers/go_server" .
}

# peer NAME PROGRAM RESULT: nothing stale stays behind to be measured in place of what could not be built.
peer() {
    local name=$1 program=$2 result=$3 log=build/peers/$1.log
    if ! command -v "$program" >/dev/null; then
        rm -rf "$result"
        echo "peers: $name is left out: there is no $program"
    elif "${name}_peer" >"$log" 2>&1; then
        echo "peers: $name is built"
    else
        rm -rf "$result"
        echo "peers: $name is left out: it could not be built or its packages could not be had; the end of $log:"
        tail -n 3 "$log" | sed 's/^/    /'
    fi
}

peer python python3 build/peers/python
peer rust cargo build/peers/rust_server
peer go go build/peers/go_server
