#!/usr/bin/env bash
# Builds Release into build/, all programs into build/bin/.
. "$(dirname "$0")/lib.sh"

scripts/setup.sh build
say "building into build/"
cmake --preset release >/dev/null
cmake --build --preset release
succeed "build: done, the programs are in build/bin/"
