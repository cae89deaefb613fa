# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon as its clients see it: starts the program, talks to it with grpcio and protobuf of Python's packages,
which share no code with ours.

    with Daemon(cuzk) as d:                  the real program
        d.prove(d.window(…))
    with Daemon(cuzk, test=True) as d:       the tests' program, with the empty work as kind 6 and injected faults
        d.prove(d.null("units=3 prove_us=1000"))

Requests are the messages of proto/cuzk/v1, made by protoc when a test starts.
"""
import hashlib, importlib, json, os, random, re, signal, socket, struct, subprocess, sys, tempfile, threading, time, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import harness
from harness import SANITIZED, SLOW, Skip, TOP, read

import grpc

NIGHTLY = bool(os.environ.get("CUZK_NIGHTLY"))
NULL = 6  # proof_kind of the empty work
SOON = 60 * SLOW  # more than anything takes on a busy machine, less than what must not be waited for: FOREVER
FOREVER_US = 3600000000  # an hour
BOUND = 5 if SANITIZED else 1  # factor on bytes of the daemon
MiB = 1 << 20
UNKNOWN, COMPLETED, FAILED, CANCELLED, TIMEOUT = range(5)  # AwaitProofResponse.Status

_modules = None


def messages():
    """proving_pb2, circom_pb2 and devices_pb2."""
    global _modules
    if _modules is None:
        folder = tempfile.mkdtemp(prefix="cuzk-proto-")
        proto = os.path.join(TOP, "proto")
        subprocess.run(["protoc", "-I" + proto, "--python_out=" + folder, proto + "/cuzk/v1/proving.proto",
                        proto + "/cuzk/v1/circom.proto", proto + "/cuzk/v1/devices.proto"], check=True)
        sys.path.insert(0, folder)
        _modules = tuple(importlib.import_module("cuzk.v1.%s_pb2" % name) for name in ("proving", "circom", "devices"))
        subprocess.run(["rm", "-r", folder], check=True)
    return _modules


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def null_proof(payload, units=1):
    """What the empty work proves for a payload."""
    digest = hashlib.sha256(payload).digest()
    return b"".join(hashlib.sha256(digest + struct.pack("<II", unit, i)).digest() for unit in range(units)
                    for i in range(6))


def wait_until(what, condition, limit=120):
    """Wait until condition() is true and return it; fails after `limit` seconds."""
    deadline = time.monotonic() + limit * SLOW
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited %g s for: %s" % (limit * SLOW, what)
        time.sleep(0.005)


class Client:
    """One connection. Calls are methods of the services; keyword arguments are fields, or one message is given."""

    METHODS = {}

    def __init__(self, target, options=(), metadata=(), credentials=None):
        self.proving, self.circom, self.devices = messages()
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
                   ("grpc.use_local_subchannel_pool", 1)] + list(options)
        self.channel = (grpc.secure_channel(target, credentials, options) if credentials
                        else grpc.insecure_channel(target, options))
        self.metadata = list(metadata)
        self.calls = {}
        for module, service in ((self.proving, "ProvingEngine"), (self.circom, "Circom"), (self.devices, "Devices")):
            for m in module.DESCRIPTOR.services_by_name[service].methods:
                kind, answer = getattr(module, m.input_type.name), getattr(module, m.output_type.name)
                self.calls[m.name] = kind, self.channel.unary_unary(
                    "/cuzk.v1.%s/%s" % (service, m.name), request_serializer=lambda x: x if isinstance(x, bytes)
                    else x.SerializeToString(), response_deserializer=answer.FromString)

    def start(self, method, message=None, timeout=300, **fields):
        """A call as a future. It is cancelled when nobody holds it any more."""
        kind, call = self.calls[method]
        if message is None:
            message = kind(**fields)
        return call.future(message, timeout=None if timeout is None else timeout * SLOW, metadata=self.metadata,
                           wait_for_ready=False)

    def __call__(self, method, message=None, timeout=300, **fields):
        return self.start(method, message, timeout, **fields).result()

    def fails(self, code, text, method, message=None, **fields):
        """The call ends with a status whose details hold a text."""
        try:
            answer = self(method, message, **fields)
        except grpc.RpcError as e:
            assert e.code() == getattr(grpc.StatusCode, code), "%s: %s" % (e.code(), e.details())
            assert text.lower() in e.details().lower(), e.details()
            return e.details()
        raise AssertionError("%s is OK: %s" % (method, str(answer)[:300]))

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Daemon:
    """The program with a folder of its own. Not started yet; `with` starts it and stops it at the end."""

    def __init__(self, cuzk, test=False, name="d", config=None, listen=None, http=True, env=None):
        self.cuzk, self.test = cuzk, test
        self.program = os.path.join(cuzk.build, "cuzk-server-test" if test else "cuzk-server")
        if not os.path.exists(self.program):
            raise Skip("%s is not built" % os.path.basename(self.program))
        self.folder = cuzk.path(name)
        os.makedirs(self.folder + "/circom", exist_ok=True)
        self.socket = self.folder + "/s"
        self.http_port = free_port() if http else None
        self.listen = listen or ["unix://" + self.socket]
        self.config = {
            "daemon.listen": self.listen, "daemon.status_listen": "127.0.0.1:%d" % self.http_port if http else "",
            "daemon.drain_time": "5m", "srs.param_cache": params_folder(cuzk), "srs.circuit_cache": params_folder(cuzk),
            "srs.allow_test_keys": True, "circom.folder": self.folder + "/circom", "memory.total_budget": "4GiB",
            "journal.path": self.folder + "/journal.db", "logging.rate": 0,
        }
        self.config.update(config or {})
        self.env = env or {}
        self.process = None
        self.log_path = self.folder + "/log"
        self.trace_path = self.folder + "/trace"
        self.clients = []

    # ---------------------------------------------------------------- life

    def write_config(self):
        sections = {}
        for key, value in self.config.items():
            section, name = key.split(".")
            sections.setdefault(section, []).append("%s = %s" % (name, json.dumps(value)))
        path = self.folder + "/cuzk.toml"
        with open(path, "w") as f:
            for section, lines in sections.items():
                f.write("[%s]\n%s\n" % (section, "\n".join(lines)))
        return path

    def spawn(self, *flags):
        """Start the program; it may not be ready yet."""
        log = open(self.log_path, "ab")
        env = dict(os.environ, CUZK_TEST_TRACE=self.trace_path, **self.env)
        self.process = subprocess.Popen([self.program, "serve", "--config", self.write_config()] + list(flags),
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.folder)
        log.close()
        return self

    def start(self, *flags):
        self.spawn(*flags)
        self.wait_ready()
        return self

    def wait_ready(self, limit=120):
        def is_ready():
            assert self.process.poll() is None, "the daemon ended with %s:\n%s" % (self.process.returncode, self.log())
            try:
                with Client(self.target()) as c:
                    return c("GetStatus", timeout=10) is not None and self.has_http()
            except grpc.RpcError:
                return False
        wait_until("the daemon to serve", is_ready, limit)

    def has_http(self):
        """The HTTP port listens, which it does after gRPC's, or there is none."""
        if self.http_port is None or "there is no HTTP port" in self.log():
            return True
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.http_port)) == 0

    def target(self):
        address = self.listen[0]
        return "unix:" + address[len("unix://"):] if address.startswith("unix://") else address

    def client(self, **kw):
        c = Client(self.target(), **kw)
        self.clients.append(c)
        return c

    @property
    def c(self):
        """A client that lasts as long as the daemon."""
        if not self.clients:
            self.client()
        return self.clients[0]

    def wait_end(self, limit=120):
        """Exit code."""
        try:
            return self.process.wait(limit * SLOW)
        except subprocess.TimeoutExpired:
            raise AssertionError("the daemon does not end within %g s:\n%s" % (limit * SLOW, self.log()))

    def stop(self, how=signal.SIGTERM, limit=120):
        """Signal it and wait. Exit code."""
        for c in self.clients:
            c.close()
        self.clients = []
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.wait_end(limit)
        self.process = None
        return code

    def kill(self):
        return self.stop(signal.SIGKILL)

    def log(self):
        return read(self.log_path).decode("utf-8", "replace")[-6000:] if os.path.exists(self.log_path) else ""

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if self.process is not None and self.process.poll() is not None:
            print("the daemon ended with %s:\n%s" % (self.process.returncode, self.log()))
            assert kind is not None, "the daemon ended by itself"
        elif self.process is not None:
            if kind is not None:
                print(self.log())
            code = self.stop(signal.SIGTERM if kind is None else signal.SIGKILL)
            assert kind is not None or code == 0, "exit code %s:\n%s" % (code, self.log())

    # ---------------------------------------------------------------- looking

    def get(self, path):
        """Code and text of an HTTP answer."""
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.http_port, path), timeout=60 * SLOW) as r:
                return r.status, r.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def status(self):
        return json.loads(self.get("/status")[1])

    def metrics(self):
        """Samples by name with labels as they stand."""
        out = {}
        for line in self.get("/metrics")[1].splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                out[name] = float(value)
        return out

    def resident_bytes(self):
        return int(re.search(r"VmRSS:\s+(\d+) kB", read("/proc/%d/status" % self.process.pid).decode()).group(1)) * 1024

    def trace(self, since=0):
        """What the empty work did: list of (stage, unit, text). since: a former trace_bytes."""
        if not os.path.exists(self.trace_path):
            return []
        with open(self.trace_path, "rb") as f:
            f.seek(since)
            lines = [l.split(" ", 2) for l in f.read().decode().splitlines()]
        return [(l[0], int(l[1]), l[2]) for l in lines]

    def trace_bytes(self):
        return os.path.getsize(self.trace_path) if os.path.exists(self.trace_path) else 0

    def unfinished(self):
        """Jobs inside, as Curio counts them."""
        return sum(q.pending + q.in_progress for q in self.c("GetStatus").queues)

    def open_gate(self, name):
        """Let pass what waits for a file (test_program.c)."""
        open(os.path.join(self.folder, name), "w").close()

    # ---------------------------------------------------------------- requests

    def null(self, text="", id="", **fields):
        data = text if isinstance(text, bytes) else text.encode()
        return messages()[0].SubmitProofRequest(request_id=id, proof_kind=NULL, vanilla_proof=data, **fields)

    def golden(self, case, id="", **fields):
        """The request for a golden case, as Curio would send it."""
        e = json.loads(read(self.cuzk.fixture("cases/%s/expected.json" % case)))
        request = messages()[0].SubmitProofRequest(request_id=id, miner_id=miner(e), sector_size=2048)
        if e["kind"] == "porep":
            request.proof_kind, request.registered_proof = 1, e["registered_seal_proof"]
            request.vanilla_proof, request.sector_number = envelope(self.cuzk, case, e), e["sector"]
        else:
            names = ("cases/%s/vanilla-%d.bincode" % (case, i) for i in range(1000))
            files = []
            for n in names:
                if harness.find_fixture(n) is None:
                    break
                files.append(read(self.cuzk.fixture(n)))
            request.vanilla_proofs.extend(files)
            if e["kind"] == "update":
                request.proof_kind, request.registered_proof = 2, e["registered_update_proof"]
                for n in ("comm_r_old", "comm_r_new", "comm_d_new"):
                    setattr(request, n, bytes.fromhex(e[n]))
            else:
                request.proof_kind = 3 if e["kind"] == "window" else 4
                request.registered_proof, request.randomness = e["registered_post_proof"], bytes.fromhex(e["randomness"])
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    def prove(self, request, **kw):
        return self.c("Prove", submit=request, **kw).result


def miner(e):
    value = 0
    for i, b in enumerate(bytes.fromhex(e["prover_id"])):
        value |= (b & 127) << 7 * i
        if b < 128:
            return value


def envelope(cuzk, case, e):
    """A commit-phase-1 output as Curio wraps it."""
    import base64
    inner = read(cuzk.fixture("cases/%s/c1.json" % case))
    if b"Phase1Out" in inner[:400]:
        return inner
    return json.dumps({"SectorNum": e["sector"], "Phase1Out": base64.b64encode(inner).decode(),
                       "SectorSize": 2048}).encode()


def params_folder(cuzk):
    """Where test parameters lie, kept between runs."""
    folder = os.path.join(cuzk.build, "server-params")
    os.makedirs(folder, exist_ok=True)
    return folder


def need_params(cuzk, *kinds):
    import fcntl
    folder = params_folder(cuzk)
    with open(folder + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for kind in kinds:
            cuzk.ok("params", "setup", kind, "2KiB", env={"FIL_PROOFS_PARAMETER_CACHE": folder}, limit=600)
    return folder


def verify(cuzk, case, proof):
    """Whether the command line takes a proof of a golden case's statement."""
    import test_filecoin
    kind, fields = test_filecoin.statement(cuzk, case)
    path = cuzk.write("proof-%s.bin" % hashlib.sha256(proof).hexdigest()[:16], proof)
    request = cuzk.write_json("request-%s.json" % case, fields)
    env = {"FIL_PROOFS_PARAMETER_CACHE": params_folder(cuzk)}
    r = cuzk("verify", kind, path, "--request", request, "--allow-test-key", env=env)
    return r.code == 0


def refused_at_the_end(d, client):
    """The id of a job that a daemon which ends refuses. One that comes as the end begins may still be taken."""
    def try_one():
        id = "late-%d" % random.getrandbits(60)
        try:
            client("SubmitProof", d.null(id, id))
        except grpc.RpcError as e:
            assert e.code() == grpc.StatusCode.UNAVAILABLE, e
            return id
    return wait_until("new work to be refused", try_one)


def healthy(d, n=20):
    """Another client is served as ever."""
    begin = time.monotonic()
    with Client(d.target()) as c:
        for i in range(n):
            text = "h=%d" % random.getrandbits(60)
            assert c("Prove", submit=d.null(text)).result.proof == null_proof(text.encode())
    return time.monotonic() - begin


def threads(n, function):
    """function(0 … n-1) in threads of their own; the first exception is raised here."""
    problems = []

    def run(i):
        try:
            function(i)
        except BaseException as e:
            problems.append(e)
    all_threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(n)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    if problems:
        raise problems[0]
