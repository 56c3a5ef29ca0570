#!/usr/bin/env bash
# Sets up, builds and shows what andon does. Options go to the demonstration: scripts/demo.sh --help
. "$(dirname "$0")/lib.sh"

case " $* " in *" -h "* | *" --help "*) exec demo/demo.sh --help ;; esac
scripts/build.sh >&2
# A server of somebody else's that ignores cancels; without npm it is one of ours.
peers/typescript/install.sh >&2 || [ $? = 77 ]
exec demo/demo.sh "$@"
