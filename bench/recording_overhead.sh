#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# recording_overhead.sh BUILD_DIR [MINUTES [CSV]]: what recording costs a daemon, and whether that is
# under 0.5 % of a small proof.
# Counted, under valgrind where it is installed, which no other program on the machine changes:
# instructions a job of a whole daemon without recording, with what is kept in memory (the default
# with an HTTP port), and with a file, too; and what of it recording is. All is slower there, so that
# the recording's thread wakes more often for a job.
# Measured, MINUTES (default 3) of short turns for each load in pairs (bench/recording_pairs.py): the
# same three, and a second daemon without recording: what that differs by is the measure's own error.
# On a busy machine processor time says more than jobs a second, which are those that others left.
# Loads: circom proofs of 1,000 constraints by `cuzk-server`, and the empty work by
# `cuzk-server-test`, of which nothing but the daemon's own work is left.
# CSV: where the rounds go. Needs cuzk, cuzk-server, cuzk-server-test, tests/server/rpc_load.
set -euo pipefail
build=$(cd "$1" && pwd)
minutes=${2:-3}
csv=$(realpath "${3:-/dev/null}")
cd "$(dirname "$0")/.."
cuzk=$build/cuzk
work=$(mktemp -d "${TMPDIR:-/tmp}/cuzk-recording.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
fixture=tests/fixtures/circom/bn254/multiplier1000
gzip -dc "$fixture/circuit.zkey.gz" >"$work/circuit.zkey"
cp "$fixture/witness.wtns" "$work"

start() { # start NAME STATE PROGRAM...: its process id in $pid
    local recording=()
    case $2 in
    off | again) recording=(--set recording.memory=0) ;;
    file) recording=(--record "$work/$1.rec") ;;
    esac
    mkdir -p "$work/$1.d"
    cp "$work/circuit.zkey" "$work/$1.d"
    "${@:3}" serve --listen "unix://$work/$1.sock" --journal none --set circom.folder="$work/$1.d" --log-level warn \
        --set daemon.status_listen=127.0.0.1:0 --set srs.allow_test_keys=true --set srs.param_cache="$work" \
        "${recording[@]}" >"$work/$1.log" 2>&1 &
    pid=$!
    for _ in $(seq 600); do
        [ -S "$work/$1.sock" ] &&
            "$cuzk" circuits register m "$work/$1.d/circuit.zkey" -q --connect "unix://$work/$1.sock" 2>/dev/null && return
        kill -0 $pid || break
        sleep 0.1
    done
    cat "$work/$1.log" >&2
    exit 1
}
proofs() { # proofs NAME JOBS: the command
    echo "$cuzk bench --server --connect unix://$work/$1.sock --circom m=$work/witness.wtns --jobs $2 --concurrency 2 --csv"
}
null() { echo "$build/tests/server/rpc_load unix://$work/$1.sock prove $2 64"; }

count() { # count LOAD STATE JOBS PROGRAM: instructions of the process and of recording; also to COUNTS
    start "count_$1_$2" "$2" valgrind -q --tool=callgrind --instr-atstart=no --callgrind-out-file="$work/$1.$2.cg" "$4"
    $("$1" "count_$1_$2" 4) >/dev/null
    callgrind_control -i on $pid >/dev/null 2>&1
    $("$1" "count_$1_$2" "$3") >/dev/null
    sleep 1 # the recording's thread takes the last
    callgrind_control -i off $pid >/dev/null 2>&1
    kill $pid
    wait $pid || true
    callgrind_annotate --inclusive=yes --threshold=100 "$work/$1.$2.cg" | awk -v load="$1" -v state="$2" -v n="$3" -v counts="$work/counts" '
        { gsub(",", ""); if (match($0, /\([^)]*\)/)) line = substr($0, RSTART + RLENGTH) }
        /PROGRAM TOTALS/ { all = $1 }
        line ~ /record\.c:cuzk_record_observe( |$)/ && !put { put = $1 }
        line ~ /recorder\.c:cuzk_recorder_take( |$)/ && $1 > taken { taken = $1 }
        line ~ /record\.c:run( |$)/ && $1 > taken { taken = $1 } # where valgrind saw it begin: all of the thread
        END { printf "counted, %s, %s: %.0f instructions a job; recording on the threads that work %.0f (%.4f %%), its own thread %.0f (%.4f %%)\n",
                  load, state, all / n, put / n, 100 * put / all, taken / n, 100 * taken / all
              printf "%s %s %.0f\n", load, state, all / n >>counts }'
}
measure() { # measure LOAD JOBS PROGRAM
    local states=() state
    for state in off again memory file; do
        start "$1_$state" $state "$3"
        states+=("$state=$pid=$("$1" "$1_$state" "{n}")")
    done
    python3 bench/recording_pairs.py --minutes "$minutes" --csv "$csv" "$1" "$2" "${states[@]}" | tee "$work/$1.pairs"
    "$cuzk" timeline "$work/$1_file.rec" | sed -n "1s/^/  file: /p"
}
verdict() { # of proofs: instructions that are more (user's), and the recording thread's whole time (the kernel's, too)
    awk 'FNR == NR && $1 == "proofs" { counted[$2] = $3 }
        FNR != NR && /of one processor/ { s = $1; sub(":", "", s); thread[s] = $(NF - 1) }
        END { for (s in thread) if (counted["off"]) {
                  more = 100 * (counted[s] / counted["off"] - 1)
                  printf "verdict, proofs, %s: instructions %+.3f %%, the recording thread %.4f %% of one processor: %s 0.5 %%\n",
                      s, more, thread[s], more + thread[s] < 0.5 ? "together under" : "NOT together under" } }' \
        "$work/counts" "$work/proofs.pairs"
}

printf '# bench/recording_overhead.sh BUILD %s: %s, %s processors, load %s, %s, %s, commit %s\n' "$minutes" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(cut -d' ' -f1-3 /proc/loadavg)" "$(uname -r)" \
    "$(date -u +%Y-%m-%dT%H:%MZ)" "$(git describe --always --dirty 2>/dev/null || echo '?')" | tee -a "$csv"
echo "load,state,round,jobs,jobs_per_s,cpu_ns_a_job,of_it_recording_thread_ns" >>"$csv"
if command -v valgrind >/dev/null; then
    for state in off memory file; do
        count proofs $state 3 "$build/cuzk-server"
        count null $state 1000 "$build/cuzk-server-test"
    done
else
    echo "not counted: valgrind is not installed"
fi
measure proofs 4 "$build/cuzk-server"
measure null 400 "$build/cuzk-server-test"
[ ! -f "$work/counts" ] || verdict
