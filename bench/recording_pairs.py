#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""recording_pairs.py [--rounds N | --minutes M] [--csv FILE] LOAD JOBS STATE=PID=COMMAND...: what a state costs against the
first one, measured in pairs.

In each round every state gets JOBS jobs twice: the states in random order, then in the reverse of it, so that a load of the
machine that rises or falls through the round meets all of them alike. COMMAND gives the jobs to process PID ({n}: how many)
and prints a last line with the jobs a second ("N a second", or at its end). Of each turn: jobs a second, and processor time
of PID a job (all of its threads, also those that ended; also the kernel's work for it). What the threads named "record" took
is counted through the whole round, for they go on after the turn: what they do while others have theirs is too much.
Prints, against the first state, the median over the rounds of the difference with an interval that holds it in 95 of 100
cases (percentiles of 4,000 medians of rounds drawn again with replacement).
"""
import argparse, glob, random, re, shlex, subprocess, sys, time

DRAWS, LIMIT, ENOUGH = 4000, 0.5, 8  # medians, per cent, rounds


def processor_ns(pid):
    """Of a process that may be another's: its clock, as clock_getcpuclockid makes it."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def recording_threads(pid):
    """Where the kernel tells the times of its threads that record."""
    return [c[:-4] + "schedstat" for c in glob.glob("/proc/%d/task/*/comm" % pid) if open(c).read().strip() == "record"]


def median(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def interval(values):
    draws = sorted(median(random.choices(values, k=len(values))) for _ in range(DRAWS))
    return draws[int(0.025 * DRAWS)], draws[int(0.975 * DRAWS)]


class State:
    def __init__(self, text):
        self.name, pid, self.command = text.split("=", 2)
        self.pid = int(pid)
        self.threads = recording_threads(self.pid)
        self.turns = []  # of this round: jobs, jobs a second, ns without the threads that record
        self.rate, self.ns, self.thread_ns = [], [], []  # by round, a job
        self.thread_before = self.recording_ns()

    def recording_ns(self):
        return sum(int(open(t).read().split()[0]) for t in self.threads)

    def turn(self, n):
        before = processor_ns(self.pid) - self.recording_ns()
        done = subprocess.run(shlex.split(self.command.replace("{n}", str(n))), stdout=subprocess.PIPE, check=True)
        ns = processor_ns(self.pid) - self.recording_ns() - before
        last = done.stdout.decode().strip().splitlines()[-1]
        self.turns.append((n, float((re.findall(r"([0-9.]+) a second", last) or re.findall(r"[0-9.]+$", last))[0]), ns))

    def end_round(self):
        n = sum(t[0] for t in self.turns)
        now = self.recording_ns()
        self.thread_ns.append((now - self.thread_before) / n)
        self.rate.append(sum(t[1] for t in self.turns) / len(self.turns))
        self.ns.append(sum(t[2] for t in self.turns) / n + self.thread_ns[-1])
        self.turns, self.thread_before = [], now


def verdict(low, high, n_rounds):
    if n_rounds < ENOUGH:
        return "too few rounds"
    return "under %g %%" % LIMIT if high < LIMIT else "over %g %%" % LIMIT if low > LIMIT else "not resolved"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10**6)
    parser.add_argument("--minutes", type=float, default=10**6)
    parser.add_argument("--csv", default="/dev/null")
    parser.add_argument("load")
    parser.add_argument("jobs", type=int)
    parser.add_argument("state", nargs="+", type=State)
    o = parser.parse_args()
    states, csv = o.state, open(o.csv, "a")
    for s in states:  # caches, and a first ring of each thread
        s.turn(o.jobs)
        s.turns, s.thread_before = [], s.recording_ns()
        s.thread_first, s.first_ns = s.thread_before, time.monotonic_ns()
    end = time.monotonic() + 60 * o.minutes
    n_rounds = 0
    while n_rounds < o.rounds and time.monotonic() < end:
        order = random.sample(states, len(states))
        for s in order + order[::-1]:
            s.turn(o.jobs)
        n_rounds += 1
        for s in states:
            s.end_round()
            csv.write("%s,%s,%d,%d,%.3f,%.0f,%.0f\n" %
                      (o.load, s.name, n_rounds, o.jobs, s.rate[-1], s.ns[-1], s.thread_ns[-1]))
        csv.flush()
    base = states[0]
    print("%s: %d rounds of twice %d jobs in each state; %s: %.1f us of processor time a job" %
          (o.load, n_rounds, o.jobs, base.name, median(base.ns) / 1e3))
    for s in states[1:]:
        ns = [a - b for a, b in zip(s.ns, base.ns)]
        share = [100 * (a / b - 1) for a, b in zip(s.ns, base.ns)]
        rate = [100 * (a / b - 1) for a, b in zip(s.rate, base.rate)]
        thread_ns = sum(s.thread_ns) / n_rounds
        processor_share = 100 * (s.recording_ns() - s.thread_first) / (time.monotonic_ns() - s.first_ns)
        low, high = interval(share)
        low_us, high_us = (x / 1e3 for x in interval(ns))
        print("  %s: processor time %+.2f %% [%+.2f, %+.2f] (%s), %+.2f us a job [%+.2f, %+.2f]; jobs a second %+.2f %% [%+.2f, %+.2f]" %
              ((s.name, median(share), low, high, verdict(low, high, n_rounds), median(ns) / 1e3, low_us, high_us, median(rate)) +
               interval(rate)))
        if s.threads:
            print("  %s: its recording thread took %.2f us a job, and of one processor %.4f %%" %
                  (s.name, thread_ns / 1e3, processor_share))
    return 0


if __name__ == "__main__":
    sys.exit(main())
