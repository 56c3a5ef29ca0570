#!/usr/bin/env bash
# Builds and runs a small program against andon::core as a stranger would: consume.sh WAY SOURCE BUILD COMPILER
set -euo pipefail
way=$1 source=$2 build=$3 compiler=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $way in
find_package)
    cmake --install "$build" --prefix "$work/prefix" >/dev/null
    cmake -S "$here/project" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCONSUME=find_package \
        -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
    cmake --build "$work/build"
    ;;
add_subdirectory)
    cmake -S "$here/project" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCONSUME=add_subdirectory \
        -DANDON_SOURCE="$source" >/dev/null
    cmake --build "$work/build"
    ;;
pkg_config)
    # The prefix is written into the file when the project is configured, so it is told where it is installed now.
    cmake --install "$build" --prefix "$work/prefix" >/dev/null
    mkdir -p "$work/build"
    pc=$(dirname "$(find "$work/prefix" -name andon-core.pc)")
    read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$work/prefix" --cflags --libs andon-core)"
    "$compiler" -Wall -Wextra "$here/project/consumer.cpp" "${flags[@]}" -o "$work/build/consumer"
    ;;
*)
    echo "consume.sh: unknown way '$way'" >&2
    exit 2
    ;;
esac
"$work/build/consumer" | grep -x 'stopped: peer, Stop'
