#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# daemon_overhead.sh BUILD_DIR [ROUNDS [JOBS]]: what the daemon adds to the time of a small proof. A
# circuit of one constraint, one job at a time, in turn: through a daemon without journal, in
# process, through a daemon with one, and a commit of that journal's disk alone. Each round takes
# JOBS of each; prints the rounds, then the medians over them of what is added. Wants an idle
# machine: on a busy one wake-ups of sleeping processors, most of what is added, do not happen, and
# other programs take their turns. Needs cuzk, cuzk-server and bench/bench_journal in BUILD_DIR.
# FOLDER: where the journals are made (default: a temporary one); its disk is what is measured.
set -euo pipefail
build=$(cd "$1" && pwd)
rounds=${2:-7}
jobs=${3:-2000}
cd "$(dirname "$0")/.."
cuzk=$build/cuzk
work=$(mktemp -d "${FOLDER:-${TMPDIR:-/tmp}}/cuzk-overhead.XXXXXX")
trap 'kill ${off:-} ${on:-} 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
fixture=tests/fixtures/circom/bn254/multiplier2
cp $fixture/circuit.zkey $fixture/witness.wtns "$work"

start() { # start NAME JOURNAL: its process id in $pid
    "$cuzk" serve --listen "unix://$work/$1.sock" --journal "$2" --set circom.folder="$work" \
        --set srs.allow_test_keys=true --set srs.param_cache="$work" --log-level warn >"$work/$1.log" 2>&1 &
    pid=$!
    for _ in $(seq 300); do
        [ -S "$work/$1.sock" ] && "$cuzk" circuits register m2 "$work/circuit.zkey" -q --connect "unix://$work/$1.sock" 2>/dev/null && return
        kill -0 $pid || break
        sleep 0.1
    done
    cat "$work/$1.log" >&2
    exit 1
}
through() { # through NAME N: min and median in ms
    "$cuzk" bench --server --connect "unix://$work/$1.sock" --circom m2="$work/witness.wtns" --jobs "$2" \
        --concurrency 1 --csv | awk -F, 'END { printf "%.3f %.3f", $4 * 1000, $5 * 1000 }'
}
in_process() { # the same
    "$cuzk" bench "$work/circuit.zkey" "$work/witness.wtns" --allow-test-key --runs "$1" --csv |
        awk -F, '$7 == "total" { printf "%s %s", $9, $10 }'
}
commit() {
    rm -f "$work"/commit.db*
    "$build/bench/bench_journal" "$work/commit.db" $((jobs / 10 + 20)) 1 300 | awk -F, 'END { print $6 }'
}
counts() { # counts PID: voluntary and other switches, processor ticks, of all its threads
    cat /proc/"$1"/task/*/status | awk -v t="$(awk '{ print $14 + $15 }' /proc/"$1"/stat)" \
        '/^voluntary/ { v += $2 } /^nonvoluntary/ { n += $2 } END { print v, n, t }'
}

start off none
off=$pid
start on "$work/journal.db"
on=$pid
for name in off on; do through $name 200 >/dev/null; done
printf '# %s, %s processors, load %s, %s, %s\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)" \
    "$(cut -d' ' -f1-3 /proc/loadavg)" "$(uname -r)" "$(date -u +%Y-%m-%dT%H:%MZ)"
echo "# milliseconds, $jobs jobs a round; switches and processor time of the daemon without journal, a job"
echo "round,daemon_min,daemon_p50,process_min,process_p50,journal_min,journal_p50,commit_p50,added_p50,journal_added_p50,voluntary,involuntary,cpu_ms"
for round in $(seq "$rounds"); do
    read -r v0 n0 t0 <<<"$(counts "$off")"
    a=$(through off "$jobs")
    read -r v1 n1 t1 <<<"$(counts "$off")"
    b=$(in_process "$jobs")
    c=$(through on "$jobs")
    d=$(commit)
    echo "$round $a $b $c $d $((v1 - v0)) $((n1 - n0)) $((t1 - t0))" |
        awk -v jobs="$jobs" -v hz="$(getconf CLK_TCK)" '{ printf "%d,%s,%s,%s,%s,%s,%s,%s,%.3f,%.3f,%.2f,%.2f,%.3f\n", $1, $2, $3, $4, $5, $6, $7, $8,
            $3 - $5, $7 - $5, $9 / jobs, $10 / jobs, $11 / hz * 1000 / jobs }'
done | tee "$work/rounds.csv"
median() { cut -d, -f"$1" "$work/rounds.csv" | sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
printf '# added at the median: %s ms without journal, %s ms with it; a commit of the journal alone: %s ms\n' \
    "$(median 9)" "$(median 10)" "$(median 8)"
