# SPDX-License-Identifier: MIT OR Apache-2.0
"""serve --record and cuzk timeline: what the daemon did is what the recording says."""
import json, os, re, signal

import daemon
from daemon import harness, Daemon, wait_until, COMPLETED, FAILED


def report(cuzk, path, *flags):
    return cuzk.ok("timeline", path, "--json", *flags).json()


def check_sums(j):
    """Causes add up to gaps, gaps and kernels to all of the time, parts of a job to its time."""
    all_ns = j["end_ns"] - j["begin_ns"]
    for d in j["devices"]:
        assert sum(d["cause_ns"].values()) == d["gap_ns"] == all_ns - d["kernel_ns"], d
        assert d["cause_ns"]["unknown"] == 0
        for name in ("kernel_ns", "lane_ns", "worker_ns"):
            assert sum(s[name] for s in d["slices"]) == d[name]
        for w in d["workers"]:
            assert w["busy_ns"] == w["lane_wait_ns"] + w["lane_ns"] + w["host_ns"]
    for g in j["gaps"]:
        assert sum(g["cause_ns"].values()) == g["end_ns"] - g["begin_ns"]
    for job in j["jobs"]:
        parts = sum(job["parts_ns"].values())
        assert parts in (0, job["end_ns"] - job["begin_ns"]), job


def test_what_is_recorded(cuzk):
    """Every job, partition and attempt is in it, with the lengths that the work was told to take."""
    d = Daemon(cuzk, test=True, name="record", config={"recording.path": "rec", "gpus.gpu_workers_per_device": 2,
                                                       "test.faults": ["proof@0*1"]})
    with d:
        ms = 20
        requests = [d.null("units=3 prove_us=%d n=%d" % (1000 * ms, i), "job-%d" % i) for i in range(4)]
        calls = [d.c.start("Prove", submit=r) for r in requests]
        assert [c.result().result.status for c in calls] == [COMPLETED] * 4
    j = report(cuzk, d.folder + "/rec")
    check_sums(j)
    assert j["spans_lost"] == j["spans_unknown"] == j["bytes_after_last_piece"] == 0
    assert sorted(job["id"] for job in j["jobs"]) == ["job-%d" % i for i in range(4)]
    assert [job["partitions"] for job in j["jobs"]] == [3] * 4 and {job["kind"] for job in j["jobs"]} == {"null"}
    assert j["jobs_ended"] == 4 and j["units_done"] == 12
    assert sum(job["attempts"] for job in j["jobs"]) == 13  # one proof was bad
    device = j["devices"][0]
    assert device["units"] == 13 and sum(w["units"] for w in device["workers"]) == 13
    assert device["worker_ns"] >= 13 * ms * 10 ** 6
    times = {(t["span"], t["kind"]): t for t in j["span_times"]}
    assert times["prove.start", "null"]["number"] == 13 and times["verify", "null"]["number"] == 13
    assert times["decode", "null"]["number"] == 4 and times["job", "null"]["number"] == 4
    for job in j["jobs"]:
        assert sum(job["parts_ns"].values()) == job["end_ns"] - job["begin_ns"] >= 2 * ms * 10 ** 6
    # the same for people and for viewers
    text = cuzk.ok("timeline", d.folder + "/rec").out
    for words in ("4 jobs ended, 12 units done", "kernel-active", "longest gaps", "slowest jobs", "job-3 (null): "):
        assert words in text, text
    events = json.loads(cuzk.ok("timeline", "--chrome", d.folder + "/rec").out)["traceEvents"]
    assert sum(e["name"] == "prove.start" for e in events) == 13 and all(e["ph"] in "MXi" for e in events)
    import xml.dom.minidom
    svg = xml.dom.minidom.parseString(cuzk.ok("timeline", "--svg", d.folder + "/rec").out)
    labels = [t.firstChild.data for t in svg.getElementsByTagName("text")]
    assert "worker 1" in labels and "witness" in labels and "4 jobs ended, 12 partitions done" in labels[0], labels
    assert len(svg.getElementsByTagName("path")) >= 9
    # a part of it
    begin, end = j["begin_ns"], j["end_ns"]
    half = report(cuzk, d.folder + "/rec", "--to", "%.9f" % ((end - begin) / 2e9))
    check_sums(half)
    assert half["end_ns"] - half["begin_ns"] <= (end - begin) // 2 + 2


def test_causes(cuzk):
    """The daemon's own causes are told apart: each job is slow in one stage alone."""
    for name, work, cause, config in (
            ("witness", "units=6 witness_us=60000", "witness", {}),
            ("before", "units=6 prove_us=60000", "host-before", {"gpus.gpu_workers_per_device": 1}),
            ("tail", "units=1 verify_us=400000", "tail", {}),
            ("memory", "units=4 witness=700000000 verify_us=100000", "memory", {"memory.total_budget": "2GiB"})):
        d = Daemon(cuzk, test=True, name="cause-" + name, config=dict(config, **{"recording.path": "rec"}))
        with d:
            assert d.prove(d.null(work, "slow")).status == COMPLETED
        j = report(cuzk, d.folder + "/rec")
        check_sums(j)
        job = j["jobs"][0]
        part = report(cuzk, d.folder + "/rec", "--from", "%.9f" % ((job["begin_ns"] - j["begin_ns"]) / 1e9),
                      "--to", "%.9f" % ((job["end_ns"] - j["begin_ns"]) / 1e9))
        causes = part["devices"][0]["cause_ns"]
        assert max(causes, key=causes.get) == cause, (name, causes)
        assert causes[cause] >= 150 * 10 ** 6, (name, causes)


def test_waits_that_do_not_end(cuzk):
    """What waits for memory, now or when the daemon ends, has its reason; a job of the journal is known from the start."""
    d = Daemon(cuzk, test=True, name="waits", config={"recording.path": "rec", "memory.total_budget": "2GiB",
                                                         "daemon.drain_time": "1s"})
    wait = 300 * 10 ** 6
    with d:
        for i in range(2):
            d.c("SubmitProof", d.null("n=%d witness=900000000 verify_us=%d" % (i, daemon.FOREVER_US), "job-%d" % i))
        def waits():
            j = json.loads(d.get("/timeline.json?seconds=60")[1])
            return j if j["devices"][0]["cause_ns"]["memory"] > wait else None
        check_sums(wait_until("the wait for memory to be told", waits))
        d.stop()
        j = report(cuzk, d.folder + "/rec")
        check_sums(j)
        causes = j["devices"][0]["cause_ns"]
        assert causes["memory"] > wait and causes["queue"] < wait, causes
        d.start()
        def known():
            j = json.loads(d.get("/timeline.json?seconds=60")[1])
            causes = j["devices"][0]["cause_ns"]
            return causes if causes["memory"] > wait else None
        causes = wait_until("the jobs of the journal", known)
        assert causes["queue"] < wait, causes
        for i in range(2):
            d.c("CancelProof", job_id="job-%d" % i)


def test_waits_after_a_crash(cuzk):
    """Of jobs that came back from the journal one holds the worker, one waits for it, one waits for memory: while that
    goes on the recording has each wait, of the right job and in this process; once it has ended, too."""
    d = Daemon(cuzk, test=True, name="back", config={"memory.total_budget": "2GiB", "gpus.gpu_workers_per_device": 1,
                                                     "pipeline.max_gpu_queue_depth": 4})
    ids = ["job-%d" % i for i in range(3)]
    text = "gate=open witness=450000000 n=%d"  # of a gibibyte, a slice of which is for others: two have room

    def recorded():
        """The spans of a recording that tell where jobs are, the first one first: pairs of its name and the job's id."""
        cuzk.ok("record", "now.rec", "--connect", "unix://" + d.socket, "--status", "127.0.0.1:%d" % d.http_port)
        events = json.loads(cuzk.ok("timeline", "--chrome", "now.rec").out)["traceEvents"]
        events = [e for e in events if e["name"] in ("wait.worker", "wait.memory", "prove.start")]
        return [(e["name"], ids[e["args"]["job"] - 1]) for e in sorted(events, key=lambda e: e["ts"])]

    def stand():
        """Where the three stand: the job by the name of its last span. Nothing as long as they are on their way."""
        last = {id: name for name, id in recorded()}
        return len(last) == len(set(last.values())) == 3 and {name: id for id, name in last.items()}

    with d:
        for i, id in enumerate(ids):
            d.c("SubmitProof", d.null(text % i, id))
        wait_until("all three stand", stand, 60)
        d.kill()
        d.start()
        back = wait_until("all three stand again", stand, 60)
        waits = {j["job_id"]: j["waits_for"] and j["waits_for"]["reason"] for j in d.status()["pipelines"] + d.status()["queued"]}
        assert [waits[back[name]] for name in ("prove.start", "wait.worker", "wait.memory")] == [None, "threads", "memory"], waits
        d.open_gate("open")
        for i, id in enumerate(ids):
            result = d.c("AwaitProof", job_id=id, timeout_ms=60000)
            assert result.status == COMPLETED and result.proof == daemon.null_proof((text % i).encode(), 1), result
        ended = recorded()
        assert sorted(id for name, id in ended if name == "prove.start") == ids, ended
        assert [id for name, id in ended if name == "wait.memory"] == [back["wait.memory"]], ended
        assert ("wait.worker", back["wait.worker"]) in ended, ended


def test_compare(cuzk):
    """A change is seen where it was made, and nothing else is called one."""
    paths = []
    for name, work in (("a", "prove_us=2000"), ("a2", "prove_us=2000"), ("b", "prove_us=40000")):
        d = Daemon(cuzk, test=True, name="compare-" + name, config={"recording.path": "rec", "journal.path": "none",
                                                                    "gpus.gpu_workers_per_device": 1})
        with d:
            for i in range(4):
                assert d.prove(d.null("units=10 n=%d %s" % (i, work))).status == COMPLETED
        paths.append(d.folder + "/rec")
    def spans(before, after):
        j = cuzk.ok("timeline", before, "--compare", after, "--json").json()
        assert all(c["verdict"] in ("longer", "shorter", "as before") for c in j["causes"])
        assert {s["name"]: s["verdict"] for s in j["spans"]}["job"] == "too few"  # four of them
        return {s["name"]: s for s in j["spans"]}
    s = spans(paths[0], paths[2])["prove.start"]
    assert s["verdict"] == "longer" and s["b_ns"] > s["a_ns"] + 10 ** 7 and s["deviations"] > 3, s
    assert spans(paths[2], paths[0])["prove.start"]["verdict"] == "shorter"
    assert spans(paths[0], paths[0])["prove.start"]["deviations"] == 0
    assert "prove.start" in cuzk.ok("timeline", paths[0], "--compare", paths[1]).out
    cuzk.fails(2, "text or JSON", "timeline", paths[0], "--compare", paths[1], "--svg")
    cuzk.fails(1, "No such file", "timeline", paths[0], "--compare", "missing")


def test_simulated(cuzk):
    """The model comes to the recorded time, and a second device halves a backlog's."""
    d = Daemon(cuzk, test=True, name="simulated", config={"recording.path": "rec", "gpus.gpu_workers_per_device": 1})
    with d:
        calls = [d.c.start("Prove", submit=d.null("units=4 prove_us=20000 n=%d" % i)) for i in range(8)]
        assert [c.result().result.status for c in calls] == [COMPLETED] * 8
    path = d.folder + "/rec"
    j = cuzk.ok("simulate", path, "--json").json()
    v = {x["variant"]: x for x in j["variants"]}
    assert j["jobs"] == 8 and j["units"] == 32 and j["devices"] == j["workers"] == 1
    assert abs(v["as it is"]["end_ns"] - j["recorded_ns"]) < 0.05 * j["recorded_ns"], j
    assert v["witnesses in no time"]["end_ns"] <= v["as it is"]["end_ns"]
    two = cuzk.ok("simulate", path, "--json", "--devices", "2", "--backlog").json()["variants"][0]["end_ns"]
    one = cuzk.ok("simulate", path, "--json", "--backlog").json()["variants"][0]["end_ns"]
    assert 0.45 * one < two < 0.6 * one, (one, two)
    # each cause of gaps stands beside the one thing that takes it away, or is none of the model's
    j = cuzk.ok("simulate", path, "--json").json()
    causes = report(cuzk, path)["devices"][0]["cause_ns"]
    told = dict(j["gap_ns_not_in_the_model"])
    for variant in j["variants"]:
        assert not set(told) & set(variant["gap_ns"]), variant
        told.update(variant["gap_ns"])
    assert told == causes, (told, causes)
    v = {x["variant"]: x for x in j["variants"]}
    assert v["no host work before the lane"]["gap_ns"]["host-before"] > 20e6
    assert v["no host work before the lane"]["units_per_s"] > 2 * v["as it is"]["units_per_s"], j
    # given durations: one lane of 5 ms after the other, and nothing else
    given = ",".join(s + "=0s" for s in ("witness", "host-before", "copy", "host-after", "finish", "verify")) + ",lane=5ms"
    given = cuzk.ok("simulate", path, "--json", "--backlog", "--durations", given).json()
    assert abs(given["variants"][0]["end_ns"] - 32 * 5 * 10 ** 6) < 100, given
    for wrong, words in (("lane", "STAGE=TIME"), ("x=1s", "STAGE=TIME"), ("lane=", "no time"), ("lane=1", "no time"), ("lane=-1s", "no time"),
                         ("lane=1sx", "no time"), ("lane=2000000s", "no time"), ("lane=1s,", "STAGE=TIME"), ("", "STAGE=TIME")):
        cuzk.fails(2, words, "simulate", path, "--durations", wrong)
    text = cuzk.ok("simulate", path).out
    assert "not in the model: " in text and max(map(len, text.splitlines())) <= 132, text
    assert "against the recording" in text and "as it is" in text, text
    cuzk.fails(2, "64", "simulate", path, "--devices", "65")
    cuzk.fails(2, "--cores", "simulate", path, "--cores", "0")
    cuzk.fails(1, "no job that ended", "simulate", cuzk.write("empty.rec", harness.read(path)[:400]))


def measure_model(cuzk, n_devices, n_workers, budget, n_jobs, ms):
    """Jobs of several shapes; how far the model is from what the daemon took, as a part of it."""
    name = "model-%d-%d-%s" % (n_devices, n_workers, budget)
    d = Daemon(cuzk, test=True, name=name, env={"CUZK_TEST_DEVICES": str(n_devices)},
               config={"recording.path": "rec", "journal.path": "none", "memory.total_budget": budget,
                       "gpus.gpu_workers_per_device": n_workers})
    with d:
        calls = []
        for i in range(n_jobs):
            times = dict(witness=(1, 2, 4)[i % 3], prove=1 + i % 2, lane=3, finish=0.2, verify=0.5)
            text = " ".join("%s_us=%d" % (k, v * ms * 1000) for k, v in times.items())
            calls.append(d.c.start("Prove", submit=d.null("units=%d witness=300000000 n=%d %s" % (2 + i % 3, i, text))))
        assert [c.result().result.status for c in calls] == [COMPLETED] * n_jobs
    j = cuzk.ok("simulate", d.folder + "/rec", "--json").json()
    as_it_is = j["variants"][0]
    assert (j["devices"], j["workers"], j["jobs"]) == (n_devices, n_workers, n_jobs), j
    assert 300000000 <= as_it_is["peak_bytes"] <= (1 << 30 if budget == "2GiB" else 1 << 60), as_it_is
    if budget != "2GiB":  # two partitions have room: much slower; half of one has none
        little = cuzk.ok("simulate", d.folder + "/rec", "--json", "--memory", "640MiB").json()
        assert little["memory_bytes"] == 640 << 20 and little["variants"][0]["peak_bytes"] == 600000000, little
        assert little["variants"][0]["end_ns"] > 1.2 * as_it_is["end_ns"], little
        cuzk.fails(2, "300000000 bytes", "simulate", d.folder + "/rec", "--memory", "150MiB")
    off = as_it_is["end_ns"] / j["recorded_ns"] - 1
    print("  %s: %d partitions, recorded %.3f s, simulated %.3f s: %+.1f %%" % (
        name, j["units"], j["recorded_ns"] / 1e9, as_it_is["end_ns"] / 1e9, 100 * off))
    return off, as_it_is["peak_bytes"]


def test_model(cuzk):
    """Throughput of the model within 5 % of the daemon's: devices, workers, much memory and little."""
    cases = [(2, 2, "2GiB"), (2, 1, "64GiB")]
    if daemon.NIGHTLY:
        cases = [(n, w, b) for n in (1, 2) for w in (1, 2) for b in ("64GiB", "2GiB")]
    for n_devices, n_workers, budget in cases:
        for attempt in range(3):  # what else runs on the machine is not in the model
            off, peak = measure_model(cuzk, n_devices, n_workers, budget, *((40, 20) if daemon.NIGHTLY else (12, 8)))
            if abs(off) < 0.05:
                break
        assert abs(off) < 0.05, (n_devices, n_workers, budget, off)
        assert budget != "2GiB" or n_devices * n_workers < 4 or peak > 800000000, peak  # memory is what they wait for


def test_a_killed_daemon_leaves_a_recording(cuzk):
    """Readable at any moment, also cut anywhere; the next daemon begins a new file and keeps the old one."""
    d = Daemon(cuzk, test=True, name="killed", config={"recording.path": "rec"})
    path = d.folder + "/rec"
    d.start()
    assert d.prove(d.null("units=2", "first")).status == COMPLETED
    wait_until("the job in the recording", lambda: b"first" in harness.read(path))
    d.kill()
    j = report(cuzk, path)
    assert [job["id"] for job in j["jobs"]] == ["first"]
    check_sums(j)
    data = harness.read(path)
    for cut in (len(data) - 1, len(data) // 2, 40, 32):
        with open(d.folder + "/cut", "wb") as f:
            f.write(data[:cut])
        check_sums(report(cuzk, d.folder + "/cut"))
    with open(d.folder + "/cut", "wb") as f:
        f.write(data[:31])
    cuzk.fails(1, "no recording of cuzk", "timeline", d.folder + "/cut")
    with d:
        assert d.prove(d.null("units=2", "second")).status == COMPLETED
    assert harness.read(path + ".old") == data
    assert [job["id"] for job in report(cuzk, path)["jobs"]] == ["second"]
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_limit(cuzk):
    """The file and its predecessor never take more than the limit, and each is a recording of its own."""
    d = Daemon(cuzk, test=True, name="limit", config={"recording.path": "rec", "recording.limit": "1MiB",
                                                      "journal.path": "none", "logging.level": "warn"})
    with d:
        n = 0
        while not os.path.exists(d.folder + "/rec.old"):
            calls = [d.c.start("Prove", submit=d.null("units=60 n=%d" % i, "job-%d-%d" % (n, i))) for i in range(64)]
            assert [c.result().result.status for c in calls] == [COMPLETED] * 64
            n += 1
            assert n < 200
        sizes = [os.path.getsize(d.folder + "/" + name) for name in ("rec", "rec.old")]
        assert max(sizes) <= 1 << 19, sizes
    for name in ("rec", "rec.old"):
        check_sums(report(cuzk, d.folder + "/" + name))
    old, new = d.folder + "/rec.old", d.folder + "/rec"
    assert report(cuzk, old)["devices"][0]["id"] != ""
    # both as one: what is in either, and jobs that go from one into the other are whole
    both = cuzk.ok("timeline", old, new, "--json").json()
    check_sums(both)
    one, two = report(cuzk, old), report(cuzk, new)
    assert both["units_done"] == one["units_done"] + two["units_done"] > 0
    assert both["jobs_ended"] == one["jobs_ended"] + two["jobs_ended"] and both["end_ns"] == two["end_ns"]
    assert both["begin_ns"] == one["begin_ns"] and all(job["id"] for job in both["jobs"])
    cuzk.fails(2, "name them in their order", "timeline", new, old)
    cuzk.fails(2, "name them in their order", "timeline", new, new)
    other = Daemon(cuzk, test=True, name="other", config={"recording.path": "rec", "journal.path": "none"})
    with other:
        assert other.prove(other.null("units=1")).status == COMPLETED
    cuzk.fails(2, "not of one run", "timeline", old, other.folder + "/rec")
    cuzk.fails(1, "No such file", "timeline", old, "missing")
    cuzk.fails(2, "of one recording with another", "timeline", old, new, "--compare", old)


def test_what_is_no_recording_stays(cuzk):
    """Anything at the path, or at PATH.old, that is no recording is refused by name and not touched."""
    def other(path):
        with open(path, "w") as f:
            f.write("mine")
    def refused(name, make, text, at="/rec"):
        d = Daemon(cuzk, test=True, name=name, config={"recording.path": "rec"})
        make(d.folder + at)
        d.spawn()
        assert d.wait_end() == 1
        assert text in d.log() and at[1:] in d.log(), d.log()
        d.process = None
        return d.folder + at
    assert harness.read(refused("other", other, "no recording")) == b"mine"
    assert harness.read(refused("other-old", other, "no recording", "/rec.old")) == b"mine"
    assert os.path.isdir(refused("folder", os.mkdir, "not a regular file"))
    refused("pipe", os.mkfifo, "not a regular file")
    d = Daemon(cuzk, test=True, name="nowhere", config={"recording.path": "/nonexistent/rec"})
    d.spawn()
    assert d.wait_end() == 1
    assert "/nonexistent/rec" in d.log() and "No such file" in d.log(), d.log()
    d.process = None


def test_one_writer(cuzk):
    """A second daemon does not take the file of the first."""
    first = Daemon(cuzk, test=True, name="first", config={"recording.path": "rec"})
    with first:
        second = Daemon(cuzk, test=True, name="second", config={"recording.path": first.folder + "/rec"})
        second.spawn()
        assert second.wait_end() == 1
        assert "another process writes the recording" in second.log(), second.log()
        second.process = None
        assert first.prove(first.null("n=1", "kept")).status == COMPLETED
    assert [job["id"] for job in report(cuzk, first.folder + "/rec")["jobs"]] == ["kept"]


def test_refusals(cuzk):
    """Arguments of cuzk timeline."""
    some = cuzk.write("some.bin", b"x" * 100)
    cuzk.fails(1, ["no recording of cuzk", "some.bin"], "timeline", some)
    cuzk.fails(1, "No such file", "timeline", "missing.bin")
    cuzk.fails(2, "which recording?", "timeline")
    cuzk.fails(2, "--names takes no recording", "timeline", "--names", some)
    cuzk.fails(2, "give one", "timeline", "--json", "--chrome", some)
    cuzk.fails(2, "--gap", "timeline", "--gap", "-1", some)
    cuzk.fails(2, "--gap", "timeline", "--gap", "x", some)
    cuzk.fails(2, "longer than 0 s", "timeline", "--slice", "0", some)
    cuzk.fails(2, "--gaps", "timeline", "--gaps", "1.5", some)


def test_docs_have_the_names(cuzk):
    """docs/timeline.md has the program's own tables of names."""
    names = cuzk.ok("timeline", "--names").out
    page = harness.read(os.path.join(harness.TOP, "docs/timeline.md")).decode()
    assert names in page, "docs/timeline.md: put the output of `cuzk timeline --names` into it"


if __name__ == "__main__":
    harness.main(globals())
