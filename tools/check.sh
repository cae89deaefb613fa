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

# build_and_test PRESET [LABEL [EXCLUDE]]: with a label, only the programs of the tests that carry
# it; EXCLUDE is a pattern of tests to leave out
build_and_test() {
    local preset=$1 label=${2:-} exclude=${3:-} targets=()
    cmake --preset "$preset" >"build/configure-$preset.log"
    if [ -n "$label" ]; then
        mapfile -t targets < <(ctest --preset "$preset" -L "$label" --show-only=json-v1 | python3 -c '
import json, os, sys
root = os.path.realpath(sys.argv[1]) + "/"
tests = json.load(sys.stdin)["tests"]
words = {w for t in tests for w in t.get("command", [])}
targets = {w[len(root):] for w in words if w.startswith(root)}
# a program that is not built yet has no command: its target has the name of the test
targets |= {t["name"].split(".")[0] for t in tests if "command" not in t}
print("\n".join(sorted(targets)))' "build/$preset")
        label="-L $label"
    fi
    ninja -C "build/$preset" -j "$jobs" "${targets[@]}" >"build/build-$preset.log" ||
        { tail -40 "build/build-$preset.log"; return 1; }
    # shellcheck disable=SC2086
    ctest --preset "$preset" -j "$jobs" --no-tests=error $label ${exclude:+-E "$exclude"}
}

mkdir -p build
stage "release build: every test"
build_and_test release

stage "snarkjs and noble: the same answers from programs that share no code with ours"
tests/peers/run.sh build/release

stage "address and undefined-behaviour sanitizers, every representation promise checked"
# the emulated lanes stand for the vector path, and the big sums are slow here
build_and_test asan "" '[.](adx|ifma)$|test_msm(_kernel)?[.]portable'

stage "thread sanitizer: pool, concurrent proofs"
build_and_test tsan threads

stage "aarch64 under emulation: the portable path"
build_and_test aarch64 portable

stage "fuzz targets, $fuzz_seconds s each"
tools/fuzz.sh "$fuzz_seconds"

printf '\nall stages passed in %s s\n' "$SECONDS"
