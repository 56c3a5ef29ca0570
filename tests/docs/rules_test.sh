#!/usr/bin/env bash
# docs/rules.md is true: every test that it names exists, and every rule that a test names is in it.
# rules_test.sh SOURCE BIN
set -euo pipefail
source=$1 bin=$2
page=$source/docs/rules.md

existing=$(for program in "$bin"/*_tests; do "$program" --gtest_list_tests; done |
    awk '/^[^ ].*\.$/ { suite = $1 } /^  / { print suite $1 }')
failed=0

while read -r name; do
    grep -qxF -- "$name" <<<"$existing" || { echo "docs/rules.md names $name, and there is no such test" >&2; failed=1; }
done < <(grep -oE '`[a-z_/]+\.[A-Za-z0-9_/]+`' "$page" | tr -d '`' | grep -E '_' | sort -u)

while read -r name; do
    for rule in $(grep -oE '(MSG|DIR|RCV|SND|HTTP|TIME|TASK|SUB|REG)_[0-9]+' <<<"$name" | tr _ -); do
        grep -E "^\| $rule \|" "$page" | grep -qF -- "$name" ||
            { echo "$name names $rule, and docs/rules.md does not list it there" >&2; failed=1; }
    done
done <<<"$existing"

[ "$failed" = 0 ] && echo "docs/rules.md and the tests agree"
exit "$failed"
