#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# All tests: check.sh JOBS FUZZ_SECONDS. Stops at the first stage that fails. CUZK_NIGHTLY=1 makes
# the tests take their long inputs.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$1
fuzz_seconds=$2

stage() {
    printf '\n== %s (%ss so far)\n' "$1" "$SECONDS"
}

build_and_test() { # build_and_test PRESET [ctest options]
    local preset=$1
    shift
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" -j "$jobs"
    ctest --preset "$preset" -j "$jobs" --no-tests=error "$@"
}

stage "release build: every test"
build_and_test release

stage "snarkjs and noble: the same answers from programs that share no code with ours"
tests/peers/run.sh build/release

stage "verify build: every representation promise checked"
build_and_test verify -LE slow

stage "address and undefined-behaviour sanitizers: decoders, library, command line"
build_and_test asan -LE slow

stage "thread sanitizer: pool, concurrent proofs"
build_and_test tsan -L threads

stage "aarch64 under emulation: the portable path"
build_and_test aarch64 -L portable

stage "fuzz targets, $fuzz_seconds s each"
tools/fuzz.sh "$fuzz_seconds"

printf '\nall stages passed in %s s\n' "$SECONDS"
