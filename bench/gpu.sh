#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu.sh BUILD_DIR OUT_DIR [STEP...]: everything that needs a CUDA device, on a machine that has one
# and not necessarily a compiler. Steps: tests, sanitizer, bench (default: these three, about ten
# minutes on one H200), transforms (of every size from 2^20, with blocks of either size), full (whole
# proofs of 32GiB, all kinds) or full:KIND for one of them. Leaves logs and CSV files in OUT_DIR, and
# gpu.json (transforms.json, full.json) with what was measured, the machine, driver, commit, date and
# clocks (gpu_result.sh); ends with 1 if a step failed. Runs in the root of the source tree, whose
# fixtures the tests read.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
. bench/gpu_result.sh
build=$1
out=$2
shift 2
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(tests sanitizer bench)
mkdir -p "$out"
failed=0

tests=(test_device_arithmetic test_device_self_test test_device_transform test_device_sums test_device_rows
    test_device_proofs test_device_keys test_key_stream test_point_decoder)

# run NAME SECONDS COMMAND...: its output in OUT_DIR/NAME.log, a line about it here
run() {
    local name=$1 limit=$2 begin=$SECONDS code=0
    shift 2
    timeout "$limit" "$@" >"$out/$name.log" 2>&1 || code=$?
    printf '%s: exit code %s, %s s\n' "$name" "$code" $((SECONDS - begin))
    if [ "$code" -ne 0 ]; then
        tail -15 "$out/$name.log"
        failed=1
    fi
}

clocks() {
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu,power.draw \
        --format=csv,noheader 2>/dev/null || true
}

step_tests() {
    for t in "${tests[@]}"; do
        run "$t" 150 "$build/tests/cuda/$t"
    done
    run test_device_lost 60 "$build/tests/cuda/test_device_lost" # loses contexts on purpose
    cat "$out/test_device_lost.log"
    local circuit=tests/fixtures/circom/bn254/multiplier2
    run devices 60 "$build/cuzk" devices
    cat "$out/devices.log"
    run prove 60 "$build/cuzk" prove "$circuit/circuit.zkey" "$circuit/witness.wtns" \
        "$out/proof.json" "$out/public.json" --device cuda:0 --allow-test-key
    run verify 60 "$build/cuzk" verify "$circuit/verification_key.json" "$out/public.json" \
        "$out/proof.json"
    for kind in winning window snap porep; do
        filecoin "$kind"
    done
}

# filecoin KIND: a proof of a made-up sector of 2KiB on the device, verified
filecoin() {
    local f="$out/filecoin" program
    program=$(realpath "$build/cuzk")
    mkdir -p "$f"
    (cd "$f" && "$program" gen-vanilla "$1" "$1.van" --sector-size 2KiB --request "$1.req" &&
        FIL_PROOFS_PARAMETER_CACHE="$f" "$program" params setup "$1" 2KiB) >"$out/setup_$1.log" 2>&1
    FIL_PROOFS_PARAMETER_CACHE="$f" run "prove_$1" 60 "$program" prove "$1" "$f/$1.van" \
        --request "$f/$1.req" --out "$f/$1.bin" --device cuda:0 --allow-test-key
    FIL_PROOFS_PARAMETER_CACHE="$f" run "verify_$1" 60 "$program" verify "$1" "$f/$1.bin" \
        --request "$f/$1.req" --allow-test-key
    grep '^on cuda' "$out/prove_$1.log"
    rm -f "$f"/*.params
}

# The kernels' small inputs are those of the emulated tests.
step_sanitizer() {
    for tool in memcheck racecheck initcheck; do
        for t in "${tests[@]}"; do
            CUZK_DEVICE_TEST_SMALL=1 run "$tool-$t" 90 compute-sanitizer --tool "$tool" \
                --error-exitcode 9 "$build/tests/cuda/$t"
        done
    done
}

step_bench() {
    clocks | tee "$out/clocks_before.txt"
    gpu_clocks_begin "$out/clocks.txt"
    run bench_gpu_steps 400 "$build/bench/bench_gpu_steps"
    run bench_gpu 120 "$build/bench/bench_gpu"
    for kind in winning update porep window; do
        run "bench_$kind" 90 "$build/bench/bench_gpu_proof" "$kind" 32g --runs 3
    done
    run bench_keys 120 "$build/bench/bench_gpu_keys" porep 32g
    gpu_clocks_end
    clocks | tee "$out/clocks_after.txt"
    local table tables=()
    for table in "$out"/bench_*.log; do
        tables+=("$(basename "$table" .log)=$table")
    done
    gpu_result "$out/gpu.json" "$out/clocks.txt" "${tables[@]}"
    cat "$out/bench_gpu_steps.log" "$out"/bench_{winning,update,porep,window,keys}.log
}

step_transforms() {
    gpu_clocks_begin "$out/clocks_transforms.txt"
    run bench_transforms 540 "$build/bench/bench_gpu_steps" --step ntt --tiles 1 --runs 7
    gpu_clocks_end
    gpu_result "$out/transforms.json" "$out/clocks_transforms.txt" \
        "bench_transforms=$out/bench_transforms.log"
    cat "$out/bench_transforms.log"
}

# full KIND...: from a made-up sector's request to verified proofs through the engine (bench_gpu_full.c);
# the proofs are verified by cuzk once more. A thousand Winning PoSts in a row.
step_full() {
    local kind program work
    program=$(realpath "$build/cuzk")
    work=$(mktemp -d)
    gpu_clocks_begin "$out/clocks_full.txt"
    for kind in "$@"; do
        local options=(--runs 3 --queue 3) generate=(--sector-size 32GiB)
        case $kind in
        winning) options=(--runs 1000 --queue 20) ;;
        snap) options=(--runs 2 --queue 2) ;;
        window)
            options=(--runs 2 --queue 2)
            generate+=(--sectors 2349)
            ;;
        esac
        run "generate_$kind" 60 "$program" gen-vanilla "$kind" "$work/$kind.van" \
            --request "$work/$kind.req" "${generate[@]}"
        run "bench_full_$kind" 400 "$build/bench/bench_gpu_full" "$kind" "$work/$kind.van" \
            "$work/$kind.req" "$work" "${options[@]}"
        FIL_PROOFS_PARAMETER_CACHE="$work" run "verify_full_$kind" 60 "$program" verify "$kind" \
            "$work/$kind.bin" --request "$work/$kind.req" --allow-test-key
        cat "$out/generate_$kind.log" "$out/bench_full_$kind.log" "$out/verify_full_$kind.log"
        gzip -c "$work/$kind.cuzkrec" >"$out/full_$kind.cuzkrec.gz"
        "$program" timeline "$work/$kind.cuzkrec" >"$out/timeline_$kind.txt" 2>&1
    done
    gpu_clocks_end
    local table tables=()
    for table in "$out"/bench_full_*.log; do
        tables+=("$(basename "$table" .log)=$table")
    done
    gpu_result "$out/full.json" "$out/clocks_full.txt" "${tables[@]}"
    rm -rf "$work"
}

trap gpu_clocks_end EXIT
for step in "${steps[@]}"; do
    case $step in
    tests) step_tests ;;
    sanitizer) step_sanitizer ;;
    bench) step_bench ;;
    transforms) step_transforms ;;
    full) step_full winning snap porep window ;;
    full:*) step_full "${step#full:}" ;;
    *)
        echo "gpu.sh: unknown step \"$step\", expected tests, sanitizer, bench, transforms, full or full:KIND" >&2
        exit 2
        ;;
    esac
done
exit $failed
