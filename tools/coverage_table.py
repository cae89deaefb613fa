#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""coverage_table.py BUILD_DIR JOBS: lines of src/ that the tests ran, by folder.

Reads the compiler's counters with gcov. A source is compiled once per curve and CPU path, and
headers many times: a line counts as run when any of them ran it. (gcovr cannot merge these: the
same function name stands on several lines of a template.) Writes BUILD_DIR/coverage.json and, for
each file, the numbers of the lines that never ran to BUILD_DIR/not_run.txt.

Exit code 1 when a folder of arithmetic or decoders is below 95 %, or has no line at all."""
import json, multiprocessing, os, subprocess, sys

LEAST = 95.0
HELD_TO_IT = ["src/field", "src/curve", "src/poly", "src/msm", "src/formats", "src/r1cs", "src/gadget", "src/filecoin"]
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_counters(notes):
    """{source file: {line: run?}} of one compiled file."""
    r = subprocess.run(["gcov", "--json-format", "--stdout", os.path.basename(notes)], cwd=os.path.dirname(notes),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = {}
    for text in r.stdout.decode().splitlines():
        if not text.startswith("{"):
            continue
        data = json.loads(text)
        for entry in data["files"]:
            path = os.path.join(data["current_working_directory"], entry["file"])
            name = os.path.relpath(os.path.realpath(path), TOP)
            if name.startswith("src/"):
                lines = found.setdefault(name, {})
                for line in entry["lines"]:
                    # counters that threads race on may even be negative; a line that ran has some count
                    number = line["line_number"]
                    lines[number] = lines.get(number, False) or line["count"] != 0
    return found


def read_all(build, jobs):
    notes = [os.path.join(folder, f) for folder, _, files in os.walk(os.path.join(build, "src")) for f in files
             if f.endswith(".gcno")]
    notes += [os.path.join(folder, f) for folder, _, files in os.walk(os.path.join(build, "tests")) for f in files
              if f.endswith(".gcno")]
    merged = {}
    with multiprocessing.Pool(jobs) as pool:
        for found in pool.imap_unordered(read_counters, notes, 4):
            for name, lines in found.items():
                into = merged.setdefault(name, {})
                for number, run in lines.items():
                    into[number] = into.get(number, False) or run
    return merged


def ranges(numbers):
    """3, 4, 5, 9 as "3-5 9"."""
    out = []
    for n in numbers:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in out)


def table(files):
    """Print the table of {file: (lines run, lines)}; the folders that are below the floor."""
    folders = {}
    for name, (run, total) in files.items():
        sums = folders.setdefault("/".join(os.path.dirname(name).split("/")[:2]), [0, 0])
        sums[0] += run
        sums[1] += total
    below = [f for f in HELD_TO_IT if f not in folders]
    print("%-14s %8s %8s %8s" % ("folder", "lines", "run", "%"))
    for name, (run, total) in sorted(folders.items()):
        if name in HELD_TO_IT and run * 100 < LEAST * total:
            below.append(name)
        print("%-14s %8d %8d %8.1f%s" % (name, total, run, 100.0 * run / max(total, 1),
                                         "  below %g" % LEAST if name in below else ""))
    for name, (run, total) in sorted(files.items()):
        if run * 100 < LEAST * total:
            print("  %s: %d of %d lines run (%.1f %%)" % (name, run, total, 100.0 * run / total))
    return below


def main(build, jobs):
    lines = read_all(os.path.abspath(build), jobs)
    files = {name: (sum(found.values()), len(found)) for name, found in lines.items()}
    with open(os.path.join(build, "coverage.json"), "w") as f:
        json.dump(files, f, indent=1, sort_keys=True)
    with open(os.path.join(build, "not_run.txt"), "w") as f:
        for name, found in sorted(lines.items()):
            never = sorted(n for n, run in found.items() if not run)
            if never:
                f.write("%s: %s\n" % (name, ranges(never)))
    below = table(files)
    print("lines that never ran: %s" % os.path.join(build, "not_run.txt"))
    if below:
        sys.exit("coverage: below %g %%: %s" % (LEAST, ", ".join(below)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
