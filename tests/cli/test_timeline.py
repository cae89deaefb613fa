# SPDX-License-Identifier: MIT OR Apache-2.0
"""prove --timeline: a recording of a process that proves, read by cuzk timeline."""
import gzip, os
import harness
from harness import read
from test_filecoin import statement

EMULATED = "tests/cuda/libcuda"


def report(cuzk, path):
    return cuzk.ok("timeline", path, "--json").json()


def check_sums(j):
    """Causes, parts and utilisations add up to the last nanosecond."""
    for d in j["devices"]:
        assert d["kernel_ns"] + sum(d["cause_ns"].values()) == j["end_ns"] - j["begin_ns"], d
    for job in j["jobs"]:
        assert sum(job["parts_ns"].values()) == job["end_ns"] - job["begin_ns"], job


def names(j):
    return {t["span"]: t["number"] for t in j["span_times"]}


def circom(cuzk, *more, circuit="multiplier1000", **kw):
    files = [cuzk.circom("bn254", circuit, n) for n in ("circuit.zkey", "witness.wtns")]
    return cuzk.ok("prove", *files, "p.json", "pub.json", "--timeline", "t.rec", *more, **kw)


def test_circom(cuzk):
    circom(cuzk)
    j = report(cuzk, "t.rec")
    check_sums(j)
    assert j["jobs_ended"] == j["units_done"] == 1 and j["spans_lost"] == 0, j
    (job,) = j["jobs"]
    assert (job["id"], job["kind"], job["partitions"], job["attempts"], job["status"]) == ("proof-1", "circom", 1, 1, 0), job
    assert names(j) == {n: 1 for n in ("job", "resident.load", "witness", "prove.start", "lane", "prove.finish", "verify",
                                       "kernel.cpu")}, names(j)
    (device,) = j["devices"]
    assert device["id"] == "cpu" and device["units"] == 1 and 0 < device["kernel_ns"] == device["lane_ns"] < device["worker_ns"]
    assert device["clock_error_ns"] is None and "are off by" not in cuzk.ok("timeline", "t.rec").out, device
    assert device["cause_ns"]["srs"] > 0 and device["cause_ns"]["unknown"] == 0, device
    assert "1 jobs ended, 1 units done" in cuzk.ok("timeline", "t.rec").out
    assert cuzk.ok("simulate", "t.rec").out.startswith("1 jobs, 1 partitions; 1 devices with 1 workers each")
    assert os.stat(cuzk.path("t.rec")).st_mode & 0o777 == 0o600


def test_without_self_check(cuzk):
    circom(cuzk, "--no-self-check", "--quiet")
    assert "verify" not in names(report(cuzk, "t.rec"))


def test_filecoin(cuzk):
    env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("params")}
    os.mkdir(cuzk.path("params"))
    case, n = "window-2k-3sectors-4", 2
    files = [cuzk.fixture("cases/%s/vanilla-%d.bincode" % (case, i)) for i in range(3)]
    request = cuzk.write_json("request.json", statement(cuzk, case)[1])
    cuzk.ok("params", "setup", "window", "2KiB", env=env)
    j = cuzk.ok("prove", "window", *files, "--request", request, "--allow-test-key", "--timeline", "t.rec", "--json",
                env=env).json()
    assert j["partitions"] == n
    j = report(cuzk, "t.rec")
    check_sums(j)
    (job,) = j["jobs"]
    assert (job["kind"], job["partitions"], job["attempts"]) == ("window-post", n, n) and j["units_done"] == n, job
    found = names(j)
    # three files, the check before the key is opened, and the check before the proof
    assert found.pop("decode") == 5 and found.pop("resident.load") == found.pop("job") == 1, found
    assert found == {s: n for s in ("witness", "prove.start", "lane", "prove.finish", "verify", "kernel.cpu")}, found


def test_a_failed_proof(cuzk):
    """What was done until then is in the recording, and the failure."""
    zkey = cuzk.circom("bn254", "multiplier2", "circuit.zkey")
    other = cuzk.circom("bn254", "poseidon2", "witness.wtns")
    cuzk.fails(1, "Invalid witness length", "prove", zkey, other, "--timeline", "t.rec")
    j = report(cuzk, "t.rec")
    assert [(job["status"] != 0, job["attempts"]) for job in j["jobs"]] == [(True, 0)], j["jobs"]
    cuzk.fails(1, "No such file", "prove", "missing.zkey", other, "--timeline", "u.rec")
    assert report(cuzk, "u.rec")["jobs"] == []


def test_files(cuzk):
    """A recording becomes FILE.old, what is none stays; a place that cannot be written to is said before the proof."""
    files = [cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns")]
    circom(cuzk, circuit="multiplier2")
    first = read(cuzk.path("t.rec"))
    circom(cuzk, circuit="multiplier2")
    assert read(cuzk.path("t.rec.old")) == first
    other = cuzk.write("other", "no recording")
    before = cuzk.names()
    for path, text in ((other, "is no recording"), (files[1], "is no recording"), ("none/t.rec", "No such file")):
        cuzk.fails(1, text, "prove", *files, "new.json", "new-pub.json", "--timeline", path)
    assert cuzk.names() == before and read(other) == b"no recording"
    cuzk.fails(2, "written to, and also", "prove", *files, "new.json", "new-pub.json", "--timeline", "new.json")


def test_empty_range(cuzk):
    rec = cuzk.write("r.rec", gzip.decompress(read(os.path.join(harness.TOP, "tests", "vectors", "gpu_porep_32g_jobs.rec.gz"))))
    cuzk.fails(2, "asked to look from 5.000 to 4.000 s: nothing lies between", "timeline", rec, "--from", "5", "--to", "4")


def test_full_disk(cuzk):
    """A recording that is not whole is a failure, but the proof is there."""
    files = [cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns")]
    script = 'ulimit -f 1; exec "$@"'  # 512 or 1024 bytes: the recording begins, and has no room for its spans
    r = harness.run(["sh", "-c", script, "sh"] + harness.EMULATOR +
                    [cuzk.program, "prove", *files, "p.json", "pub.json", "--timeline", "t.rec"], cwd=cuzk.scratch)
    assert r.code == 1 and "recording" in r.err, r


def test_device(cuzk):
    """On a device kernels and copies are spans of their own. Its driver is the emulated one."""
    folder = os.path.join(cuzk.build, EMULATED)
    if not os.path.exists(os.path.join(folder, "libcuda.so.1")):
        raise harness.Skip("no emulated driver in this build")
    circom(cuzk, "--device", "cuda:0", circuit="multiplier2", env={"LD_LIBRARY_PATH": folder})
    j = report(cuzk, "t.rec")
    check_sums(j)
    (device,) = j["devices"]
    found = names(j)
    assert device["id"] == "cuda:0" and device["kernels"] > 0 and device["up_bytes"] > 0, device
    assert 0 <= device["clock_error_ns"] < 10 ** 9, device
    assert "its spans' ends are off by at most" in cuzk.ok("timeline", "t.rec").out
    assert "kernel.cpu" not in found and "kernel.rows" in found and "copy.up" in found and found["lane"] == 1, found


def test_model_of_a_card(cuzk):
    """The model against what an H200 did: seven PoReps of 32GiB, recorded by the daemon."""
    path = os.path.join(harness.TOP, "bench/results/gpu_full_porep_h200_2026-12-01.cuzkrec.gz")
    j = cuzk.ok("simulate", path, "--json").json()
    assert j["jobs"] == 7 and j["units"] == 70 and abs(j["variants"][0]["end_ns"] / j["recorded_ns"] - 1) < 0.05, j


if __name__ == "__main__":
    harness.main(globals())
