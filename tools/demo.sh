#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# demo.sh BUILD_DIR: make a key for a real circuit (SHA-256 of 256 bits, 31,522 constraints, circom),
# prove a witness of it, verify the proof. Everything is left in BUILD_DIR/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
cuzk=$1/cuzk
out=$1/demo
circuit=tests/fixtures/circom/bn254/sha256_256

mkdir -p "$out"
for file in circuit.r1cs witness.wtns; do
    gzip -dc "$circuit/$file.gz" >"$out/$file"
done

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

printf 'Proving that somebody knows 256 bits with a given SHA-256 digest, without telling the bits.\n'
printf '\n1. A proving key for the circuit, from fresh randomness. Good for a trial: keys that guard\n'
printf '   something come from a ceremony, where no single party knows the secret.\n'
step "$cuzk" setup "$out/circuit.r1cs" "$out/circuit.zkey" --vkey "$out/verification_key.json"
printf '\n2. The proof: proof.json, and the public values (the digest) in public.json.\n'
step "$cuzk" prove "$out/circuit.zkey" "$out/witness.wtns" "$out/proof.json" "$out/public.json"
printf '\n3. Anybody can check it with the verifying key.\n'
step "$cuzk" verify "$out/verification_key.json" "$out/public.json" "$out/proof.json"

printf '\nThe digest, as two 128-bit numbers: '
tr -d ' \n' <"$out/public.json"
printf '\nThe files are in %s.\n' "$out"
