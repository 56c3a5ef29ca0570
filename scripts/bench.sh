#!/usr/bin/env bash
# Measures: scripts/bench.sh [GROUP...]. One line a figure, `NAME: VALUE (bar BAR) ok` or `short`. Not part of the tests.
. "$(dirname "$0")/lib.sh"

groups=(core stdio http relay tasks)
wanted=("${@:-${groups[@]}}")
for group in "${wanted[@]}"; do
    case " ${groups[*]} " in
    *" $group "*) ;;
    *) fail "bench: there is no group '$group'; there is: ${groups[*]}" ;;
    esac
done

# The official SDKs that the figures over stdio and HTTP stand beside. One that cannot be had is left out, and the figures say so.
build_peers() {
    peers/typescript/install.sh || true # it says why, and so do the figures
    peers/build.sh
}

# The servers behind the relay, and the proxies beside it.
build_proxies() {
    peers/typescript/install.sh || true
    bench/proxies/install.sh || true
}

scripts/build.sh >&2
case " ${wanted[*]} " in
*" stdio "* | *" http "*) build_peers >&2 ;;
esac
case " ${wanted[*]} " in
*" relay "*) build_proxies >&2 ;;
esac
short=0
for group in "${wanted[@]}"; do
    "build/bin/${group}_bench" || short=1
done
if [ "$short" = 0 ]; then
    succeed "bench: every figure meets its bar"
else
    fail "bench: at least one figure falls short"
fi
