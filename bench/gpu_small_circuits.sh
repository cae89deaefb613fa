#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_small_circuits.sh BUILD_DIR OUT_DIR [PEERS_DIR]: from how many constraints on a card is faster, and whole circom
# proofs beside rapidsnark on all of the host's processors. BN254: chains of squares (values as wide as the field) and of
# exclusive ors (bits) of 2^8 … 2^20 constraints, and fixtures; a large one, sha256_2048, from the folder FIXTURES.
#
# Table: milliseconds of one proof. once: the whole process, key read and written files included (least of RUNS).
# resident: in a process that has the key open, on the card where it is one ("cuzk bench"; rapidsnark's own library),
# least and median. Each circuit's last proofs are verified. Without PEERS_DIR (rapidsnark_prover KEY WITNESS PROOF PUBLIC
# and rapidsnark_loop KEY WITNESS RUNS PROOF PUBLIC, which prints "…,min_ms,median_ms,…" under a header), or where one is
# missing, rapidsnark is skipped by name.
#
# From the environment: DEVICES ("cpu cpu:4 cuda:0"; cpu:N is N threads, measured up to 2^THREADS_TO, 14), RUNS (3), SQUARES and
# XORS (exponents), CIRCUITS (NAME:CONSTRAINTS:LG of fixtures), PEER_FROM (16) and PEER_TO (exponents with rapidsnark), FLOOR (20:
# also print the floor of the kernels of a proof of 2^20; empty: do not). OUT_DIR gets gpu_small_circuits.csv and .json.
# About three minutes on an H200 with 16 processors.
set -euo pipefail
cd "$(dirname "$0")/.."
. bench/gpu_result.sh
[ $# -ge 2 ] || { echo "usage: gpu_small_circuits.sh BUILD_DIR OUT_DIR [PEERS_DIR]" >&2; exit 2; }
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
peers=${3:+$(realpath "$3")}
runs=${RUNS:-3}
work=$(mktemp -d)
trap 'gpu_clocks_end; rm -rf "$work"' EXIT
cuzk=$build/cuzk
table=$out/gpu_small_circuits.csv
key=$work/k.zkey
witness=$work/w.wtns

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

row() { # row CIRCUIT CONSTRAINTS PROGRAM DEVICE ONCE MIN,MEDIAN: verifies the proof that is there
    "$cuzk" verify "$key" "$work/public.json" "$work/proof.json" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
    printf '%s,%s,%s,%s,%s,%s\n' "$@" | tee -a "$table"
}

# measure NAME CONSTRAINTS LG: of the key and witness in $work
measure() {
    local device options once resident many=$((${3} > 16 ? 7 : 20))
    for device in ${DEVICES:-cpu cpu:4 cuda:0}; do
        options=(--allow-test-key --device "$device")
        if [[ $device == cpu:* ]]; then
            [ "$3" -le "${THREADS_TO:-14}" ] || continue
            options=(--allow-test-key --threads "${device#cpu:}")
        fi
        once=$(best "$cuzk" prove "$key" "$witness" "$work/proof.json" "$work/public.json" "${options[@]}")
        "$cuzk" bench "$key" "$witness" "${options[@]}" --runs "$many" --csv >"$work/stages"
        resident=$(awk -F, '$7 == "total" { print $9 "," $10 }' "$work/stages")
        row "$1" "$2" cuzk "$device" "$once" "$resident"
        [ "$3" -lt 18 ] || awk -F, -v head="# $1, $device, medians of its stages:" '
            NR > 1 && $7 != "total" {
                name = $7
                for (i = 8; i <= NF - 4; i++) name = name "," $i
                gsub(/"/, "", name)
                text = text " " name " " $(NF - 1) ";"
            }
            END { print head text }' "$work/stages" | tee -a "$table"
    done
    if [ "$3" -ge "${PEER_FROM:-16}" ] && [ "$3" -le "${PEER_TO:-99}" ] && [ -x "$peers/rapidsnark_prover" ]; then
        once=$(best "$peers/rapidsnark_prover" "$key" "$witness" "$work/proof.json" "$work/public.json")
        resident=,
        [ ! -x "$peers/rapidsnark_loop" ] ||
            resident=$("$peers/rapidsnark_loop" "$key" "$witness" "$runs" "$work/proof.json" "$work/public.json" |
                awk -F, 'NR == 2 { print $2 "," $3 }')
        row "$1" "$2" rapidsnark cpu "$once" "$resident"
    fi
}

made() { # made KIND LG
    local n=$(((1 << $2) - 2))
    "$build/bench/make_circuit" "$1" $n "$work/k.r1cs" "$witness"
    "$cuzk" setup "$work/k.r1cs" "$key" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
    rm -f "$work/k.r1cs"
    measure "$1 2^$2" $n "$2"
}

unpack() { # unpack CIRCUIT FILE TO: a fixture's FILE or FILE.gz, if it is there
    local folder
    for folder in ${FIXTURES:-} tests/fixtures/circom/bn254; do
        if [ -e "$folder/$1/$2.gz" ]; then gunzip -c "$folder/$1/$2.gz" >"$3" && return; fi
        if [ -e "$folder/$1/$2" ]; then cp "$folder/$1/$2" "$3" && return; fi
    done
    return 1
}

for program in rapidsnark_prover rapidsnark_loop; do
    [ -x "$peers/$program" ] || echo "$program: not given, skipped"
done
echo "circuit,constraints,program,device,once_ms,resident_min_ms,resident_median_ms" | tee "$table"
gpu_clocks_begin "$out/clocks.txt"
for lg in ${SQUARES-8 10 12 13 14 15 16 18 20}; do made squares "$lg"; done
for lg in ${XORS-10 12 14 16 18 20}; do made xors "$lg"; done
for name in ${CIRCUITS-poseidon2:517:10 range64:4289:13 eddsa_poseidon:8086:13 sha256_256:31522:15 sha256_2048:158370:18}; do
    IFS=: read -r name n lg <<<"$name"
    unpack "$name" witness.wtns "$witness" || { echo "$name: not given, skipped"; continue; }
    if ! unpack "$name" circuit.zkey "$key"; then
        unpack "$name" circuit.r1cs "$work/k.r1cs" || { echo "$name: not given, skipped"; continue; }
        "$cuzk" setup "$work/k.r1cs" "$key" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    fi
    measure "$name" "$n" "$lg"
done
gpu_clocks_end

# From which size on the card is always faster, of the chains; and what it is worth at each size.
awk -F, '
    $1 !~ /^(squares|xors) / { next }
    $3 == "rapidsnark" { peer[$1] = $7; peer_once[$1] = $5; next }
    $4 == "cuda:0" { card[$1] = $7; card_once[$1] = $5; next }
    {
        split($1, part, " ")
        at = part[1] ", " $4
        if (!(at in sizes)) order[++n] = at
        i = ++sizes[at]
        circuit[at, i] = $1; resident[at, i] = $7; once[at, i] = $5; constraints[at, i] = $2
    }
    function from(at, cpu, cuda,   i, least) {
        for (i = 1; i <= sizes[at]; i++) {
            if (!(circuit[at, i] in cuda) || cuda[circuit[at, i]] + 0 >= cpu[at, i] + 0) least = ""
            else if (least == "") least = constraints[at, i]
        }
        return least == "" ? "more than " constraints[at, sizes[at]] : least
    }
    END {
        for (k = 1; k <= n; k++) {
            at = order[k]
            for (i = 1; i <= sizes[at]; i++) {
                c = circuit[at, i]
                if (!(c in peer) || !(c in card)) continue
                printf "# %s: rapidsnark over cuda:0: resident %.1f, whole process %.1f", c, peer[c] / card[c], peer_once[c] / card_once[c]
                printf "; over %s: %.1f, %.1f\n", at, peer[c] / resident[at, i], peer_once[c] / once[at, i]
            }
            printf "# %s: cuda:0 is faster from %s constraints on with the key resident, from %s on once\n", at,
                from(at, resident, card), from(at, once, card_once)
        }
    }' "$table" | tee "$work/summary"
cat "$work/summary" >>"$table"

# The floors of the kernels of the largest chain's proof, as bench_gpu_steps counts them: the sums A, B1, C and H in G1, B2
# in G2, the quotient.
floor() { # floor LG
    {
        "$build/bench/bench_gpu_steps" --curve bn254 --step g1 --lg-g1 "$1" --lg-least "$1" --runs 3
        "$build/bench/bench_gpu_steps" --curve bn254 --step g2 --lg-g2 "$1" --lg-least "$1" --runs 3
        "$build/bench/bench_gpu_steps" --curve bn254 --step ntt --lg-ntt "$1" --runs 3
    } >"$work/steps"
    awk -F, -v lg="$1" '
        $3 == lg { ms[$2] = $4; least[$2] = $5 }
        function sums(of, form) { return form == "bits" ? 3 * of["bits g1"] + of["bits g2"] + of["msm g1"] : 4 * of["msm g1"] + of["msm g2"] }
        END {
            q = "quotient circom"
            printf "# 2^%d, floors of the kernels: squares %.1f ms, xors %.1f ms; the same steps one by one: %.1f, %.1f ms\n", lg,
                sums(least) + least[q], sums(least, "bits") + least[q], sums(ms) + ms[q], sums(ms, "bits") + ms[q]
        }' "$work/steps"
}
if [ -n "${FLOOR-20}" ]; then floor "${FLOOR-20}" | tee -a "$table"; fi

gpu_result "$out/gpu_small_circuits.json" "$out/clocks.txt" proofs="$table"
grep '"clocks"' "$out/gpu_small_circuits.json"
