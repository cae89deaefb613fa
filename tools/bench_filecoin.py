#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Time Filecoin's proofs of 2KiB sectors as processes: bench_filecoin.py --cuzk PROGRAM --out FILE.csv

For each kind, with test parameters that are made once in --folder (2 GB together) and timed when
they are. The peer, if there is one, proves the same sector with the same parameters in turn:
CUZK_REFERENCE, with CUZK_REFERENCE_CASES, the folder of its cases. Both times hold opening the
parameters, which cuzk's summary also tells apart (key_s) from the proof (proof_s)."""
import argparse, csv, gzip, json, os, statistics, subprocess, sys, time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CASES = [("winning", "winning-2k-5"), ("window", "window-2k-1sectors-3"), ("snap", "update-2k-6"),
         ("porep", "porep-2k-1")]


def fixture(case, name):
    with gzip.open(os.path.join(TOP, "tests", "fixtures", "cases", case, name + ".gz")) as f:
        return f.read()


def arguments(kind, case, folder):
    """VANILLA and what is stated, as the command line takes it."""
    e = json.loads(fixture(case, "expected.json"))
    name = "c1.json" if kind == "porep" else "vanilla-0.bincode"
    vanilla = os.path.join(folder, case + "-" + name)
    with open(vanilla, "wb") as f:
        f.write(fixture(case, name))
    fields = {"porep": [], "snap": ["comm_r_old", "comm_r_new", "comm_d_new"]}.get(kind, ["randomness"])
    out = [vanilla]
    for field in fields:
        out += ["--" + field.replace("_", "-"), e[field]]
    if kind != "porep":
        number = e.get("registered_update_proof", e.get("registered_post_proof"))
        out += ["--registered-proof", str(number)]
    return out


def run(command, env):
    begin = time.monotonic()
    r = subprocess.run(command, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if r.returncode != 0:
        sys.exit("%s failed: %s" % (" ".join(command), r.stderr))
    return seconds, r.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuzk", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    reference, cases = os.environ.get("CUZK_REFERENCE"), os.environ.get("CUZK_REFERENCE_CASES", "")
    os.makedirs(options.folder, exist_ok=True)
    env = dict(os.environ, FIL_PROOFS_PARAMETER_CACHE=os.path.abspath(options.folder))
    with open(options.out, "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(["program", "kind", "threads", "runs", "min_s", "median_s", "max_s", "key_s", "proof_s",
                        "peak_bytes", "setup_s"])

        def row(*values):
            table.writerow(values)
            f.flush()
            print(",".join(str(v) for v in values))

        for kind, case in CASES:
            setup_s, out = run([options.cuzk, "params", "setup", kind, "2KiB", "--json", "-q"], env)
            made = json.loads(out)["made"]
            command = [options.cuzk, "prove", kind, *arguments(kind, case, options.folder), "--allow-test-key", "--json",
                       "-q", "--out", os.path.join(options.folder, "proof.bin")]
            times, peers, last = [], [], {}
            for i in range(options.runs + 1):
                seconds, out = run(command, env)
                if i > 0:  # the first one warms the page cache
                    times.append(seconds)
                    last = json.loads(out)
                if reference is not None and i > 0:
                    folder = os.path.join(cases, case)
                    name = {"snap": "update"}.get(kind, kind)
                    peers.append(run([reference, "prove", folder, name, "2k", last["params"], "1"], env)[0])
            three = lambda t: ["%.3f" % v for v in (min(t), statistics.median(t), max(t))]
            row("cuzk", kind, last["threads"], options.runs, *three(times), last["key_seconds"], last["seconds"],
                last["peak_memory_bytes"], "%.1f" % setup_s if made else "")
            if peers:
                row("reference", kind, os.cpu_count(), options.runs, *three(peers), "", "", "", "")


if __name__ == "__main__":
    main()
