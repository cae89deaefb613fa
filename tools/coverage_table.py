#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""coverage_table.py SUMMARY.json: lines run by the tests, by folder of src/, from gcovr's summary.

Exit code 1 when a folder of arithmetic or decoders is below 95 %, or has no line at all."""
import json, os, sys

LEAST = 95.0
HELD_TO_IT = ["src/field", "src/curve", "src/poly", "src/msm", "src/formats", "src/r1cs"]


def main(path):
    with open(path) as f:
        files = json.load(f)["files"]
    folders = {}  # name: [lines run, lines, files below LEAST]
    for entry in files:
        folder = "/".join(os.path.dirname(entry["filename"]).split("/")[:2])
        sums = folders.setdefault(folder, [0, 0, []])
        sums[0] += entry["line_covered"]
        sums[1] += entry["line_total"]
        if entry["line_covered"] * 100 < LEAST * entry["line_total"]:
            sums[2].append((entry["filename"], entry["line_covered"], entry["line_total"]))
    failed = [f for f in HELD_TO_IT if f not in folders]
    print("%-14s %8s %8s %8s" % ("folder", "lines", "run", "%"))
    for name in sorted(folders):
        run, total, _ = folders[name]
        percent = 100.0 * run / max(total, 1)
        if name in HELD_TO_IT and percent < LEAST:
            failed.append(name)
        print("%-14s %8d %8d %8.1f%s" % (name, total, run, percent, "  < %g" % LEAST if name in failed else ""))
    for name in sorted(folders):
        for file, run, total in sorted(folders[name][2]):
            print("  %s: %d of %d lines run (%.1f %%)" % (file, run, total, 100.0 * run / total))
    if failed:
        sys.exit("coverage: below %g %%: %s" % (LEAST, ", ".join(failed)))


if __name__ == "__main__":
    main(sys.argv[1])
