#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Time whole proofs as processes: bench_prove.py --cuzk PROGRAM --out FILE.csv KEY:WITNESS...

For each key and for 1 and 2 threads the provers run in turn, RUNS times after one that is not
counted. Peers: RAPIDSNARK_PROVER (it takes its number of threads from the machine; bound to one
processor it still makes as many) and SNARKJS, from the environment. The CSV has one line per
program, key and number of threads: seconds (minimum, median, maximum) and peak memory, which is
never below what this script itself has when it starts a process (some 12 MB).
"""
import argparse, csv, os, statistics, struct, subprocess, sys, tempfile, time


def curve_of(zkey):
    """8-byte base field elements tell the curve: 32 bytes on BN254, 48 on BLS12-381."""
    with open(zkey, "rb") as f:
        f.seek(8)
        n = struct.unpack("<I", f.read(4))[0]
        for _ in range(n):
            kind, size = struct.unpack("<IQ", f.read(12))
            if kind == 2:
                return "bn128" if struct.unpack("<I", f.read(4))[0] == 32 else "bls12381"
            f.seek(size, os.SEEK_CUR)
    sys.exit("no header in " + zkey)


def run(command, cpus):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("%s failed: %s" % (" ".join(command), err.decode(errors="replace")))
    return seconds, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuzk", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("keys", nargs="+")
    options = parser.parse_args()
    rapidsnark, snarkjs = os.environ.get("RAPIDSNARK_PROVER"), os.environ.get("SNARKJS")
    folder = tempfile.mkdtemp(prefix="cuzk-bench-")
    proof, public = os.path.join(folder, "proof.json"), os.path.join(folder, "public.json")
    processors = sorted(os.sched_getaffinity(0))
    with open(options.out, "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(["program", "key", "curve", "key_bytes", "threads", "runs", "min_s", "median_s", "max_s",
                        "peak_bytes"])
        for pair in options.keys:
            zkey, wtns = pair.split(":")
            curve = curve_of(zkey)
            for threads in (1, 2):
                if threads > len(processors):
                    continue
                programs = {"cuzk": [options.cuzk, "prove", zkey, wtns, proof, public, "--threads", str(threads)]}
                if rapidsnark and curve == "bn128":
                    programs["rapidsnark"] = [rapidsnark, zkey, wtns, proof, public]
                if snarkjs and threads == 2:
                    programs["snarkjs"] = [snarkjs, "groth16", "prove", zkey, wtns, proof, public]
                times = {name: [] for name in programs}
                peaks = dict.fromkeys(programs, 0)
                for i in range(options.runs + 1):
                    for name, command in programs.items():
                        seconds, peak = run(command, set(processors[:threads]))
                        if i > 0:
                            times[name].append(seconds)
                        peaks[name] = max(peaks[name], peak)
                for name, values in times.items():
                    row = [name, os.path.basename(os.path.dirname(zkey)), curve, os.path.getsize(zkey), threads,
                           options.runs, "%.6f" % min(values), "%.6f" % statistics.median(values), "%.6f" % max(values),
                           peaks[name]]
                    table.writerow(row)
                    f.flush()
                    print(",".join(map(str, row)), flush=True)


main()
