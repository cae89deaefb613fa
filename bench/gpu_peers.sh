#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_peers.sh BUILD_DIR PEERS_DIR OUT_DIR [STEP...]: the same sums and transforms by another program and by ours, in
# turn on the same card (peer, ours, peer, ours: ROUNDS times, default 2). Steps: g1 g2 ntt bn254 (default all).
#
# PEERS_DIR has programs of one's own around the peer's library; one that is missing is skipped by name:
#   sppark_msm_g1, sppark_msm_g2 (bls12_381), sppark_msm_bn254: LEAST MOST STEP RUNS, powers of two
#   sppark_ntt: RUNS LG...
# They print lines "curve,operation,lg_n,median_ms,min_ms,max_ms,runs,result" as bench_gpu_steps names operations, of
# points and scalars on the device, milliseconds of the whole call.
#
# OUT_DIR gets gpu_peers.csv (every line of every round), gpu_peers_summary.csv (medians over the rounds, ratio) and
# gpu_peers.json with both, machine, driver, commit and clocks. Ends with 1 if a program failed or a result was wrong.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
. bench/gpu_result.sh
[ $# -ge 3 ] || { echo "usage: gpu_peers.sh BUILD_DIR PEERS_DIR OUT_DIR [g1|g2|ntt|bn254...]" >&2; exit 2; }
build=$1
peers=$2
out=$3
shift 3
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(g1 g2 ntt bn254)
rounds=${ROUNDS:-2}
failed=0
mkdir -p "$out"
rows=$out/gpu_peers.csv
echo "round,program,curve,operation,lg_n,median_ms,result" >"$rows"

# take ROUND PROGRAM COMMAND...: its rows of sums and transforms, by the names of its own header's first columns
take() {
    local round=$1 name=$2
    shift 2
    timeout 240 "$@" >"$out/last.csv" 2>"$out/last.err" || {
        echo "$name: failed: $*" >&2
        tail -n 3 "$out/last.err" >&2
        failed=1
    }
    awk -F, -v head="$round,$name" '$2 ~ /^(msm|ntt)/ { printf "%s,%s,%s,%s,%s,%s\n", head, $1, $2, $3, $4, $NF }' \
        "$out/last.csv" >>"$rows"
}

peer() {
    local round=$1 program=$2
    shift 2
    if [ -x "$peers/$program" ]; then
        take "$round" sppark "$peers/$program" "$@"
    elif [ "$round" = 1 ]; then
        echo "$program: not given, skipped"
    fi
}

ours() { take "$1" cuzk "$build/bench/bench_gpu_steps" --runs "${RUNS:-3}" "${@:2}"; }

step() { # step NAME ROUND
    case $1 in
    g1)
        peer "$2" sppark_msm_g1 20 26 2 "${RUNS:-3}"
        ours "$2" --curve bls12_381 --step g1 --lg-g1 26 --lg-least 20
        ;;
    g2)
        peer "$2" sppark_msm_g2 20 24 2 "${RUNS:-3}"
        ours "$2" --curve bls12_381 --step g2 --lg-g2 24 --lg-least 20
        ;;
    ntt)
        peer "$2" sppark_ntt 7 20 24 27
        ours "$2" --curve bls12_381 --step ntt --lg-ntt 20
        ours "$2" --curve bls12_381 --step ntt --lg-ntt 27
        ;;
    bn254)
        peer "$2" sppark_msm_bn254 20 26 2 "${RUNS:-3}"
        ours "$2" --curve bn254 --step g1 --lg-g1 26 --lg-least 20
        ;;
    *)
        echo "gpu_peers.sh: unknown step \"$1\", expected g1, g2, ntt or bn254" >&2
        exit 2
        ;;
    esac
}

gpu_clocks_begin "$out/clocks.txt"
trap gpu_clocks_end EXIT
for name in "${steps[@]}"; do
    for ((round = 1; round <= rounds; round++)); do
        step "$name" "$round"
    done
done
gpu_clocks_end
rm -f "$out/last.csv" "$out/last.err"

# Medians over the rounds; the spread is the largest over the smallest.
awk -F, '
    NR == 1 { next }
    $7 != "right" { wrong++ }
    {
        key = $3 "," $4 "," $5
        if (!(key in known)) { known[key] = 1; order[++n_keys] = key }
        at = key SUBSEP $2
        ms[at, ++n[at]] = $6
    }
    function middle(at,   i, j, t) {
        for (i = 2; i <= n[at]; i++)
            for (j = i; j > 1 && ms[at, j] + 0 < ms[at, j - 1] + 0; j--) { t = ms[at, j]; ms[at, j] = ms[at, j - 1]; ms[at, j - 1] = t }
        return n[at] % 2 ? ms[at, (n[at] + 1) / 2] : (ms[at, n[at] / 2] + ms[at, n[at] / 2 + 1]) / 2
    }
    END {
        print "curve,operation,lg_n,peer_ms,peer_spread,ours_ms,ours_spread,peer_over_ours"
        for (k = 1; k <= n_keys; k++) {
            p = order[k] SUBSEP "sppark"; o = order[k] SUBSEP "cuzk"
            if (!n[p] || !n[o]) continue
            pm = middle(p); om = middle(o)
            printf "%s,%.3f,%.3f,%.3f,%.3f,%.2f\n", order[k], pm, ms[p, n[p]] / ms[p, 1], om, ms[o, n[o]] / ms[o, 1], pm / om
        }
        if (wrong) print "# " wrong " results are wrong"
        exit wrong > 0
    }' "$rows" >"$out/gpu_peers_summary.csv" || failed=1
cat "$out/gpu_peers_summary.csv"
gpu_result "$out/gpu_peers.json" "$out/clocks.txt" summary="$out/gpu_peers_summary.csv" rows="$rows"
grep '"clocks"' "$out/gpu_peers.json"
exit $failed
