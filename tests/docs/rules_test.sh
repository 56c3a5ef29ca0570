#!/usr/bin/env bash
# docs/rules.md lists, for every rule, the tests that carry its id in their names. This writes the page anew from itself
# and the names of the tests, and fails if that changes it: rules_test.sh SOURCE BIN [--write]
set -euo pipefail
page=$1/docs/rules.md bin=$2 mode=${3:-}

# Suite.test, one a line. Of a test with parameters all names, if the rule is in the parameter; else it stands for them.
names() {
    for program in "$bin"/*_tests; do "$program" --gtest_list_tests; done |
        awk '/^[^ ].*\./ { suite = $1 } /^  / { print suite $1 }' |
        sed -E 's#^([^/]*/?[^/]*(MSG|DIR|RCV|SND|HTTP|TIME|TASK|SUB|REG)_[0-9]+[^/]*)/[^/]*$#\1#' | LC_ALL=C sort -u
}

written=$(mktemp)
listed=$(mktemp)
trap 'rm -f "$written" "$listed"' EXIT
names >"$listed"
awk -v listed="$listed" '
    BEGIN {
        while ((getline name < listed) > 0) {
            rest = name
            while (match(rest, /(MSG|DIR|RCV|SND|HTTP|TIME|TASK|SUB|REG)_[0-9]+/)) {
                rule = substr(rest, RSTART, RLENGTH)
                sub("_", "-", rule)
                proof[rule] = proof[rule] "<br>`" name "`"
                rest = substr(rest, RSTART + RLENGTH)
            }
        }
    }
    /^\| [A-Z]+-[0-9]+ \|/ {
        split($0, cell, " \\| ")
        sub(/^\| /, "", cell[1])
        kept = cell[3]
        sub(/ \|$/, "", kept)
        # What is no test of ours (a fuzzer, a model, a note) was written by hand and stays.
        parts = split(kept, part, "<br>")
        others = ""
        for (i = 1; i <= parts; ++i) {
            if (part[i] !~ /^`[a-z_\/]+\.[A-Za-z0-9_\/]+`$/ && part[i] != "to come") others = others "<br>" part[i]
        }
        all = substr(proof[cell[1]] others, 5)
        print "| " cell[1] " | " cell[2] " | " (all == "" ? "to come" : all) " |"
        next
    }
    { print }' "$page" >"$written"

if [ "$mode" = --write ]; then
    cp "$written" "$page"
elif ! diff -u "$page" "$written" >&2; then
    echo "docs/rules.md is not in step with the tests: run $0 $1 $bin --write" >&2
    exit 1
fi
# The page of guarantees names tests too: each must exist.
existing=$(for program in "$bin"/*_tests; do "$program" --gtest_list_tests; done |
    awk '/^[^ ].*\./ { suite = $1 } /^  / { print suite $1 }')
grep -oE '`[a-z_/]+\.[A-Za-z0-9_/]{8,}`' "$1/docs/guarantees.md" | tr -d '`' | while read -r test; do
    grep -qxF -- "$test" <<<"$existing" || { echo "docs/guarantees.md names $test, and there is no such test" >&2; exit 1; }
done
echo "the documents and the tests agree"
