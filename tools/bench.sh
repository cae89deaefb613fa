#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# bench.sh BUILD_DIR [RUNS]: the benchmark programs, then whole proofs, as CSV in build/bench.
#
# Whole proofs are timed as processes, in turn with the peers that are given, so that all meet the
# same machine: RAPIDSNARK_PROVER=/path/to/prover (BN254 keys), SNARKJS=/path/to/snarkjs.
# ZKEYS="key.zkey:witness.wtns …" adds keys of your own. Results are minima, medians and maxima; on a
# machine with noisy neighbours compare minima. Last, Filecoin's proofs of 2KiB sectors, against the
# program that CUZK_REFERENCE names, if any (tools/bench_filecoin.py).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
command -v python3 >/dev/null || {
    echo "bench.sh: python3 is missing (make check installs it)" >&2
    exit 1
}
runs=${2:-9}
out=build/bench
mkdir -p "$out"
{
    printf 'commit,%s\n' "$(git describe --always --dirty 2>/dev/null || echo unknown)"
    printf 'cpu,%s\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
    printf 'processors,%s\n' "$(nproc)"
    printf 'kernel,%s\n' "$(uname -r)"
    printf 'cuzk,%s\n' "$("$build/cuzk" version)"
} >"$out/machine.csv"
cat "$out/machine.csv"

for program in "$build"/bench/bench_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    name=$(basename "$program")
    case $name in bench_gpu*) continue ;; esac # bench/gpu.sh
    echo "== $name"
    "$program" | tee "$out/$name.csv"
done

echo "== whole proofs"
cuzk=$PWD/$build/cuzk
keys=()
for curve in bn254 bls12381; do
    for circuit in multiplier2 poseidon2 multiplier1000 manypublic range64 eddsa_poseidon sha256_256; do
        folder=tests/fixtures/circom/$curve/$circuit
        [ -d "$folder" ] || continue
        work=$out/$curve-$circuit
        mkdir -p "$work"
        for file in circuit.zkey circuit.r1cs witness.wtns; do
            if [ -f "$folder/$file" ]; then
                cp "$folder/$file" "$work/$file"
            elif [ -f "$folder/$file.gz" ]; then
                gzip -dc "$folder/$file.gz" >"$work/$file"
            fi
        done
        [ -f "$work/circuit.zkey" ] || "$cuzk" setup "$work/circuit.r1cs" "$work/circuit.zkey" --quiet
        keys+=("$work/circuit.zkey:$work/witness.wtns")
    done
done
for pair in ${ZKEYS:-}; do
    keys+=("$pair")
done
python3 tools/bench_prove.py --cuzk "$cuzk" --runs "$runs" --out "$out/prove.csv" "${keys[@]}"

echo "== Filecoin, 2KiB"
python3 tools/bench_filecoin.py --cuzk "$cuzk" --runs 3 --folder "$out/filecoin" --out "$out/filecoin.csv"
