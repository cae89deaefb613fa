#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# gpu_cards.sh BUILD_DIR OUT_DIR [N...]: PoReps of 32GiB on 1, 2, 4 and 8 cards of one engine, those
# that the machine has (or the numbers given, of which the first is 1), keys made on the cards. For
# each number of cards: one proof alone, then a queue of QUEUE (4) jobs a card, by bench_gpu_full.
# Before each number but the first the model's prediction from the recording of one card (cuzk
# simulate) is written down; afterwards the run stands beside it. With two cards or more the queue is
# run once more and one card is lost in it (LOSS=no leaves that out; the bench must be built with the
# tests). A run takes the making of a key on each card and at most eight jobs' time of one card; where
# a command may not take as long as all of them, call it several times with folders of their own
# (1 2, then 1 4). Leaves in OUT_DIR cards_N.log, cards_N.cuzkrec.gz, predicted_N.json, cards.csv,
# loss.csv and cards.json (gpu_result.sh). Ends with 1 if a run failed, a proof does not verify, or a
# goal is missed:
#
#   throughput of one card's: 1.95, 3.8, 7.4 at 2, 4, 8 cards; a proof alone at most 0.55 at 2
#   the run within 5 % of its prediction
#   a card lost: no job lost, and the rest at least as fast as it is without that card, less 5 %
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
. bench/gpu_result.sh
build=$1
out=$2
shift 2
mkdir -p "$out"
out=$(realpath "$out")
program=$(realpath "$build/cuzk")
work=$(mktemp -d)
queue=${QUEUE:-4}
failed=0

fail() {
    echo "gpu_cards.sh: $*"
    failed=1
}

end() {
    gpu_clocks_end
    rm -rf "$work"
}
trap end EXIT

counts=("$@")
if [ ${#counts[@]} -eq 0 ]; then
    present=$("$program" devices --json | grep -o '"usable": *true' | wc -l)
    for n in 1 2 4 8; do
        [ "$n" -gt "$present" ] || counts+=("$n")
    done
fi
if [ "${counts[0]:-0}" != 1 ]; then
    echo "gpu_cards.sh: one card comes first, since the others are compared with it; found: ${counts[*]:-no card}" >&2
    exit 2
fi

# measured NAME STEP: the median of a step of a run's table
measured() {
    awk -F, -v step="$2" '$5 == step && ($3 == "warm" || $3 == "queue") { print $6; exit }' "$out/$1.log"
}

# number JSON KEY: of the first variant
number() {
    grep -o "\"$2\": *[0-9.]*" "$1" | head -n 1 | sed 's/.*: *//'
}

limit() {
    grep -o '"limit": *"[^"]*"' "$1" | head -n 1 | sed 's/.*: *"\(.*\)"/\1/'
}

# holds EXPRESSION: of awk
holds() {
    awk "BEGIN { exit !($1) }"
}

ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { if (b + 0 > 0) printf "%.4f", a / b; else printf "-" }'
}

# full NAME CARDS OPTIONS...: a run, its proof verified by cuzk, its recording kept
full() {
    local name=$1 n=$2 code=0
    shift 2
    rm -f "$work/porep.bin" "$work/journal.db"*
    timeout 560 "$build/bench/bench_gpu_full" porep "$work/porep.van" "$work/porep.req" "$work" \
        --devices "$n" "$@" >"$out/$name.log" 2>&1 || code=$?
    cat "$out/$name.log"
    [ "$code" -eq 0 ] || fail "$name: exit code $code"
    FIL_PROOFS_PARAMETER_CACHE="$work" "$program" verify porep "$work/porep.bin" --request "$work/porep.req" \
        --allow-test-key || fail "$name: the last job's proof does not verify"
    [ ! -e "$work/porep.cuzkrec" ] || gzip -c "$work/porep.cuzkrec" >"$out/$name.cuzkrec.gz"
    return "$code"
}

# Processors as the engine counts them (base/pool.c): those that the process may run on, at most the group's quota
cores() {
    local n max=${CPU_MAX:-/sys/fs/cgroup/cpu.max}
    n=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
    [ -r "$max" ] || max=/dev/null
    awk -v n="$n" '
        $1 ~ /^[0-9]+$/ && $2 > 0 { quota = int(($1 + $2 - 1) / $2) }
        END { print (quota > 0 && quota < n ? quota : n) }' "$max"
}

least() {
    echo $(($1 < $2 ? $1 : $2))
}

# The recording's jobs, as often as the queue is longer than that of the recording
predict() {
    local n=$1 cores
    cores=$(cores)
    "$program" simulate "$out/cards_1.cuzkrec.gz" --devices "$n" --cores "$cores" \
        --witness-threads "$(least "$cores" $((n * 4 > 18 ? n * 4 : 18)))" --finishers $((n > 2 ? n : 2)) --verifiers $((n > 2 ? n : 2)) \
        --backlog --repeat "$n" --json >"$out/predicted_$n.json" || fail "no prediction for $n cards"
    echo "predicted for $n cards, before the run: $(number "$out/predicted_$n.json" units_per_s) partitions a second," \
        "the limit: $(limit "$out/predicted_$n.json")"
}

# Goals of throughput, of one card's.
goal() {
    case $1 in
    2) echo 1.95 ;;
    4) echo 3.8 ;;
    8) echo 7.4 ;;
    *) echo 0 ;;
    esac
}

"$program" gen-vanilla porep "$work/porep.van" --request "$work/porep.req" --sector-size 32GiB >/dev/null ||
    exit 1
echo "cards,partitions_per_s,of_one_card,goal,alone_ms,alone_of_one_card,predicted_per_s,off_percent,limit" >"$out/cards.csv"
echo "cards,lost,partitions_per_s,of_the_rest_expected" >"$out/loss.csv"
gpu_clocks_begin "$out/clocks_cards.txt"
one_rate=0 one_alone=0
for n in "${counts[@]}"; do
    [ "$n" = 1 ] || predict "$n"
    full "cards_$n" "$n" --runs 3 --queue $((queue * n)) || continue
    rate=$(measured "cards_$n" "partitions a second")
    alone=$(measured "cards_$n" total)
    if [ "$n" = 1 ]; then
        one_rate=$rate
        one_alone=$alone
        predict 1
    fi
    predicted=$(number "$out/predicted_$n.json" units_per_s)
    off=$(awk -v p="$predicted" -v m="$rate" 'BEGIN { if (m > 0) printf "%.2f", 100 * (p / m - 1); else printf "-" }')
    times=$(ratio "$rate" "$one_rate")
    share=$(ratio "$alone" "$one_alone")
    echo "$n,$rate,$times,$(goal "$n"),$alone,$share,$predicted,$off,$(limit "$out/predicted_$n.json")" >>"$out/cards.csv"
    holds "$times >= $(goal "$n")" || fail "$n cards: $times times the throughput of one; the goal is $(goal "$n")"
    [ "$n" != 2 ] || holds "$share <= 0.55" || fail "2 cards: one proof takes $share of one card's time; the goal is 0.55"
    [ "$n" = 1 ] || holds "$off <= 5 && $off >= -5" || fail "$n cards: the prediction is $off % off; the goal is 5"
    if [ "$n" -ge 2 ] && [ "${LOSS:-yes}" = yes ]; then
        # one of the cards, when a third of the queue has begun there
        full "loss_$n" "$n" --runs 0 --queue $((queue * n)) --fault "prove@1+$((queue * 10 / 3))*1:E_DEVICE_LOST" || continue
        grep -q '^# device 1 was lost' "$out/loss_$n.log" || fail "loss_$n: no card was lost"
        rate=$(measured "loss_$n" "partitions a second")
        expected=$(ratio "$rate" "$(awk -v r="$one_rate" -v n="$n" 'BEGIN { print r * (n - 1) }')")
        echo "$n,1,$rate,$expected" >>"$out/loss.csv"
        holds "$expected >= 0.95" || fail "loss_$n: the other cards made $expected of what they make"
    fi
done
gpu_clocks_end
gpu_result "$out/cards.json" "$out/clocks_cards.txt" cards="$out/cards.csv" loss="$out/loss.csv"
cat "$out/cards.csv" "$out/loss.csv"
exit $failed
