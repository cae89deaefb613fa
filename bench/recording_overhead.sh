#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# recording_overhead.sh BUILD_DIR [ROUNDS [SECONDS]]: what recording costs a daemon, measured in pairs.
# Two daemons stay up, one without any recording, one that records into a file and keeps the last
# minutes in memory, as it does by default with an HTTP port. They are given the same load in turns,
# off-on-on-off in each round, about SECONDS long each: small circom proofs by `cuzk serve`, and the
# empty work by `cuzk-server-test`, of which nothing but the daemon's own work is left. Of each turn:
# jobs a second, and the daemon's processor time a job (all threads, from /proc/PID/task/*/schedstat).
# At the end the mean of on/off - 1 over the rounds with its standard error, and what share of the
# recording daemon's processor time its recording thread took; putting spans is not in that: their
# number a job, times what bench_timeline says of one. On a busy machine the processor time says
# more than jobs a second, which are those that others left. Needs cuzk, cuzk-server,
# cuzk-server-test and tests/server/rpc_load in BUILD_DIR.
set -euo pipefail
build=$(cd "$1" && pwd)
rounds=${2:-20}
seconds=${3:-2}
cd "$(dirname "$0")/.."
cuzk=$build/cuzk
work=$(mktemp -d "${TMPDIR:-/tmp}/cuzk-recording.XXXXXX")
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
fixture=tests/fixtures/circom/bn254/multiplier1000
gzip -dc "$fixture/circuit.zkey.gz" >"$work/circuit.zkey"
cp "$fixture/witness.wtns" "$work"

start() { # start NAME PROGRAM on|off
    local recording=(--set recording.memory=0)
    [ "$3" = on ] && recording=(--record "$work/$1.rec")
    mkdir -p "$work/$1.d"
    "$2" serve --listen "unix://$work/$1.sock" --journal none --set circom.folder="$work/$1.d" --log-level warn \
        --set srs.allow_test_keys=true --set srs.param_cache="$work" "${recording[@]}" >"$work/$1.log" 2>&1 &
    pids+=($!)
    eval "pid_$1=$!"
    for _ in $(seq 300); do
        [ -S "$work/$1.sock" ] && "$cuzk" status --connect "unix://$work/$1.sock" >/dev/null 2>&1 && return
        kill -0 $! || break
        sleep 0.1
    done
    cat "$work/$1.log" >&2
    exit 1
}
thread_share() { # thread_share PID: of its processor time, of the thread "record"
    local task
    for task in /proc/"$1"/task/*; do
        echo "$(cat "$task/comm") $(cut -d' ' -f1 "$task/schedstat")"
    done | awk '{ s += $NF } $1 == "record" { r += $NF } END { printf "%.3f %%", 100 * r / s }'
}
cpu_ns() { awk '{ s += $1 } END { printf "%.0f", s }' /proc/"$1"/task/*/schedstat; }
proofs() { # proofs NAME JOBS
    "$cuzk" bench --server --connect "unix://$work/$1.sock" --circom m="$work/witness.wtns" --jobs "$2" --concurrency 4 --csv
}
null() { "$build/tests/server/rpc_load" "unix://$work/$1.sock" prove "$2" 64; }
turn() { # turn LOAD NAME JOBS: "jobs a second, ns a job"
    local pid before begin
    eval "pid=\$pid_$2"
    before=$(cpu_ns "$pid")
    begin=$EPOCHREALTIME
    "$1" "$2" "$3" >/dev/null
    awk -v a="$before" -v b="$(cpu_ns "$pid")" -v n="$3" -v t0="$begin" -v t1="$EPOCHREALTIME" \
        'BEGIN { printf "%.2f %.0f", n / (t1 - t0), (b - a) / n }'
}
measure() { # measure LOAD OFF ON
    local n=200 i a b c d rate
    "$1" "$2" $n >/dev/null
    "$1" "$3" $n >/dev/null
    read -r rate _ <<<"$(turn "$1" "$2" $n)"
    n=$(awk -v r="$rate" -v s="$seconds" 'BEGIN { n = int(r * s); print n < 20 ? 20 : n }')
    for i in $(seq "$rounds"); do
        a=$(turn "$1" "$2" "$n")
        b=$(turn "$1" "$3" "$n")
        c=$(turn "$1" "$3" "$n")
        d=$(turn "$1" "$2" "$n")
        echo "$a $b $c $d" | awk -v w="$1" -v i="$i" -v n="$n" '{ printf "%s,%d,%d,%.1f,%.1f,%.0f,%.0f\n", w, i, n,
            ($1 + $7) / 2, ($3 + $5) / 2, ($2 + $8) / 2, ($4 + $6) / 2 }'
    done | tee "$work/$1.csv"
    awk -F, -v w="$1" '{ r = 100 * ($5 / $4 - 1); c = 100 * ($7 / $6 - 1); sr += r; qr += r * r; sc += c; qc += c * c; n++ }
        END { e = n > 1 ? 1 / sqrt(n - 1) : 0
              printf "# %s: jobs a second %+.2f %% (standard error %.2f), processor time a job %+.2f %% (%.2f)\n", w,
                  sr / n, e * sqrt(qr / n - (sr / n) ^ 2), sc / n, e * sqrt(qc / n - (sc / n) ^ 2) }' "$work/$1.csv"
}

printf '# bench/recording_overhead.sh BUILD %s %s: %s, %s processors, load %s, %s, %s, commit %s\n' "$rounds" "$seconds" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(cut -d' ' -f1-3 /proc/loadavg)" "$(uname -r)" \
    "$(date -u +%Y-%m-%dT%H:%MZ)" "$(git describe --always --dirty 2>/dev/null || echo '?')"
start off "$cuzk" off
start on "$cuzk" on
start null_off "$build/cuzk-server-test" off
start null_on "$build/cuzk-server-test" on
for name in off on; do
    cp "$work/circuit.zkey" "$work/$name.d"
    "$cuzk" circuits register m "$work/$name.d/circuit.zkey" -q --connect "unix://$work/$name.sock"
done
echo "load,round,jobs,off_per_s,on_per_s,off_cpu_ns,on_cpu_ns"
measure proofs off on
measure null null_off null_on
for name in on null_on; do
    eval "pid=\$pid_$name"
    echo "# $name: the recording thread took $(thread_share "$pid") of the daemon's processor time"
    "$cuzk" timeline "$work/$name.rec" | sed -n "1s/^/# $name: /p"
done
