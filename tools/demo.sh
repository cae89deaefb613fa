#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# demo.sh BUILD_DIR: proofs from start to end, made and verified on this machine.
#  1. SHA-256 of 256 bits (31,522 constraints, circom): key, proof, verification.
#  2. A Filecoin sector of 2KiB (PoRep, 2.7 million constraints): test parameters, which are kept for
#     the next time, the proof from what sealing left (commit phase 1), verification from what the
#     chain knows.
#  3. The same circuit and a Winning PoSt by the daemon, where it is built: jobs over gRPC on a Unix
#     socket, and what the daemon tells about itself.
# Everything is left in BUILD_DIR/demo; parameters of 1.1 GB in BUILD_DIR/demo/parameters, or where
# CUZK_DEMO_PARAMETERS says.
set -euo pipefail
cd "$(dirname "$0")/.."
cuzk=$1/cuzk
out=$1/demo
circuit=tests/fixtures/circom/bn254/sha256_256
sector=tests/fixtures/cases/porep-2k-1
export FIL_PROOFS_PARAMETER_CACHE=${CUZK_DEMO_PARAMETERS:-$out/parameters}

mkdir -p "$out"
for file in circuit.r1cs witness.wtns; do
    gzip -dc "$circuit/$file.gz" >"$out/$file"
done
gzip -dc "$sector/c1.json.gz" >"$out/c1.json"

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

printf '== 1. Somebody knows 256 bits with a given SHA-256 digest; the proof does not tell the bits.\n'
printf '\nA proving key for the circuit, from fresh randomness. Good for a trial: keys that guard\n'
printf 'something come from a ceremony, where no single party knows the secret.\n'
step "$cuzk" setup "$out/circuit.r1cs" "$out/circuit.zkey" --vkey "$out/verification_key.json"
printf '\nThe proof: proof.json, and the public values (the digest) in public.json.\n'
step "$cuzk" prove "$out/circuit.zkey" "$out/witness.wtns" "$out/proof.json" "$out/public.json"
printf '\nAnybody can check it with the verifying key.\n'
step "$cuzk" verify "$out/verification_key.json" "$out/public.json" "$out/proof.json"
printf '\nThe digest, as two 128-bit numbers: '
tr -d ' \n' <"$out/public.json"

printf '\n\n== 2. A Filecoin sector of 2KiB is sealed as it should be (PoRep).\n'
printf '\nTest parameters, made once: 1.1 GB in %s.\n' "$FIL_PROOFS_PARAMETER_CACHE"
step "$cuzk" params setup porep 2KiB
printf '\nThe proof, from the output of commit phase 1: its vanilla proof is checked first.\n'
step "$cuzk" prove porep "$out/c1.json" --miner-id f01001 --sector-number 568145 \
    --allow-test-key --out "$out/porep.bin"
printf '\nAnd checked against what the chain knows about the sector.\n'
cat >"$out/sector.json" <<'END'
{
 "registered_proof": 5,
 "miner_id": "f01001",
 "sector_number": 568145,
 "ticket": "461457624a15eb79ce31a8398008e34798aa6dd29a48f613e43dfb555f8324e4",
 "seed": "072db15931d00d0eafc5b8da49853977f4acdbfdc4efc16427eaa066805b44b4",
 "comm_d": "45dd923edf88e36a6c8bb27e903afd975a0a36e59c902c301b3ebd8055973427",
 "comm_r": "5fe246e9362e8817e459b202196c95963e4bc7c535f911359eb1a8cec13f6a73"
}
END
step "$cuzk" verify porep "$out/porep.bin" --request "$out/sector.json" --allow-test-key

if [ -x "$1/cuzk-server" ]; then
    printf '\n== 3. The daemon proves: jobs of two kinds over gRPC.\n'
    printf '\nTest parameters and the vanilla proof of a Winning PoSt.\n'
    step "$cuzk" params setup winning 2KiB
    step "$cuzk" gen-vanilla winning "$out/winning.json" --sector-size 2KiB --request "$out/winning-request.json"
    folder=$(cd "$out" && pwd)
    sockets=$(mktemp -d)
    export CUZK_LISTEN=unix://$sockets/cuzk.sock
    cat >"$out/cuzk.toml" <<END
[daemon]
listen = "$CUZK_LISTEN"
status_listen = "127.0.0.1:0"
[srs]
param_cache = "$FIL_PROOFS_PARAMETER_CACHE"
allow_test_keys = true
[circom]
folder = "$folder"
[journal]
path = "$sockets/journal.db"
END
    printf '\n$ %s serve -c %s &\n' "$cuzk" "$out/cuzk.toml"
    "$cuzk" serve -c "$out/cuzk.toml" 2>"$out/daemon.log" >&2 &
    daemon=$!
    trap 'kill $daemon 2>/dev/null || true; rm -rf "$sockets"' EXIT
    for _ in $(seq 100); do
        grep -q "daemon ready" "$out/daemon.log" && break
        sleep 0.1
    done
    grep -q "daemon ready" "$out/daemon.log" || { cat "$out/daemon.log"; exit 1; }
    # the system has chosen the HTTP port
    port=$(sed -n 's/.* "HTTP port" .*port=\([0-9]*\).*/\1/p' "$out/daemon.log")
    export CUZK_STATUS_LISTEN=127.0.0.1:$port
    step "$cuzk" circuits register sha256 "$folder/circuit.zkey"
    step "$cuzk" submit winning "$out/winning.json" --request "$out/winning-request.json" --request-id winning-1
    step "$cuzk" submit circom sha256 "$out/witness.wtns" --out "$out/proof.json" --public "$out/public.json"
    step "$cuzk" await winning-1 --out "$out/winning.bin"
    printf '\nBoth proofs, checked here.\n'
    step "$cuzk" verify "$out/verification_key.json" "$out/public.json" "$out/proof.json"
    step "$cuzk" verify winning "$out/winning.bin" --request "$out/winning-request.json" --allow-test-key
    printf '\nWhat the daemon did.\n'
    step "$cuzk" status
    kill -TERM $daemon
    wait $daemon
    printf '\nThe daemon has ended (its log: %s).\n' "$out/daemon.log"
fi

printf '\nThe files are in %s.\n' "$out"
