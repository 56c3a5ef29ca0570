#!/usr/bin/env bash
# Builds and runs small programs against andon as a stranger would: consume.sh WAY SOURCE BUILD COMPILER
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
    cmake --build "$work/build" --target consumer # the rest would be the whole library once more
    ;;
pkg_config)
    # The prefix is written into the file when the project is configured, so it is told where it is installed now.
    cmake --install "$build" --prefix "$work/prefix" >/dev/null
    mkdir -p "$work/build"
    pc=$(dirname "$(find "$work/prefix" -name andon-core.pc)")
    compile() { # PACKAGE PROGRAM
        local flags
        read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$work/prefix" --static --cflags --libs "$1")"
        "$compiler" -Wall -Wextra "$here/project/$2.cpp" "${flags[@]}" -o "$work/build/$2"
    }
    compile andon-core consumer
    compile andon whole
    ;;
*)
    echo "consume.sh: unknown way '$way'" >&2
    exit 2
    ;;
esac
"$work/build/consumer" | grep -x 'stopped: peer, Stop'
[ ! -x "$work/build/whole" ] || "$work/build/whole" | grep -x 'stopped: cancelled, Stop'
