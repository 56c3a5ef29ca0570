#!/usr/bin/env bash
# Installs what is missing from Debian. `setup.sh build` is enough to build; without it, what the tests need comes too.
. "$(dirname "$0")/lib.sh"

for_building=(g++ cmake ninja-build pkg-config libboost1.81-dev libboost-json1.81-dev libsimdjson-dev libssl-dev
    libsqlite3-dev libcli11-dev libtomlplusplus-dev
    libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev)
for_testing=(clang clang-tidy clang-format clang-tools libclang-rt-14-dev spin shellcheck
    nginx tmux man-db zsh)

case ${1:-all} in
build) wanted=("${for_building[@]}") ;;
all) wanted=("${for_building[@]}" "${for_testing[@]}") ;;
*) fail "usage: scripts/setup.sh [build]" ;;
esac

# For the tests against the official SDKs. Whoever has Node.js from elsewhere keeps it.
if [ "${1:-all}" = all ]; then
    command -v node >/dev/null || wanted+=(nodejs)
    command -v npm >/dev/null || wanted+=(npm)
fi

missing=()
for package in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
    echo "setup: all ${#wanted[@]} packages are there"
    exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "setup: needs root to install ${missing[*]}, and there is no sudo"
    as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive

# Of nginx only the program is wanted: its service is not to start, neither now nor with the next boot.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
"${as_root[@]}" apt-get update -q >/dev/null || fail "setup: apt-get update failed"
"${as_root[@]}" apt-get install -yq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "setup: apt-get could not install ${missing[*]}"
if [[ " ${missing[*]} " = *" nginx "* ]] && [ -d /run/systemd/system ]; then
    "${as_root[@]}" systemctl --quiet disable nginx || true
fi
echo "setup: installed ${#missing[@]} packages"
