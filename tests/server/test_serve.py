# SPDX-License-Identifier: MIT OR Apache-2.0
"""The real daemon: configuration, HTTP port, signals, what systemd says and hears."""
import json, os, re, signal, socket, subprocess, threading, time

from serving import Serving, clean_environment, winning_params
import harness


def test_serves_and_ends(cuzk):
    """BC-111: idle, each signal; the socket is gone afterwards."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with Serving(cuzk) as d:
            assert os.path.exists(d.socket)
            assert oct(os.stat(d.socket).st_mode & 0o777) == "0o660", os.stat(d.socket)
            begin = time.monotonic()
            d.end(number)
            assert time.monotonic() - begin < 5 * harness.SLOW
            assert not os.path.exists(d.socket)
            order = [d.log().index(t) for t in ('"starting"', '"ready"', "shutting down", "all jobs have ended", '"ended"')]
            assert order == sorted(order), d.log()


def schema(value, form, where="$"):
    """Types and names of upstream-compatible JSON; more members are allowed."""
    if isinstance(form, dict):
        assert isinstance(value, dict), where
        for k, f in form.items():
            assert k in value, "%s lacks %s" % (where, k)
            schema(value[k], f, where + "." + k)
    elif isinstance(form, list):
        assert isinstance(value, list), where
        for v in value:
            schema(v, form[0], where + "[]")
    elif form is float:
        assert isinstance(value, float), (where, value)
    else:
        assert isinstance(value, form) and not isinstance(value, bool) or form is bool, (where, value)


NONE = type(None)
STATUS = {
    "uptime_secs": float,
    "memory": {"total_bytes": int, "used_bytes": int, "available_bytes": int},
    "synthesis": {"max_concurrent": int, "active": int},
    "pipelines": [{"job_id": str, "proof_kind": str, "started_secs_ago": float, "total_partitions": int,
                   "partitions_done": int,
                   "partitions": [{"index": int, "state": str, "synth_ms": (int, NONE), "gpu_ms": (int, NONE)}]}],
    "gpu_workers": [{"worker_id": int, "gpu_ordinal": int, "state": str, "current_job": (str, NONE),
                     "current_partition": (int, NONE), "busy_secs": (float, NONE)}],
    "allocations": {"srs": [{"circuit_id": str, "bytes": int, "last_used_secs_ago": float, "evictable": bool}],
                    "pce": []},
    "counters": {"total_completed": int, "total_failed": int, "completed_by_kind": {"porep-c2": int},
                 "failed_by_kind": {"winning-post": int}, "queue_depth": int},
    "buffers": {"synth_in_flight": int, "provers_in_flight": int, "aux_in_flight": int, "shells_in_flight": int,
                "pending_handles": int},
}


def test_http(cuzk):
    with Serving(cuzk) as d:
        code, headers, body = d.get("/status")
        assert code == 200 and headers["Content-Type"] == "application/json", headers
        assert headers["Access-Control-Allow-Origin"] == "*" and headers["Connection"].lower() == "close", headers
        assert int(headers["Content-Length"]) == len(body)
        schema(json.loads(body), STATUS)
        assert d.get("/status/x?y=z")[0] == 200
        assert d.get("/healthz")[0::2] == (200, b"ok\n")
        assert d.get("/readyz")[0::2] == (200, b"ready\n")
        assert d.get("/nothing")[0] == 404
        assert d.get("/metrics", "POST", b"")[0] == 405
        code, headers, body = d.get("/metrics")
        assert code == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
        families = check_exposition(body.decode())
        for name, kind in (("cuzk_proofs_completed_total", "counter"), ("cuzk_proofs_failed_total", "counter"),
                           ("cuzk_uptime_seconds", "gauge"), ("cuzk_queue_depth", "gauge"),
                           ("cuzk_proof_duration_seconds", "summary"), ("cuzk_running_jobs", "gauge"),
                           ("cuzk_gpu_workers", "gauge"), ("cuzk_stage_seconds", "histogram"),
                           ("cuzk_rpc_calls_total", "counter")):
            assert families[name] == kind, (name, families.get(name))
        assert 'cuzk_proofs_completed{proof_kind="winning_post"} 0' in body.decode()


def check_exposition(text):
    """Families and their types; a second checker beside the one in C."""
    families, current = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split()[2]
            assert current not in families, line
        elif line.startswith("# TYPE "):
            assert line.split()[2] == current, line
            families[current] = line.split()[3]
        else:
            name = re.fullmatch(r'([a-zA-Z_:][\w:]*)(\{(\w+="([^"\\\n]|\\.)*",?)*\})? (NaN|[+-]Inf|[-+.\de]+)', line)
            assert name, line
            base = re.sub("_(sum|count|bucket)$", "", name.group(1))
            assert current in (name.group(1), base), line
    for name, kind in families.items():
        assert (kind == "counter") == name.endswith("_total"), (name, kind)
    return families


def test_http_circom_bodies(cuzk):
    """What bodies of circom requests may take is set aside; one that has no room is told to come again."""
    os.mkdir(cuzk.path("circom"))
    flags = ["--set", "memory.total_budget=256MiB", "--set", "http.max_body=8MiB", "--set", "memory.intake=64MiB",
             "--set", "rpc.max_message=1MiB"]
    with Serving(cuzk, *flags) as d:
        # a 64th is for the recording in memory, as 3 equal parts
        assert d.status()["memory"]["total_bytes"] == (240 << 20) - (240 << 20) // 64 // 3 * 3, d.log()
        assert d.get("/circom")[0] == 200
        code, _, body = d.get("/circom/nothing/prove", "POST", b"x" * 1000)
        assert code in (400, 404, 415), (code, body)
        code, _, body = d.get("/circom/nothing/prove", "POST", b"x" * (8 << 20))
        assert code in (400, 404, 415), (code, body)
        slow = []
        head = b"POST /circom/nothing/prove HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % (8 << 20)
        deadline = time.monotonic() + 20 * harness.SLOW
        while len(slow) < 2:  # each holds the room of its body while it does not send it
            s = socket.create_connection(("127.0.0.1", d.port))
            s.settimeout(20 * harness.SLOW)
            s.sendall(head + b"Expect: 100-continue\r\n\r\n")
            if s.recv(100).startswith(b"HTTP/1.1 100 "):
                slow.append(s)
            else:  # the room of the bodies before comes back when their connections have ended
                assert time.monotonic() < deadline, "a body found no room"
                time.sleep(0.01)
        s = socket.create_connection(("127.0.0.1", d.port))
        s.sendall(head + b"\r\n")
        s.settimeout(20 * harness.SLOW)
        assert s.recv(100).startswith(b"HTTP/1.1 503"), "a third body found room"
        assert d.get("/healthz")[0] == 200
        for s in slow:
            s.close()


def test_http_crowd(cuzk):
    """A crowd of idle connections and nonsense do no harm: afterwards the port answers, and memory is as before."""
    def resident():
        return int(re.search(r"VmRSS:\s+(\d+)", harness.read("/proc/%d/status" % d.process.pid).decode()).group(1)) << 10
    with Serving(cuzk) as d:
        d.get("/metrics")
        before = resident()
        crowd = []
        for i in range(150):  # beyond the limit, within the queue of the system
            s = socket.create_connection(("127.0.0.1", d.port))
            s.settimeout(20 * harness.SLOW)
            if i % 3 == 0:
                s.sendall(b"GET /met")
            elif i % 3 == 1:
                try:
                    s.sendall(b"\x00\xff" * 20000)
                except OSError:
                    pass
            crowd.append(s)
        for s in crowd[5:]:  # some stay, also when the daemon ends
            s.close()
        deadline = time.monotonic() + 20 * harness.SLOW
        code = None
        while code != 200 and time.monotonic() < deadline:
            try:
                code = d.get("/healthz")[0]
            except OSError:
                time.sleep(0.05)
        assert code == 200
        assert resident() < before + (16 << 20) or harness.SANITIZED, (before, resident())


def test_http_port_taken(cuzk):
    """The daemon goes on without."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        taken = "127.0.0.1:%d" % s.getsockname()[1]
        with Serving(cuzk, "--status-listen", taken, http=False) as d:
            assert "there is no HTTP port" in d.log() and "Address already in use" in d.log(), d.log()
    with Serving(cuzk, "--status-listen", "0.0.0.0:0", http=False) as d:
        assert "http.allow_remote is not true" in d.log(), d.log()


def serve_fails(cuzk, texts, *flags, code=1, env=None):
    r = harness.run([os.path.join(cuzk.build, "cuzk"), "serve"] + list(flags), cwd=cuzk.scratch,
                    env=env, limit=20)
    assert r.code == code, r
    for text in texts:
        assert text in r.err, r
    return r


def test_refusals(cuzk):
    socket_flag = "unix://" + cuzk.path("s.sock")
    bad = cuzk.write("bad.toml", "[daemon]\nlisten = \"0.0.0.0:1\"\nlistn = 1\n[rpc]\nthreads = 0\n")
    serve_fails(cuzk, ["%s:2: daemon.listen: \"0.0.0.0:1\" is reached by other machines" % bad,
                       "%s:3: daemon.listn: there is no such key; the nearest is daemon.listen" % bad,
                       "%s:5: rpc.threads" % bad], "-c", bad)
    assert cuzk.names() == ["bad.toml"], cuzk.names()
    serve_fails(cuzk, ["no such file"], "-c", "nothing.toml")
    serve_fails(cuzk, ["--set: rpc.tread: there is no such key; the nearest is rpc.threads"], "--set", "rpc.tread=1")
    serve_fails(cuzk, ["test.faults: this is not the tests' program"], "--set", "test.faults=prove")
    serve_fails(cuzk, ["takes no arguments"], "now", code=2)
    serve_fails(cuzk, ["--listne: unknown option"], "--listne", "x", code=2)
    serve_fails(cuzk, ["--listen: needs a value"], "--listen", code=2)
    serve_fails(cuzk, ["the daemon does not start", "gpus.devices"], "--listen", socket_flag, "--journal", "none",
                "--set", "gpus.devices=99")
    serve_fails(cuzk, ["the daemon does not start", "journal"], "--listen", socket_flag, "--journal",
                "/proc/nothing/journal.db")
    for command in ("serve", "config"):
        r = cuzk.ok(command, "--help")
        assert r.out.startswith("usage: cuzk " + command) and "--status-listen" in r.out, r
        assert cuzk.ok("help", command).out == r.out == cuzk.ok("--help", command).out
    r = cuzk("--json", "serve")
    assert r.code == 2 and "cuzk serve: --json: unknown option" in r.err, r


def test_two_daemons(cuzk):
    """BC-120: the second is refused and leaves the first alone; a dead one's socket is taken over."""
    with Serving(cuzk) as d:
        serve_fails(cuzk, ["the daemon does not start"], "--listen", "unix://" + d.socket, "--journal", "none")
        serve_fails(cuzk, ["the daemon does not start", "journal"], "--listen", "unix://" + cuzk.path("t.sock"),
                    "--journal", cuzk.path("journal.db"))
        assert d.status()["ready"] is True and os.path.exists(d.socket)
        d.kill(signal.SIGKILL)
        assert d.wait() == -signal.SIGKILL
    assert os.path.exists(d.socket)
    with Serving(cuzk) as d:
        assert d.status()["ready"] is True


def test_environment_and_flags(cuzk):
    cuzk.write("cuzk.toml", "[logging]\nlevel = \"error\"\n[pipeline]\nmax_parallel_synthesis = 3\nenabled = true\n")
    env = {"CUZK_LOGGING_LEVEL": "warn", "CUZK_SYNTHESIS_THREADS": "7", "RUST_LOG": "debug"}
    with Serving(cuzk, "--log-level", "info", env=env) as d:
        assert d.status()["synthesis"]["max_concurrent"] == 3
        for text in ("pipeline.enabled has no effect", "RUST_LOG: has no effect", '"starting"'):
            assert text in d.log(), d.log()


def test_check_says_what_stops_the_start(cuzk):
    """What `config check` takes, `serve` starts with: budgets, tokens and names of circuits are looked at."""
    token = cuzk.write("token", "short\n")
    socket_flag = ["--listen", "unix://" + cuzk.path("s.sock"), "--journal", "none"]
    for flag, text in ((["--set", "memory.total_budget=2GiB", "--set", "memory.intake=3GiB"], "memory.intake: "),
                       (["--set", "memory.intake=1TiB"], "memory.intake: "),
                       (["--set", "auth.token_file=" + token], token),
                       (["--set", "auth.admin_token_file=/nothing"], "/nothing"),
                       (["--set", "tls.cert=" + token, "--set", "tls.key=" + token], token),
                       (["--set", "otel.endpoint=localhost:4318"], "otel.endpoint: "),
                       (["--set", "srs.preload=porep-99g"], "srs.preload: ")):
        r = cuzk("config", "check", *flag, env=clean_environment())
        assert r.code == 1 and "error: " in r.err and text in r.err and ": ok" not in r.out, r
        r = serve_fails(cuzk, [text], *socket_flag, *flag)
        assert "another place" not in r.err, r
    r = cuzk.ok("config", "check", "--set", "srs.preload=winning-2k,circom:later", env=clean_environment())
    with Serving(cuzk) as d:
        cuzk.write("cuzk.toml", "srs.preload = \"porep-99g\"\n")
        d.kill(signal.SIGHUP)
        d.wait_for("configuration stays as it was")
        assert "porep-99g" in d.log() and d.get("/readyz")[0] == 200, d.log()


def test_missing_folder_is_told(cuzk):
    with Serving(cuzk, "--set", "srs.param_cache=/nowhere") as d:
        assert 'warn "configuration" text="--set: srs.param_cache: \\"/nowhere\\": No such file' in d.log(), d.log()
    for key in ("srs.param_cache", "circom.folder"):
        r = cuzk.ok("config", "check", "--set", key + "=/etc/hostname", env=clean_environment())
        assert 'warning: --set: %s: "/etc/hostname": not a folder' % key in r.err, r
    with Serving(cuzk, "--set", "gpus.devices=cpu") as d:
        assert " warn " not in d.log(), d.log()
        wtns = cuzk.circom("bn254", "multiplier2", "witness.wtns")
        for command in (["circuits", "list"], ["circuits", "register", "a", "a.zkey"], ["submit", "circom", "a", wtns]):
            cuzk.fails(1, "circom.folder of the daemon's configuration names no folder that is there", *command,
                       "--connect", "unix://" + d.socket)


def test_config_command(cuzk):
    env = clean_environment()
    r = cuzk.ok("config", "print", "-c", cuzk.write("a.toml", "rpc.threads = 7\n"), "--listen", "127.0.0.1:0", env=env)
    assert re.search(r"^threads = 7 +# .*a.toml:1$", r.out, re.M), r
    assert re.search(r'^listen = \["127.0.0.1:0"\] +# --listen$', r.out, re.M), r
    printed = cuzk.write("printed.toml", r.out)
    assert "printed.toml: ok" in cuzk.ok("config", "check", printed).out
    piped = harness.run(["sh", "-c", '"$0" config print | "$0" config check /dev/stdin', cuzk.program], env=env)
    assert piped.code == 0 and "/dev/stdin: ok" in piped.out, piped
    again = cuzk.ok("config", "print", "-c", printed).out
    values = lambda t: [line.split("#")[0].strip() for line in t.splitlines()]
    assert values(again) == values(r.out)
    r = cuzk("config", "check", cuzk.write("b.toml", "[memory]\ntotal_budget = \"50 Gob\"\n"))
    assert r.code == 1 and r.err.startswith("cuzk config: error: ") and "b.toml:2: memory.total_budget: \"50 Gob\"" in r.err, r
    assert "default      \"5GiB\"" in cuzk.ok("config", "explain", "memory.safety_margin").out
    assert len(cuzk.ok("config", "explain").out) > 5000
    r = cuzk.ok("config", "explain", "tls")
    assert [l for l in r.out.splitlines() if l.startswith("tls.")] == ["tls.cert", "tls.key", "tls.client_ca"], r
    r = cuzk.ok("config", "check", cuzk.write("c.toml", "srs.circuit_cache = \"/nothing\"\nsrs.param_cache = \"%s\"\n" %
                                              cuzk.scratch))
    assert r.out.endswith("c.toml: ok, with warnings\n") and "srs.circuit_cache: \"/nothing\": No such file" in r.err, r
    assert "param_cache" not in r.err, r
    r = cuzk("config", "explain", "memory.saftey_margin")
    assert r.code == 2 and "nearest is memory.safety_margin" in r.err, r
    with open(os.path.join(harness.TOP, "examples", "cuzk.toml")) as f:
        assert cuzk.ok("config", "example").out == f.read()
    with open(os.path.join(harness.TOP, "docs", "configuration.md")) as f:
        assert cuzk.ok("config", "manual").out == f.read()
    for bad in ([], ["chek"], ["print", "x"], ["check", "a", "b"], ["explain", "a", "b"]):
        assert cuzk("config", *bad).code == 2, bad


def test_reload(cuzk):
    """SIGHUP: live keys take effect, others are named, a broken file changes nothing."""
    with Serving(cuzk) as d:
        cuzk.write("cuzk.toml", "[logging]\nformat = \"json\"\n[rpc]\nthreads = 3\n")
        d.kill(signal.SIGHUP)
        d.wait_for("configuration read again")
        lines = d.log().splitlines()
        assert any('"configuration changed" key=logging.format' in l for l in lines), d.log()
        assert any("takes a restart" in l and "rpc.threads" in l for l in lines), d.log()
        last = json.loads(lines[-1])
        assert last["level"] == "info" and last["msg"] == "configuration read again" and last["ts"], last
        cuzk.write("cuzk.toml", "[logging]\nformat = \"text\"\n[rpc]\nthreads = 0\n")
        d.kill(signal.SIGHUP)
        d.wait_for("configuration stays as it was")
        assert json.loads(d.log().splitlines()[-1])["level"] == "error"
        # a file that is named and not there: nothing of the rest is taken
        n = len(d.log())
        cuzk.write("cuzk.toml", "[logging]\nlevel = \"error\"\n[auth]\ntoken_file = \"/nothing\"\n")
        d.kill(signal.SIGHUP)
        d.wait_for("/nothing")
        assert "configuration stays as it was" in d.log()[n:], d.log()[n:]
        cuzk.write("cuzk.toml", "[logging]\nlevel = \"warn\"\n")
        d.kill(signal.SIGHUP)
        d.wait_for('"key":"logging.level"')
        time.sleep(0.3)
        n = len(d.log())
        d.kill(signal.SIGTERM)
        assert d.wait() == 0
        assert len(d.log()) == n or "read again" in d.log()[n:], d.log()[n:]


def test_preload_and_readiness(cuzk):
    """BC-113: not ready before what is to be preloaded is there; served all the same; tried again."""
    params = cuzk.path("params")
    flags = ["--set", "srs.param_cache=" + params, "--set", "srs.allow_test_keys=true", "--set", "srs.preload=winning-2k"]
    os.mkdir(params)
    with Serving(cuzk, *flags) as d:
        d.wait_for("a circuit of srs.preload cannot be loaded")
        assert d.get("/readyz")[0::2] == (503, b"loading srs.preload\n")
        assert d.get("/healthz")[0] == 200 and d.status()["ready"] is False
        assert 'cuzk_ready 0' in d.get("/metrics")[2].decode()
        d.kill(signal.SIGHUP)
        made = winning_params(cuzk)
        for name in os.listdir(made):
            os.symlink(os.path.join(made, name), os.path.join(params, name))
        d.kill(signal.SIGHUP)  # does not wait for the next try
        d.wait_for('"ready"')
        assert d.get("/readyz")[0] == 200
        srs = d.status()["allocations"]["srs"]
        assert [s["circuit_id"] for s in srs] == ["winning-2k"] and not srs[0]["evictable"] and srs[0]["bytes"] > 10**6, srs


class Notify:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self, cuzk):
        self.path = cuzk.path("notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(20 * harness.SLOW)

    def wait_for(self, text):
        while True:
            lines = self.socket.recv(4096).decode().split("\n")
            if text in lines:
                return lines


def test_notify_and_watchdog(cuzk):
    n = Notify(cuzk)
    with Serving(cuzk, env={"NOTIFY_SOCKET": n.path, "WATCHDOG_USEC": "300000"}) as d:
        n.wait_for("READY=1")
        for _ in range(3):
            n.wait_for("WATCHDOG=1")
        d.kill(signal.SIGHUP)
        assert any(l.startswith("MONOTONIC_USEC=") for l in n.wait_for("RELOADING=1"))
        n.wait_for("READY=1")
        d.kill(signal.SIGTERM)
        n.wait_for("STOPPING=1")
        assert d.wait() == 0


def test_socket_activation(cuzk):
    """systemd's socket is used in place of daemon.listen, and stays when the daemon ends."""
    path = cuzk.path("passed.sock")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        os.set_inheritable(s.fileno(), True)
        # a process that puts its own id into LISTEN_PID and becomes the daemon
        shell = ["sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"' % s.fileno(), "sh"]
        with Serving(cuzk, prefix=shell, pass_fds=[s.fileno()]) as d:
            assert not os.path.exists(d.socket)
            assert "passed.sock" in d.log(), d.log()
            r = cuzk("status", "--connect", "unix://" + path)
            assert r.code == 0 and "up" in r.out, r
        assert os.path.exists(path)


def test_budget(cuzk):
    """A budget that the machine does not have is warned about."""
    with Serving(cuzk, "--set", "memory.total_budget=60TiB") as d:
        assert "memory budget is more than this process may use" in d.log(), d.log()
        assert d.status()["memory"]["total_bytes"] == (60 << 40) - 3 * (16 << 20)
    with Serving(cuzk) as d:
        total = int(re.search(r"MemTotal: +(\d+)", harness.read("/proc/meminfo").decode()).group(1)) * 1024
        assert 0 < d.status()["memory"]["total_bytes"] < total, d.log()


def test_mapped_file_shortened(cuzk):
    """A compiled circuit that shrinks under the daemon ends it with a reason, not with a bare SIGBUS."""
    circuits = cuzk.path("circuits")
    os.mkdir(circuits)
    cuzk.ok("gen-vanilla", "winning", "w.json", "--sector-size", "2KiB", "--request", "req.json")
    flags = ["--set", "srs.param_cache=" + winning_params(cuzk), "--set", "srs.allow_test_keys=true",
             "--set", "srs.circuit_cache=" + circuits, "--set", "srs.preload=winning-2k"]
    with Serving(cuzk, *flags) as d:
        d.wait_for('"ready"')
        shapes = [n for n in os.listdir(circuits) if n.endswith(".shape")]
        assert len(shapes) == 1, os.listdir(circuits)
        os.truncate(os.path.join(circuits, shapes[0]), 0)
        client = subprocess.Popen([cuzk.program, "submit", "winning", "w.json", "--request", "req.json", "--connect",
                                   "unix://" + d.socket], cwd=cuzk.scratch, stderr=subprocess.DEVNULL)
        assert d.wait() == 1 and "was shortened or cannot be read" in d.log(), d.log()
        client.kill()  # it looks for the next daemon
        client.wait()


def test_few_files(cuzk):
    """So few open files that gRPC would abort, or no connection be taken: the daemon says what it needs. With that it serves."""
    def limited(n, **more):
        return Serving(cuzk, prefix=["sh", "-c", 'ulimit -n %d && exec "$@"' % n, "sh"], **more)
    for n in (16, 64, 191):
        with limited(n, ready=False) as d:
            assert d.wait() == 1, d.log()
            assert "may have %d files open, at least 192 are needed" % n in d.log(), d.log()
    with limited(192) as d:
        cuzk.ok("status", "--connect", "unix://" + d.socket)


def test_closed_streams(cuzk):
    """The log's descriptor never becomes a client's connection."""
    shell = ["sh", "-c", 'exec "$@" <&- >&-', "sh"]
    with Serving(cuzk, prefix=shell) as d:
        assert d.status()["ready"] is True
    shell = ["sh", "-c", 'log=$1; shift; exec "$@" 2>&-', "sh", "x"]
    with Serving(cuzk, prefix=shell, ready=False) as d:
        deadline = time.monotonic() + 10 * harness.SLOW
        while not os.path.exists(d.socket) and time.monotonic() < deadline:
            time.sleep(0.01)
        r = cuzk("status", "--connect", "unix://" + d.socket)
        assert r.code == 0, r
        d.kill(signal.SIGTERM)
        assert d.wait() == 0


def test_installed(cuzk):
    """What is installed under a prefix finds its parts there, and the unit names it."""
    prefix = cuzk.path("prefix")
    r = harness.run(["cmake", "--install", cuzk.build, "--prefix", prefix], limit=60)
    if "cannot find" in r.err:
        raise harness.Skip("not all of the build is there")
    assert r.code == 0, r
    r = harness.run([prefix + "/bin/cuzk", "config", "explain", "rpc.threads"])
    assert r.code == 0 and r.out.startswith("rpc.threads\n"), r
    with open(prefix + "/lib/systemd/system/cuzk.service") as f:
        text = f.read()
    assert "\nExecStart=%s/bin/cuzk serve\n" % prefix in text and "@" not in text.replace("@system-service", ""), text
    document = re.search(r"^Documentation=file:(\S+)$", text, re.M).group(1)
    assert os.path.exists(document), document
    os.remove(prefix + "/libexec/cuzk/cuzk-server")
    r = harness.run([prefix + "/bin/cuzk", "config", "explain", "rpc.threads"])
    assert r.code == 1 and "not supported: this program was built without the proving server" in r.err, r


def test_unit_file(cuzk):
    """The installed unit names the installed program, and systemd has nothing against it."""
    import shutil
    path = os.path.join(cuzk.build, "cuzk.service")
    with open(path) as f:
        text = f.read()
    assert re.search(r"^ExecStart=/\S+/cuzk serve$", text, re.M), text
    if shutil.which("systemd-analyze") is None:
        raise harness.Skip("no systemd-analyze")
    program = re.search(r"^ExecStart=(\S+)", text, re.M).group(1)
    copy = cuzk.write("cuzk.service", text.replace(program, os.path.join(cuzk.build, "cuzk")))
    r = harness.run(["systemd-analyze", "verify", "--man=no", copy, os.path.join(harness.TOP, "dist", "systemd", "cuzk.socket")])
    assert r.code == 0 and "cuzk.service:" not in r.err, r


if __name__ == "__main__":
    harness.main(globals())
