#!/usr/bin/env bash
# Sets up, builds and runs every test: the release build, the linters, the model, the sanitizers and the fuzzers.
. "$(dirname "$0")/lib.sh"

sources() { git ls-files '*.cpp' '*.hpp'; }
check_format() { sources | xargs clang-format --dry-run -Werror; }
check_scripts() { git ls-files '*.sh' .ci/run | xargs shellcheck -x -P scripts -S warning; }
check_tidy() {
    cmake --preset tidy >/dev/null
    run-clang-tidy-14 -quiet -p build/tidy -extra-arg=-Wno-unknown-warning-option "^$root/(build/tidy/.*/unity_[0-9]+_cxx\.cxx|(src|apps|programs|demo|examples|bench)/.*\.cpp)\$" >build/clang-tidy.log 2>&1 || {
        grep -E 'warning:|error:' build/clang-tidy.log | sort -u
        return 1
    }
}
build() { cmake --preset "$1" >/dev/null && cmake --build --preset "$1"; }
run_tests() { ctest --preset "$1" -j 3 "${@:2}"; }
# Under the sanitizers one revision with batches, the newest legacy one and the modern one are enough: the others run
# the same code.
other_revisions='v2024_11_05|v2025_06_18'
# The tests that were built with a sanitizer, and those that talk to programs that were.
run_sanitized() {
    local preset=$1 sanitizer=$2
    run_tests "$preset" -E "$other_revisions" &&
        ANDON_SANITIZER=$sanitizer ANDON_SANITIZED_PROGRAMS=$root/build/$preset/bin \
            run_tests release -L 'from outside' -E "$other_revisions" "${@:3}"
}

stage "set-up" scripts/setup.sh
stage "format" check_format
stage "scripts" check_scripts
stage "build: release" build release
stage "tests: release" run_tests release
cat build/conformance/summary.txt 2>/dev/null || echo "conformance: left out"
stage "clang-tidy" check_tidy
stage "build: address and undefined-behaviour sanitizers, fuzzers" build asan
stage "tests: address and undefined-behaviour sanitizers, fuzzers" run_sanitized asan address
stage "build: thread sanitizer" build tsan
stage "tests: thread sanitizer" run_sanitized tsan thread -LE gateway
print_stage_times
succeed "test: all passed"
