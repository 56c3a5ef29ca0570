#!/usr/bin/env bash
# Installs the proxies that the figures of the relay stand beside, from npm, if they are missing or older than the lock
# file. Where that cannot be done it says so and exits with 77.
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
# shellcheck source=scripts/npm.sh
. scripts/npm.sh

what="the proxies from npm"
command -v node >/dev/null || leave_out "$what" "there is no node (on Debian: apt-get install nodejs npm)"
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' ||
    leave_out "$what" "node $(node --version) is older than 20"
install_npm bench/proxies "$what"
