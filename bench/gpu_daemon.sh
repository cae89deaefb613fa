#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_daemon.sh BUILD_DIR OUT_DIR: the daemon on the machine's devices: a proof of every Filecoin
# kind (2KiB sectors) and of a circom circuit, each verified; then load, kind by kind, mixed, and
# Winning PoSts under a load of PoReps. Needs cuzk and cuzk-server in BUILD_DIR, and the source
# tree. Leaves tables, log, metrics and status in OUT_DIR; ends with 1 if something failed.
set -euo pipefail
cd "$(dirname "$0")/.."
cuzk=$1/cuzk
out=$2
work=$(mktemp -d)
trap 'kill "${daemon:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out"
export FIL_PROOFS_PARAMETER_CACHE=$work/params CUZK_LISTEN=unix://$work/cuzk.sock
circuit=tests/fixtures/circom/bn254/sha256_256
for file in circuit.r1cs witness.wtns; do
    gzip -dc "$circuit/$file.gz" >"$work/$file"
done
"$cuzk" setup "$work/circuit.r1cs" "$work/circuit.zkey" --vkey "$work/vkey.json" -q
for kind in porep snap window winning; do
    "$cuzk" params setup "$kind" 2KiB -q
    "$cuzk" gen-vanilla "$kind" "$work/$kind.json" --sector-size 2KiB --request "$work/$kind-request.json" -q
done

"$cuzk" serve --listen "$CUZK_LISTEN" --status-listen 127.0.0.1:9821 --journal "$work/journal.db" --set srs.allow_test_keys=true \
    --set srs.param_cache="$FIL_PROOFS_PARAMETER_CACHE" --set srs.circuit_cache="$work" --set circom.folder="$work" \
    --set srs.preload=porep-2k,snap-2k,wpost-2k,winning-2k >"$out/daemon.log" 2>&1 &
daemon=$!
export CUZK_STATUS_LISTEN=127.0.0.1:9821
for _ in $(seq 1200); do
    grep -q '"ready"' "$out/daemon.log" && break
    kill -0 $daemon || { cat "$out/daemon.log"; exit 1; }
    sleep 0.1
done
grep -E '"device"|memory budget|parameters loaded|"ready"' "$out/daemon.log"
"$cuzk" circuits register sha256 "$work/circuit.zkey"

for kind in porep snap window winning; do
    "$cuzk" submit "$kind" "$work/$kind.json" --request "$work/$kind-request.json" --wait --out "$work/$kind.bin"
    "$cuzk" verify "$kind" "$work/$kind.bin" --request "$work/$kind-request.json" --allow-test-key 2>/dev/null
done
"$cuzk" submit circom sha256 "$work/witness.wtns" --out "$work/proof.json" --public "$work/public.json"
"$cuzk" verify "$work/vkey.json" "$work/public.json" "$work/proof.json"

load() { # load NAME MIX OPTIONS...
    local name=$1 mix=$2
    shift 2
    printf '\n%s (%s, %s)\n' "$name" "$mix" "$*"
    "$cuzk" bench --server --mix "$mix" --circom sha256="$work/witness.wtns" \
        --porep "$work/porep.json" --porep-request "$work/porep-request.json" \
        --snap "$work/snap.json" --snap-request "$work/snap-request.json" \
        --window "$work/window.json" --window-request "$work/window-request.json" \
        --winning "$work/winning.json" --winning-request "$work/winning-request.json" "$@"
}
{
    for kind in porep:100 snap:150 window:400 winning:300 circom:1000; do
        load "one at a time" "${kind%:*}:1" --jobs $((${kind#*:} / 5)) --concurrency 1
        load "eight at once" "${kind%:*}:1" --jobs "${kind#*:}" --concurrency 8
    done
    load "mixed" porep:1,snap:1,window:2,winning:1,circom:5 --jobs 400 --concurrency 32
    load "PoReps behind" porep:1 --jobs 150 --concurrency 16 >"$work/behind.txt" &
    sleep 1
    load "Winning PoSts in front of sixteen PoReps" winning:1 --jobs 20 --concurrency 1
    wait $!
    cat "$work/behind.txt"
} | tee "$out/load.txt"
curl -s http://127.0.0.1:9821/status >"$out/status.json" || true
"$cuzk" metrics >"$out/metrics.txt"
"$cuzk" status | tee "$out/status.txt"
grep -E 'VmHWM|VmRSS' /proc/$daemon/status | tee "$out/memory.txt"
kill -TERM $daemon
wait $daemon
tail -2 "$out/daemon.log"
