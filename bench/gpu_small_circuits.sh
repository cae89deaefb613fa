#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_small_circuits.sh CUZK WORK_DIR: from how many constraints on a card is faster, on a machine
# with one: squarings of 2^8 … 2^20 constraints on BN254, and fixtures. CSV on stdout: wall time of
# "cuzk prove", a process each (minimum of 5), and the median of "cuzk bench" (20 in one process).
# DEVICES, RUNS, SIZES (exponents): other ones. Without python3 only the fixtures. About three minutes on an H200 with 16 processors.
set -euo pipefail
cd "$(dirname "$0")/.."
cuzk=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
runs=${RUNS:-5}

# best COMMAND...: milliseconds of the fastest run
best() {
    local least=999999999 begin us
    for ((i = 0; i < runs; i++)); do
        begin=$(date +%s%N)
        "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
        us=$((($(date +%s%N) - begin) / 1000))
        least=$((us < least ? us : least))
    done
    printf '%d.%03d' $((least / 1000)) $((least % 1000))
}

# measure NAME CONSTRAINTS KEY WITNESS
measure() {
    local device once many
    for device in ${DEVICES:-cpu cuda:0}; do
        once=$(best "$cuzk" prove "$3" "$4" "$work/proof.json" "$work/public.json" --device "$device" --allow-test-key)
        many=$("$cuzk" bench "$3" "$4" --device "$device" --allow-test-key --runs 20 --csv |
            awk -F, '$7 == "total" { print $9 "," $10 }')
        printf '%s,%s,%s,%s,%s\n' "$1" "$2" "$device" "$once" "$many"
    done
}

# squares LG: k.r1cs and w.wtns of 2^LG - 2 squarings
squares() {
    python3 - "$work" "$1" <<'END'
import os, sys
sys.path.insert(0, "tests/cli")
from harness import R
from test_memory import squares
r1cs, wtns = squares(R["bn254"], (1 << int(sys.argv[2])) - 2)
open(os.path.join(sys.argv[1], "k.r1cs"), "wb").write(r1cs)
open(os.path.join(sys.argv[1], "w.wtns"), "wb").write(wtns)
END
}

echo "circuit,constraints,device,once_min_ms,bench_min_ms,bench_median_ms"
for name in multiplier2 poseidon2 multiplier1000 range64 manypublic eddsa_poseidon; do
    from=tests/fixtures/circom/bn254/$name
    for file in circuit.zkey witness.wtns; do
        if [ -e "$from/$file.gz" ]; then gunzip -c "$from/$file.gz" >"$work/$file"; elif [ -e "$from/$file" ]; then cp "$from/$file" "$work/$file"; else continue 2; fi
    done
    measure "$name" "" "$work/circuit.zkey" "$work/witness.wtns"
done
command -v python3 >/dev/null || exit 0
for lg in ${SIZES:-8 10 11 12 13 14 15 16 17 18 19 20}; do
    squares "$lg"
    "$cuzk" setup "$work/k.r1cs" "$work/k.zkey" >"$work/log"
    measure "squares_2^$lg" $(((1 << lg) - 2)) "$work/k.zkey" "$work/w.wtns"
done
