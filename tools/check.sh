#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# All tests: check.sh JOBS FUZZ_SECONDS. Stops at the first stage that fails; what was not run is
# named at the end. CUZK_NIGHTLY=1 makes the tests take their long inputs. Sourced, it only defines
# its functions.
set -euo pipefail

not_run=() # "stage: what and why"

stage() {
    printf '\n== %s (%ss so far)\n' "$1" "$SECONDS"
}

# run_or_skip NAME COMMAND...: exit code 77 says that the stage cannot run here
run_or_skip() {
    local name=$1 code=0
    shift
    "$@" || code=$?
    [ "$code" = 77 ] || return "$code"
    not_run+=("$name: the whole stage, see above")
}

# note_skipped NAME LOG: tests that ctest, cmocka or the python tests report as skipped
note_skipped() {
    local line
    while IFS= read -r line; do
        not_run+=("$1: $line")
    done < <(sed -nE -e 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*Skipped.*/\1/p' \
        -e 's/^\[  SKIPPED \] +([^ ]+)$/\1/p' \
        -e 's/^(test_[^ ]+) .* skipped: (.*)$/\1: \2/p' "$2" | sort -u)
}

summary() {
    printf '\nall stages passed in %s s\n' "$SECONDS"
    if [ ${#not_run[@]} -gt 0 ]; then
        printf 'not run:\n'
        printf '  %s\n' "${not_run[@]}"
    fi
}

# build_and_test PRESET [CTEST-OPTION...]: all of it, or with options of ctest that choose tests only
# what these need
build_and_test() {
    local preset=$1 targets=()
    shift
    cmake --preset "$preset" >"build/configure-$preset.log"
    if [ $# -gt 0 ]; then
        mapfile -t targets < <(ctest --preset "$preset" "$@" --show-only=json-v1 | python3 -c '
import json, os, sys
root = os.path.realpath(sys.argv[1]) + "/"
tests = json.load(sys.stdin)["tests"]
words = {w for t in tests for w in t.get("command", [])}
targets = {w[len(root):] for w in words if w.startswith(root)}
# a program that is not built yet has no command: its target has the name of the test
targets |= {t["name"].split(".")[0] for t in tests if "command" not in t}
print("\n".join(sorted(targets)))' "build/$preset")
    fi
    ninja -C "build/$preset" -j "$jobs" "${targets[@]}" >"build/build-$preset.log" ||
        { tail -40 "build/build-$preset.log"; return 1; }
    # four places a processor: a test that works takes two, one that waits takes one
    ctest --preset "$preset" -j $((4 * jobs)) --no-tests=error "$@" |
        tee "build/test-$preset.log"
    # the outputs of the tests themselves
    cat "build/$preset/Testing/Temporary/LastTest.log" >>"build/test-$preset.log"
    note_skipped "$preset" "build/test-$preset.log"
}

# sourced by the test of the functions above
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0

cd "$(dirname "$0")/.."
jobs=$1
fuzz_seconds=$2
mkdir -p build
stage "release build: every test"
build_and_test release

stage "snarkjs and noble: the same answers from programs that share no code with ours"
run_or_skip "snarkjs and noble" tests/peers/run.sh build/release

stage "address and undefined-behaviour sanitizers, every representation promise checked"
# the emulated lanes stand for the vector path; the big sums are slow here (their parts have tests of
# their own), and so are the tests of the daemon that measure or prove for long; the comparisons with
# Python's reference run the commands that other tests run. Words and exit codes of the client start
# the program a thousand times: its readers have tests in C, its calls client.daemon and server.*;
# cli.malformed and cli.wrong_files go through every file.
# Scripts of the benchmarks run programs that only release builds have
build_and_test asan -E '[.](adx|ifma)$|test_msm[.]|test_msm_kernel[.]portable|test_circuit_wrong|test_groups[.]|server[.](abuse|latency|load|proofs)|cli[.](filecoin_)?reference|cli[.](options|request|bench_scripts)|client[.](wrong_answers|json_fields|codes|cut_connections|http_port|reach)'

stage "thread sanitizer: pool, concurrent proofs"
build_and_test tsan -L threads

stage "aarch64 under emulation: the portable path"
build_and_test aarch64 -L portable

stage "fuzz targets, $fuzz_seconds s each"
# by the clock: three share two processors
CUZK_FUZZ_JOBS=$((jobs + jobs / 2)) tools/fuzz.sh "$fuzz_seconds"

summary
