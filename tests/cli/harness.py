# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tests of the command line share: a runner, fixtures, and editors for circom's files.

A test file defines functions test_* that take a Cuzk object and ends with harness.main(globals()).
Options: --build DIR, --needs FILES, -list, -run NAME, -seed N. CUZK_TEST_SANITIZER: set when the program is built
with a sanitizer or counts its lines (memory limits are then not checked, time limits are wider).
CUZK_TEST_EMULATOR: a command that runs the program.
"""
import argparse, gzip, json, os, random, resource, shlex, shutil, struct, subprocess, sys, tempfile, time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOTS = ["tests/fixtures", "../shared/fixtures", "../shared/golden"]
SANITIZED = bool(os.environ.get("CUZK_TEST_SANITIZER"))
EMULATOR = shlex.split(os.environ.get("CUZK_TEST_EMULATOR", ""))
SLOW = (20 if SANITIZED else 1) * (10 if EMULATOR else 1)  # factor on time limits

R = {
    "bn254": 21888242871839275222246405745257275088548364400416034343698204186575808495617,
    "bls12381": 52435875175126190479447740508185965837690552500527637822603658699938581184513,
}


class Skip(Exception):
    pass


class Result:
    """A finished process: code, out, err, seconds, cpu_seconds, peak_bytes."""

    def __init__(self, args, code, out, err, seconds, cpu_seconds, peak_bytes):
        self.args, self.code, self.out, self.err = args, code, out, err
        self.seconds, self.cpu_seconds, self.peak_bytes = seconds, cpu_seconds, peak_bytes

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return "%s\n  exit %d after %.3f s\n  stdout: %s\n  stderr: %s" % (
            " ".join(map(str, self.args)), self.code, self.seconds, self.out[:2000], self.err[:2000])


def run(args, limit=60, cwd=None, env=None, text=True):
    """Run a command; fails when it does not end within the limit."""
    full_env = dict(os.environ, **(env or {}))
    out_file, err_file = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    begin = time.monotonic()
    process = subprocess.Popen([str(a) for a in args], cwd=cwd, env=full_env, stdin=subprocess.DEVNULL,
                               stdout=out_file, stderr=err_file)
    deadline = begin + limit * SLOW
    pid = 0
    while pid == 0:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid == 0:
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                raise AssertionError("does not end within %g s: %s" % (limit, " ".join(map(str, args))))
            time.sleep(0.0005)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    data = []
    for f in (out_file, err_file):
        f.seek(0)
        data.append(f.read())
        f.close()
    if text:
        data = [d.decode("utf-8", "replace") for d in data]
    return Result(args, process.returncode, data[0], data[1], seconds,
                  usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


class Cuzk:
    """The program under test and a scratch folder, fresh for each test."""

    def __init__(self, build, scratch):
        self.build = os.path.abspath(build)
        self.program = os.path.join(self.build, "cuzk")
        self.scratch = scratch

    def path(self, name):
        return os.path.join(self.scratch, name)

    def __call__(self, *args, **kw):
        kw.setdefault("cwd", self.scratch)
        return run(EMULATOR + [self.program] + list(args), **kw)

    def ok(self, *args, **kw):
        r = self(*args, **kw)
        assert r.code == 0, r
        return r

    def fails(self, code, texts, *args, **kw):
        """Exit code and texts that stderr must hold; one line "cuzk COMMAND: …"."""
        many_lines = kw.pop("many_lines", False)
        r = self(*args, **kw)
        assert r.code == code, r
        for text in [texts] if isinstance(texts, str) else texts:
            assert text in r.err, "stderr lacks %r\n%s" % (text, r)
        if not many_lines:
            lines = [l for l in r.err.splitlines() if ": note: " not in l and ": warning: " not in l]
            assert len(lines) == 1 and lines[0].startswith("cuzk"), r
        return r

    def write(self, name, data):
        path = self.path(name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, (bytes, bytearray)) else data.encode())
        return path

    def write_json(self, name, value):
        return self.write(name, json.dumps(value))

    def fixture(self, name):
        """Path of a plain copy of a fixture."""
        found = find_fixture(name)
        if found is None:
            raise Skip("no fixture " + name)
        if not found.endswith(".gz"):
            return found
        plain = os.path.join(self.build, "cli-fixtures", name)
        if not os.path.exists(plain):
            os.makedirs(os.path.dirname(plain), exist_ok=True)
            with gzip.open(found) as f:
                data = f.read()
            temporary = "%s.%d" % (plain, os.getpid())
            with open(temporary, "wb") as f:
                f.write(data)
            os.rename(temporary, plain)
        return plain

    def circom(self, curve, circuit, name):
        return self.fixture("circom/%s/%s/%s" % (curve, circuit, name))

    def names(self):
        """Names in the scratch folder."""
        return sorted(os.listdir(self.scratch))

    def prove_and_verify(self, zkey, wtns, vkey, *options):
        self.ok("prove", zkey, wtns, "p.json", "pub.json", *options)
        self.ok("verify", vkey, "pub.json", "p.json", *[o for o in options if o == "--allow-test-key"])


def find_fixture(name):
    for root in ROOTS:
        for suffix in ("", ".gz"):
            path = os.path.join(TOP, root, name + suffix)
            if os.path.exists(path):
                return path
    return None


def read(path):
    with open(path, "rb") as f:
        return f.read()


# ---------------------------------------------------------------- circom's files


class Sections:
    """A .zkey, .wtns or .r1cs as a list of (id, bytes)."""

    def __init__(self, data):
        self.magic = data[:4]
        self.version, n = struct.unpack_from("<II", data, 4)
        self.list, at = [], 12
        for _ in range(n):
            kind, size = struct.unpack_from("<IQ", data, at)
            self.list.append((kind, data[at + 12:at + 12 + size]))
            at += 12 + size
        assert at == len(data)

    def get(self, kind):
        return dict(self.list)[kind]

    def set(self, kind, data):
        self.list = [(k, data if k == kind else d) for k, d in self.list]

    def remove(self, kind):
        self.list = [(k, d) for k, d in self.list if k != kind]

    def begin_of(self, kind):
        """Offset of a section's content in the file."""
        at = 12
        for k, d in self.list:
            if k == kind:
                return at + 12
            at += 12 + len(d)
        raise KeyError(kind)

    def bytes(self):
        out = self.magic + struct.pack("<II", self.version, len(self.list))
        for kind, data in self.list:
            out += struct.pack("<IQ", kind, len(data)) + data
        return out


def zkey_counts_at(header):
    """Offset of nVars, nPublic, domainSize in a zkey's section 2."""
    n8q = struct.unpack_from("<I", header, 0)[0]
    n8r = struct.unpack_from("<I", header, 4 + n8q)[0]
    return 8 + n8q + n8r


def wtns_values(data):
    s = Sections(data)
    body = s.get(2)
    return [int.from_bytes(body[i:i + 32], "little") for i in range(0, len(body), 32)]


def make_wtns(prime, values):
    s = Sections.__new__(Sections)
    s.magic, s.version = b"wtns", 2
    s.list = [
        (1, struct.pack("<I", 32) + prime.to_bytes(32, "little") + struct.pack("<I", len(values))),
        (2, b"".join(v.to_bytes(32, "little") for v in values)),
    ]
    return s.bytes()


def make_r1cs(prime, n_wires, n_out, n_in, constraints, n_private=None):
    """constraints: list of (A, B, C), each a dict from wire to coefficient."""
    body = b""
    for constraint in constraints:
        for lc in constraint:
            body += struct.pack("<I", len(lc))
            for wire, value in lc.items():
                body += struct.pack("<I", wire) + (value % prime).to_bytes(32, "little")
    if n_private is None:
        n_private = n_wires - 1 - n_out - n_in
    s = Sections.__new__(Sections)
    s.magic, s.version = b"r1cs", 1
    s.list = [
        (1, struct.pack("<I", 32) + prime.to_bytes(32, "little") +
            struct.pack("<IIIIQI", n_wires, n_out, n_in, n_private, n_wires, len(constraints))),
        (2, body),
        (3, b"".join(struct.pack("<Q", i) for i in range(n_wires))),
    ]
    return s.bytes()


# ---------------------------------------------------------------- runner


def main(names):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("--needs", nargs="*", help="built files that the test uses; for the build only")
    parser.add_argument("-list", action="store_true")
    parser.add_argument("-run", help="only tests whose name contains this")
    parser.add_argument("-seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    options = parser.parse_args()
    tests = [(n, f) for n, f in names.items() if n.startswith("test_")]
    if options.list:
        print("\n".join(n for n, _ in tests))
        return
    failed = n_run = 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, function in tests:
        if options.run and options.run not in name:
            continue
        n_run += 1
        random.seed(options.seed)
        scratch = tempfile.mkdtemp(prefix="cuzk-cli-")
        begin = time.monotonic()
        try:
            function(Cuzk(options.build, scratch))
            word = "ok"
        except Skip as reason:
            word = "skipped: %s" % reason
        except Exception:
            traceback.print_exc()
            word = "FAILED (seed %d)" % options.seed
            failed += 1
        shutil.rmtree(scratch, ignore_errors=True)
        print("%-50s %6.2f s  %s" % (name, time.monotonic() - begin, word), flush=True)
    if n_run == 0:
        sys.exit("no test is called " + str(options.run))
    sys.exit(1 if failed else 0)
