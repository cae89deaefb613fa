#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_witness.sh BUILD_DIR OUT_DIR [KIND [PROOFS]]: proofs of a full-size partition by two workers,
# recorded by ourselves and by CUPTI in the same run, and what the two say (docs/timeline.md, "Beside
# another witness"). KIND: porep (default), update, window or winning; PROOFS: 20. Needs bench_gpu_proof,
# cupti_witness.so and cuzk in BUILD_DIR, and libcupti.so.13. Leaves KIND.rec.gz, KIND.sqlite.gz and
# reports in OUT_DIR; ends with 1 if something failed.
set -euo pipefail
build=$(realpath "$1")
out=$2
kind=${3:-porep}
n=${4:-20}
mkdir -p "$out"
CUDA_INJECTION64_PATH=$build/bench/cupti_witness.so CUPTI_WITNESS_FILE=$out/$kind.sqlite \
    "$build/bench/bench_gpu_proof" "$kind" 32g --runs 1 --queue "$n" --record "$out/$kind.rec" |
    tee "$out/$kind.csv"
"$build/cuzk" timeline "$out/$kind.rec" --gaps 5 --jobs 2 >"$out/$kind.report.txt"
"$build/cuzk" timeline --import "$out/$kind.sqlite" "$out/$kind.rec" | tee "$out/$kind.beside.txt"
"$build/cuzk" timeline --import "$out/$kind.sqlite" "$out/$kind.rec" --json >"$out/$kind.beside.json"
gzip -9f "$out/$kind.rec" "$out/$kind.sqlite"
ls -l "$out"
