#!/usr/bin/env bash
# Sets up, builds and shows what andon does. Options go to the demonstration: scripts/demo.sh --help
. "$(dirname "$0")/lib.sh"

scripts/build.sh
exec build/bin/andon_demo "$@"
