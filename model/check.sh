#!/usr/bin/env bash
# Searches all states of the models, and shows that each broken variant is found. README.md tells what they are.
set -euo pipefail

models=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

at_once=2  # searches side by side; each needs up to 1.3 GB
number=0

with_commas() { sed -E ':again; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; t again'; }

# failed NAME WHY: says so, with what the search said and the end of the way to the error.
failed() {
    {
        echo "FAIL $1: $2"
        grep -E '^pan:[0-9]+:|^pan: reached|rror:' out || true
        if compgen -G '*.trail' > trails; then
            spin -t -p -k "$(head -n 1 trails)" "${macros[@]}" "$models/$model.pml" 2>&1 |
                grep -E '^ *[0-9]+:|^spin:' | sed "s#$models/##" | tail -n 25
        fi
    } > report
    cat report
}

# search MODEL OPTIMIZATION MACRO...: leaves what was found in `out`.
search() {
    model=$1
    local optimization=$2
    shift 2
    macros=("${@/#/-D}")
    spin -a "${macros[@]}" "$models/$model.pml" > out 2>&1 &&
        gcc "$optimization" -w -DSAFETY -DMEMLIM=2000 -o pan pan.c >> out 2>&1 &&
        ./pan -m100000 > out 2>&1
}

holds() {
    local name=$1
    shift
    if ! search "$1" -O1 "${@:2}"; then
        failed "$name" "the search did not run"
    elif ! grep -q 'errors: 0' out; then
        failed "$name" "there is an error"
    elif grep -qE 'max search depth too small|Search not completed|reached -DMEMLIM' out; then
        failed "$name" "the search is not complete"
    else
        echo "ok   $name  ($(awk '/states, stored/ { print $1 }' out | with_commas) states)"
        touch passed
    fi
}

# What is broken is found soon, so that translating it fast counts for more than searching fast.
is_found() {
    local name="${1/scenarios/state}, broken: ${*: -1}"
    if ! search "$1" -O0 "${@:2}"; then
        failed "$name" "the search did not run"
    elif ! grep -qE 'errors: [1-9]' out; then
        failed "$name" "it was not found"
    else
        echo "ok   $name is found"
        touch passed
    fi
}

# Runs one of the two in a folder of its own, beside the others.
start() {
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
    number=$((number + 1))
    mkdir "$work/$number"
    (cd "$work/$number" && "$@") &
}

start holds "cancel_state: a child with a callback, below a request"     cancel_scenarios CHILD
start holds "cancel_state: two children come and go"                     cancel_scenarios CHILDREN
start holds "cancel_state: work in two sections, two cancels"            cancel_scenarios SECTION
start holds "cancel_state: a callback comes and goes"                    cancel_scenarios CALLBACK
start holds "cancel_state: a callback destroys itself"                   cancel_scenarios SELF
start holds "cancel_state: a callback destroys another"                  cancel_scenarios OTHER
start holds "cancel_state: a callback destroys one that runs elsewhere"  cancel_scenarios ELSEWHERE
start holds "cancel_state: children cancelled three times at once"       cancel_scenarios SWEEP
start holds "cancel_state: two cancels and a response"                   cancel_scenarios RESPONSE
start holds "grace_period: three epochs"                                 grace_period
start holds "grace_period: a quiet moment"                               grace_period QUIET
start holds "task_life: a call becomes a task, is stopped, and killed"    task_life

start is_found cancel_scenarios RESPONSE BROKEN_RESPONSE
start is_found cancel_scenarios RESPONSE BROKEN_REASON
start is_found cancel_scenarios SECTION BROKEN_SECTION
start is_found cancel_scenarios SECTION BROKEN_EARLY
start is_found cancel_scenarios SECTION BROKEN_LEAVE
start is_found cancel_scenarios CALLBACK BROKEN_ADD
start is_found cancel_scenarios CALLBACK BROKEN_REMOVE
start is_found cancel_scenarios CALLBACK BROKEN_AWAIT
start is_found cancel_scenarios CALLBACK BROKEN_DELIVERY
start is_found cancel_scenarios SELF BROKEN_THREAD
start is_found cancel_scenarios SELF BROKEN_SELF
start is_found cancel_scenarios CHILD BROKEN_CHILD
start is_found cancel_scenarios CHILD BROKEN_END
start is_found cancel_scenarios CHILDREN BROKEN_HUNG
start is_found cancel_scenarios CHILDREN BROKEN_PLACE
start is_found cancel_scenarios SWEEP BROKEN_BOOKMARK
start is_found grace_period last_epoch=3 GRACE=2
start is_found grace_period last_epoch=3 BROKEN_ADVANCE
start is_found grace_period last_epoch=3 BROKEN_UNLINK
start is_found grace_period last_epoch=3 QUIET BROKEN_QUIET
start is_found task_life BROKEN_BIRTH
start is_found task_life BROKEN_DECIDE
start is_found task_life BROKEN_ACK
start is_found task_life BROKEN_WIRE
start is_found task_life BROKEN_PASS_ON
wait

passed=$(find "$work" -name passed | wc -l)
echo "$passed passed, $((number - passed)) failed"
[ "$passed" -eq "$number" ]
