# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk timeline --import: a recording and an export of Nsight Systems, both written here by Python alone, beside
each other. What recordings say by themselves: tests/server/test_serve_record.py."""
import ctypes.util, gzip, os, random, sqlite3, struct, zlib
import harness
from harness import Skip, TOP

NAMES = ["kernel.rows", "copy.up"]
BEHIND = 3_000_000_000  # their clock, ns
WALL = 1_700_000_000_000_000_000


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def zigzag(v):
    return varint(v << 1 if v >= 0 else (-v << 1) - 1)


def piece(kind, payload):
    return struct.pack("<III", kind, len(payload), zlib.crc32(payload)) + payload


def recording(spans):
    """spans: (name, begin, end, bytes) of device 0."""
    data = struct.pack("<8sIIQQ", b"cuzkspan", 1, 0, WALL, 1_000_000)
    data += piece(1, b"".join(n.encode() + b"\0" for n in NAMES))
    data += piece(3, varint(0) + varint(2) + b"cuda:0")
    packed, at = varint(len(spans)), 0
    for name, begin, end, value in spans:
        packed += bytes([4 | 8]) + varint(NAMES.index(name)) + varint(0) + zigzag(begin - at) + varint(end - begin)
        packed += bytes([0, 255]) + varint(value)
        at = begin
    return data + piece(6, packed)


def activities(path, kernels, copies):
    if not ctypes.util.find_library("sqlite3"):
        raise Skip("no libsqlite3.so.0")
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, id INTEGER, name TEXT);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER,
            contextId INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER, shortName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER,
            bytes INTEGER, copyKind INTEGER);""")
    db.execute("INSERT INTO StringIds VALUES(1, 'rows_times_witness')")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'NVIDIA H200')")
    # the wall clock of the recording's 0 is WALL - 1 ms
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?, '', '')", (WALL - 1_000_000 + BEHIND,))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?, ?, 0, 1, 7, 0, 1, 1)", kernels)
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?, ?, 0, ?, 1)", copies)
    db.commit()
    db.close()


def make(cuzk, n_missing=0):
    r, now, spans, kernels, copies = random.Random(4), 5_000_000, [], [], []
    for i in range(60):
        end = now + r.randrange(1_000_000, 3_000_000)
        spans.append(("copy.up", now, end, 1000))
        copies.append((now - BEHIND, end - BEHIND, 1000))
        now = end + r.randrange(10_000, 500_000)
        end = now + r.randrange(5_000_000, 20_000_000)
        spans.append(("kernel.rows", now, end, 0))
        if i >= n_missing:
            kernels.append((now - BEHIND, end - BEHIND))
        now = end + r.randrange(10_000, 2_000_000)
    cuzk.write("rec", recording(spans))
    path = cuzk.path("activities.sqlite")
    activities(path, kernels, copies)
    return cuzk.path("rec"), path, spans


def test_import(cuzk):
    rec, nsys, spans = make(cuzk)
    kernel_ns = sum(end - begin for name, begin, end, _ in spans if name == "kernel.rows")
    out = cuzk.ok("timeline", "--import", nsys).out
    assert "device 0, NVIDIA H200, " in out and "rows_times_witness" in out and "ours" not in out, out
    alone = cuzk.ok("timeline", "--import", nsys, "--json").json()
    assert alone["devices"][0]["theirs"]["kernel_ns"] == kernel_ns, alone
    assert alone["devices"][0]["kernels"][0]["launches"] == 60, alone
    out = cuzk.ok("timeline", rec, "--import", nsys).out
    assert "cuda:0 of the recording" in out and "spans of ours without a counterpart: 0 of 120" in out, out
    both = cuzk.ok("timeline", "--import", nsys, rec, "--json").json()
    assert abs(both["clocks"]["offset_ns"] - BEHIND) < 5 and both["clocks"]["by"] == "overlap", both
    assert abs(both["clocks"]["drift_ppm"]) < 0.1 and both["clocks"]["wall_offset_ns"] == BEHIND, both
    assert abs(both["devices"][0]["kernel_active_difference_percent"]) < 0.001, both
    # the first span of each side may reach a nanosecond out of the common time
    assert both["devices"][0]["ours"]["up_bytes"] in (59000, 60000), both


def test_offset(cuzk):
    rec, nsys, spans = make(cuzk, n_missing=6)
    both = cuzk.ok("timeline", "--import", nsys, rec, "--offset", "3", "--json").json()
    device = both["devices"][0]
    assert both["clocks"]["offset_ns"] == BEHIND and both["clocks"]["by"] == "given", both
    assert device["ours"]["alone"] == 6 and device["theirs"]["alone"] == 0, device
    first = [s for s in spans if s[0] == "kernel.rows"][:6]
    assert device["ours"]["alone_ns"] == sum(s[2] - s[1] for s in first), device
    cuzk.fails(2, "no time in common", "timeline", "--import", nsys, rec, "--offset", "-3.5")


def test_usage(cuzk):
    rec, nsys, _ = make(cuzk)
    cuzk.fails(2, "--offset goes with --import", "timeline", rec, "--offset", "1")
    cuzk.fails(2, "behind which recording", "timeline", "--import", nsys, "--offset", "1")
    cuzk.fails(2, "not a number", "timeline", "--import", nsys, rec, "--offset", "1x")
    for options in (["--svg"], ["--chrome"], ["--names"], ["--gap", "3"], ["--compare", rec]):
        cuzk.fails(2, "says nothing", "timeline", "--import", nsys, *options)


def test_wrong_files(cuzk):
    rec, nsys, _ = make(cuzk)
    cuzk.fails(1, "not a database", "timeline", "--import", rec)
    cuzk.fails(1, "No such file", "timeline", "--import", cuzk.path("missing"))
    cuzk.fails(1, "no recording of cuzk", "timeline", "--import", nsys, nsys)
    empty = cuzk.path("empty.sqlite")
    cuzk.write("empty.sqlite", b"")
    cuzk.fails(1, "no table CUPTI_ACTIVITY_KIND_KERNEL", "timeline", "--import", empty)


def same(path, text):
    if os.environ.get("CUZK_TEST_UPDATE"):
        with open(path, "w") as f:
            f.write(text)
    with open(path) as f:
        kept = f.read()
    assert kept == text, "%s differs; CUZK_TEST_UPDATE=1 writes it anew:\n%s" % (path, text)


def test_kept_on_several_cards(cuzk):
    """What docs/performance.md predicts of several cards is what the model says of the kept recording."""
    predicted = {1: 1.168, 2: 2.337, 4: 4.673, 8: 9.345}
    page = open(os.path.join(TOP, "docs/performance.md")).read()
    for n, rate in predicted.items():
        options = ["--devices", n, "--cores", 16 * n, "--roots", (n + 3) // 4, "--copies", 2, "--memory-rate", 100]
        j = cuzk.ok("simulate", os.path.join(TOP, "tests/vectors/gpu_porep_32g_jobs.rec.gz"), *options, "--witness-threads", 32,
                    "--finishers", 8, "--verifiers", 8, "--backlog", "--repeat", 4 * n, "--json").json()
        v = j["variants"][0]
        assert j["units"] == 280 * n and "%.3f" % v["units_per_s"] == "%.3f" % rate and v["limit"] == "lanes", (n, v)
        assert "| %d | %.3f | " % (n, rate) in page, n
        assert 0.99 < v["use"]["lanes"] <= 1 and 0 < v["use"]["copies of a root"] < 0.1 and 0 < v["use"]["memory rate"] < 0.1, v
    cuzk.fails(2, "--repeat goes with --backlog", "simulate", os.path.join(TOP, "tests/vectors/gpu_porep_32g_jobs.rec.gz"), "--repeat", 2)


def test_kept_is_simulated(cuzk):
    """The model takes as long for seven PoReps as the card took."""
    j = cuzk.ok("simulate", os.path.join(TOP, "tests/vectors/gpu_porep_32g_jobs.rec.gz"), "--json").json()
    assert j["units"] == 70 and abs(j["variants"][0]["end_ns"] / j["recorded_ns"] - 1) < 0.05, j


def test_kept(cuzk):
    """Recordings of 32GiB PoReps on a card (tests/vectors/README.md): the reports say what they said."""
    kept = os.path.join(TOP, "tests/vectors/gpu_porep_32g")
    out = cuzk.ok("timeline", kept + ".rec.gz", "--gaps", "5", "--jobs", "2").out
    same(kept + ".report.txt", out)
    out = cuzk.ok("timeline", kept + "_jobs.rec.gz", "--from", "49.8", "--gaps", "5", "--jobs", "3").out
    same(kept + "_jobs.report.txt", out)
    if not ctypes.util.find_library("sqlite3"):
        raise Skip("no libsqlite3.so.0")
    with gzip.open(kept + ".sqlite.gz") as f:
        cuzk.write("w.sqlite", f.read())
    out = cuzk.ok("timeline", "--import", cuzk.path("w.sqlite"), kept + ".rec.gz").out
    same(kept + ".beside.txt", out)
    both = cuzk.ok("timeline", "--import", cuzk.path("w.sqlite"), kept + ".rec.gz", "--json").json()
    device = both["devices"][0]
    assert abs(device["kernel_active_difference_percent"]) < 1, device
    assert device["ours"]["alone_ns"] < device["ns"] / 10000 and device["theirs"]["alone"] == 0, device
    # without the wall clock the offset is found all the same
    db = sqlite3.connect(cuzk.path("w.sqlite"))
    db.execute("DELETE FROM TARGET_INFO_SESSION_START_TIME")
    db.commit()
    db.close()
    blind = cuzk.ok("timeline", "--import", cuzk.path("w.sqlite"), kept + ".rec.gz", "--json").json()
    assert blind["clocks"]["wall_offset_ns"] is None, blind["clocks"]
    assert abs(blind["clocks"]["offset_ns"] - both["clocks"]["offset_ns"]) < 1000, blind["clocks"]


harness.main(globals())
