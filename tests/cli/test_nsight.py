# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk timeline --import: files with the columns that exports of Nsight Systems had from 2020 to 2025 (its published
schema), and files that were made to do harm."""
import ctypes.util, os, sqlite3, struct
import harness
from harness import Skip

NAMES = {1: "void sum<Field<4>, true>(Point *, unsigned)", 2: "sum", 3: "sort", 4: "_Z3sumI5FieldILi4EELb1EEvP5Pointj", 5: ""}
LONG, SHORT, SORT, MANGLED, EMPTY = NAMES

# Columns of the tables by version: (name, type) as they were declared.
KERNEL_2020 = """start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, globalPid INT NOT NULL, demangledName INT NOT NULL, shortName INT NOT NULL,
    launchType INT NOT NULL, cacheConfig INT NOT NULL, registersPerThread INT NOT NULL, gridX INT NOT NULL"""
MEMCPY_2020 = """start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, globalPid INT NOT NULL, bytes INT NOT NULL, copyKind INT NOT NULL, deprecatedSrcId INT NOT NULL,
    srcKind INT NOT NULL, dstKind INT NOT NULL, srcDeviceId INT NOT NULL, srcContextId INT NOT NULL, dstDeviceId INT NOT NULL"""
MEMSET_2020 = """start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT NOT NULL, globalPid INT NOT NULL, value INT NOT NULL, bytes INT NOT NULL"""
KERNEL_2022 = """start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
    mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,
    graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER"""
MEMCPY_2022 = """start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
    deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER,
    dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER"""
MEMSET_2022 = """start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,
    graphNodeId INTEGER, memKind INTEGER"""
GREEN = ("streamId INTEGER NOT NULL,", "greenContextId INTEGER, streamId INTEGER NOT NULL,")  # from 2024 on
GPU_2020 = "id INT NOT NULL, name TEXT NOT NULL, busLocation TEXT NOT NULL, isDiscrete INT NOT NULL"
GPU_2022 = """vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, uuid TEXT, luid INTEGER,
    chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, computeMajor INTEGER, computeMinor INTEGER"""
CUDA_2022 = "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT NOT NULL, numMultiprocessors INTEGER NOT NULL"

VERSIONS = {
    "2020": (KERNEL_2020, MEMCPY_2020, MEMSET_2020, GPU_2020, None),
    "2022": (KERNEL_2022, MEMCPY_2022, MEMSET_2022, GPU_2022, CUDA_2022),
    "2025": tuple(t.replace(*GREEN) for t in (KERNEL_2022, MEMCPY_2022, MEMSET_2022)) + (GPU_2022, CUDA_2022),
}


def pid(n):
    return 0x1000000000000 | n << 24  # globalPid: a machine above, a thread below


class Export:
    """A file of a version; rows are given by the columns that matter, the rest is 0 where it must be something."""

    def __init__(self, cuzk, version, name="x.sqlite"):
        if not ctypes.util.find_library("sqlite3"):
            raise Skip("no libsqlite3.so.0")
        self.path = cuzk.path(name)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.db = sqlite3.connect(self.path)
        kernel, memcpy, memset, gpu, cuda = VERSIONS[version]
        self.db.executescript("""
            CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
            CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(%s); CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(%s);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(%s); CREATE TABLE TARGET_INFO_GPU(%s);""" % (kernel, memcpy, memset, gpu))
        if cuda:
            self.db.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE(%s)" % cuda)
        self.db.executemany("INSERT INTO StringIds VALUES(?, ?)", NAMES.items())

    def put(self, table, **columns):
        has = self.db.execute("PRAGMA table_info(%s)" % table).fetchall()
        given = {k.lower(): v for k, v in columns.items()}
        row = [given.get(name.lower(), 0 if must else None) for _, name, _, must, _, _ in has]
        self.db.execute("INSERT INTO %s VALUES(%s)" % (table, ", ".join("?" * len(row))), row)
        return self

    def kernel(self, begin, end, device=0, process=pid(7), **more):
        more.setdefault("demangledName", LONG)
        more.setdefault("shortName", SHORT)
        return self.put("CUPTI_ACTIVITY_KIND_KERNEL", start=begin, end=end, deviceId=device, globalPid=process, **more)

    def copy(self, begin, end, kind, device=0, process=pid(7), **more):
        return self.put("CUPTI_ACTIVITY_KIND_MEMCPY", start=begin, end=end, deviceId=device, globalPid=process, copyKind=kind,
                        bytes=1000, **more)

    def done(self):
        self.db.commit()
        self.db.close()
        return self.path

    def read(self, cuzk):
        return cuzk.ok("timeline", "--import", self.done(), "--json").json()


def kernels(device):
    return {k["name"]: k["launches"] for k in device["kernels"]}


def test_versions(cuzk):
    """The same of every version: two cards, copies of every kind, a fill."""
    for version in VERSIONS:
        e = Export(cuzk, version)
        for i in range(3):
            e.kernel(1000 * i, 1000 * i + 500, correlationId=i)
        e.kernel(100, 200, device=1, shortName=SORT)
        for kind in range(15):  # 0: not known, 9: host to host, 14: of a version to come
            e.copy(5000 + 100 * kind, 5050 + 100 * kind, kind)
        e.put("CUPTI_ACTIVITY_KIND_MEMSET", start=4000, end=4100, deviceId=0, globalPid=pid(7), bytes=64)
        for number, name in enumerate(("Card A", "Card B")):
            e.put("TARGET_INFO_GPU", id=number, name=name, cuDevice=number)
            if version != "2020":
                e.put("TARGET_INFO_CUDA_DEVICE", gpuId=number, cudaId=number, pid=7)
        e.put("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1700000000000000000)
        j = e.read(cuzk)
        assert [d["device"] for d in j["devices"]] == [0, 1] and j["elsewhere"] == 3 and j["processes"] == 1 and j["pid"] == 7, j
        a, b = j["devices"]
        assert kernels(a) == {"sum": 3} and kernels(b) == {"sort": 1} and a["theirs"]["kernel_ns"] == 1500, (version, a)
        assert (a["theirs"]["up_ns"], a["theirs"]["down_ns"]) == (150, 150) and a["theirs"]["up_bytes"] == 3000, (version, a)
        out = cuzk.ok("timeline", "--import", e.path).out
        assert "device 0, Card A, " in out and "device 1, Card B, " in out, out


def test_missing(cuzk):
    """What some versions leave out or write as NULL: names, bytes, processes, cards."""
    e = Export(cuzk, "2025")
    e.db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
    e.db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(deviceId, start, "END", demangledName, mangledName)')
    e.kernel(10, 20).kernel(30, 40, demangledName=None, mangledName=MANGLED).kernel(50, 60, demangledName=None)
    e.kernel(70, 80, demangledName=EMPTY).kernel(90, 100, demangledName=77).kernel(110, None)
    e.db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY")
    e.db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, copyKind)")
    e.copy(5, 15, 1)
    e.db.execute("DROP TABLE TARGET_INFO_GPU")
    e.put("TARGET_INFO_CUDA_DEVICE", gpuId=0, cudaId=0, pid=7)
    e.put("TARGET_INFO_SESSION_START_TIME")
    j = e.read(cuzk)
    (d,) = j["devices"]
    assert j["without_times"] == 1 and j["processes"] == 0 and j["pid"] is None, j
    assert kernels(d) == {NAMES[LONG]: 1, NAMES[MANGLED]: 1, "(kernel without a name)": 1, "(kernel 5)": 1, "(kernel 77)": 1}, d
    assert d["theirs"]["up_ns"] == 10 and d["theirs"]["up_bytes"] == 0, d
    # empty tables
    cuzk.fails(1, "has no kernel with its times", "timeline", "--import", Export(cuzk, "2022").done())
    # cards by their own numbers, where nothing says what the process calls them
    e = Export(cuzk, "2022")
    e.db.execute("DROP TABLE TARGET_INFO_CUDA_DEVICE")
    e.put("TARGET_INFO_GPU", id=3, name="By CUDA", cuDevice=1).put("TARGET_INFO_GPU", id=1, name="Other", cuDevice=None)
    e.kernel(1, 2, device=1)
    assert "device 1, By CUDA, " in cuzk.ok("timeline", "--import", e.done()).out


def test_processes(cuzk):
    """Two processes call different cards 0: the one with more kernels counts, with what is nobody's."""
    e = Export(cuzk, "2025")
    for i in range(4):
        e.kernel(100 * i, 100 * i + 10, process=pid(8))
    e.kernel(5, 400, process=pid(7)).kernel(405, 500, process=pid(7))
    e.copy(20, 30, 1, process=pid(8)).copy(40, 80, 1, process=pid(9)).copy(50, 60, 1, process=None)
    for process, gpu in ((8, 1), (7, 0)):
        e.put("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=process)
    e.put("TARGET_INFO_GPU", id=0, name="Wrong").put("TARGET_INFO_GPU", id=1, name="Right")
    j = e.read(cuzk)
    (d,) = j["devices"]
    assert (j["pid"], j["processes"], j["of_others"]) == (8, 3, 3) and d["theirs"]["kernel_ns"] == 40, j
    assert d["theirs"]["up_ns"] == 20, d
    out = cuzk.ok("timeline", "--import", e.path).out
    assert "of process 8, which has the most kernels: 3 of 2 others are left out" in out and ", Right, " in out, out


def test_computed(cuzk):
    """A column that is an expression of the file's is never computed, where it would be read."""
    slow = "length(replace(hex(zeroblob(3000)), '0', hex(zeroblob(900))))"
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    for kind in ("VIRTUAL", "STORED"):
        for column in ("start", "deviceId", "shortName", "globalPid"):
            e = Export(cuzk, "2025")
            e.db.execute("DROP TABLE " + table)
            names = [c for c in ("start", "end", "deviceId", "shortName", "globalPid") if c != column]
            e.db.execute("CREATE TABLE %s(%s, %s AS (%s) %s)" % (
                table, ", ".join(names), column, slow if kind == "VIRTUAL" else "1", kind))
            e.db.execute("INSERT INTO %s(%s) VALUES(1, 2, 0, 1)" % (table, ", ".join(names)))
            cuzk.fails(1, "table %s: column %s is computed, not stored" % (table, column), "timeline", "--import", e.done())
    e = Export(cuzk, "2025")
    e.db.executescript("DROP TABLE StringIds; CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value AS (printf('%60000d', id)))")
    cuzk.fails(1, "column value is computed", "timeline", "--import", e.kernel(1, 2).done())
    # elsewhere it may be
    e = Export(cuzk, "2025")
    e.db.execute("DROP TABLE " + table)
    e.db.execute("CREATE TABLE %s(start, end, deviceId, shortName, duration AS (%s))" % (table, slow))
    assert kernels(e.kernel(1, 2).read(cuzk)["devices"][0]) == {"sum": 1}


def test_large_values(cuzk):
    """A text of a megabyte where a name is expected, a number, or a definition."""
    e = Export(cuzk, "2025").kernel(1, 2)
    e.db.execute("UPDATE StringIds SET value = ? WHERE id = ?", ("x" * (1 << 20), SHORT))
    cuzk.fails(1, "too big", "timeline", "--import", e.done())
    e = Export(cuzk, "2025").kernel("1" * (1 << 20) + "x", 2)
    cuzk.fails(1, "CUPTI_ACTIVITY_KIND_KERNEL: string or blob too big", "timeline", "--import", e.done())
    e = Export(cuzk, "2025").kernel("1" * 100 + "x", 2)
    cuzk.fails(1, "row 0, column start: no whole number", "timeline", "--import", e.done())
    e = Export(cuzk, "2025").kernel(1, 2)
    e.db.execute("CREATE TABLE large(a /* %s */)" % ("x" * (1 << 17)))
    r = cuzk("timeline", "--import", e.done())
    assert r.code == 1 and r.err.count("\n") == 1 and len(r.err) < 1000, r
    e = Export(cuzk, "2025").kernel(1, 2)
    e.db.executescript("DROP TABLE TARGET_INFO_GPU; CREATE TABLE TARGET_INFO_GPU(id, name, deep CHECK (%s))" % "+".join(300 * "1"))
    r = cuzk("timeline", "--import", e.done())
    assert r.code == 1 and r.err.count("\n") == 1, r


def test_one_text_for_all(cuzk):
    """Rows of names that all lead to the same pages: a small file that would be as long a text as one likes."""
    e = Export(cuzk, "2025")
    for i in range(8):
        e.kernel(10 * i, 10 * i + 5, shortName=i + 1)
    e.db.execute("DELETE FROM StringIds")
    (root,) = e.db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'StringIds'").fetchone()
    data = bytearray(harness.read(e.done()))
    page, (n_pages,) = 4096, struct.unpack(">I", data[28:32])
    assert struct.unpack(">H", data[16:18]) == (page,) and len(data) == n_pages * page
    n_local, n_chain = 489, 14  # of a payload that leaves no more in its cell
    payload = n_local + n_chain * (page - 4)

    def varint(v):
        return bytes([v >> s & 127 | (128 if s else 0) for s in (14, 7, 0)])

    record = bytes([5, 0]) + varint(13 + 2 * (payload - 5))  # NULL: the row's number; a text
    cells = b""
    head = bytes([13, 0, 0, 0, 8]) + struct.pack(">HB", page - 8 * (4 + n_local + 4), 0)
    for i in range(8):
        head += struct.pack(">H", page - (i + 1) * (4 + n_local + 4))
        cells = varint(payload) + bytes([i + 1]) + record + bytes([65 + i]) * (n_local - 5) + struct.pack(">I", n_pages + 1) + cells
    data[(root - 1) * page:root * page] = head + bytes(page - len(head) - len(cells)) + cells
    for i in range(n_chain):
        data += struct.pack(">I", n_pages + 2 + i if i < n_chain - 1 else 0) + b"x" * (page - 4)
    data[28:32] = struct.pack(">I", n_pages + n_chain)
    db = sqlite3.connect(cuzk.write("one.sqlite", bytes(data)))  # SQLite reads all eight
    assert [n for n, in db.execute("SELECT length(value) FROM StringIds")] == 8 * [payload - 5]
    db.close()
    assert len(data) < 3 * payload
    cuzk.fails(1, "table StringIds: more text than its %d bytes can hold" % len(data), "timeline", "--import",
               cuzk.path("one.sqlite"))


if __name__ == "__main__":
    harness.main(globals())
