#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs each libFuzzer target under the sanitizers: fuzz.sh SECONDS [TARGET...]. Starts from the
# checked-in corpus; what it finds beside that is kept in build/fuzz/corpus, crashes in
# build/fuzz/crashes. CUZK_FUZZ_JOBS targets at once (default: one per processor).
# CUZK_FUZZ_MERGE=1 afterwards adds to the checked-in corpus the inputs that reach new code.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: fuzz.sh SECONDS [TARGET...]}
shift
jobs=${CUZK_FUZZ_JOBS:-$(nproc)}
build=build/fuzz

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" --target fuzz >"$build/build.log" || { cat "$build/build.log"; exit 1; }
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for program in "$build"/tests/fuzz/fuzz_*; do
        [ -x "$program" ] && [ -f "$program" ] && targets+=("${program##*/fuzz_}")
    done
fi
mkdir -p "$build/crashes" "$build/logs"

run_one() { # run_one TARGET
    local target=$1 log=$build/logs/$1.log
    mkdir -p "$build/corpus/$target"
    # the heap's peak is checked by the target itself; these limits are for what it cannot see
    if "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -malloc_limit_mb=64 -max_len=16384 -use_value_profile=1 -print_final_stats=1 \
        -artifact_prefix="$build/crashes/$target-" \
        "$build/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        printf '%-12s %s runs, no finding\n' "$target" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    else
        printf '%-12s FAILED, see %s\n' "$target" "$log"
        tail -n 40 "$log"
        return 1
    fi
}
export -f run_one
export build seconds

printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'run_one {}'

if [ "${CUZK_FUZZ_MERGE:-0}" = 1 ]; then
    for target in "${targets[@]}"; do
        "$build/tests/fuzz/fuzz_$target" -merge=1 -max_len=4096 "tests/fuzz/corpus/$target" \
            "$build/corpus/$target" 2>&1 | tail -n 1
    done
fi
