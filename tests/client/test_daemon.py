# SPDX-License-Identifier: MIT OR Apache-2.0
"""The commands against the real daemon: every one of them once, and circom proofs over HTTP."""
import http.client, json, os, signal, subprocess, sys, threading, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
from harness import read
from test_reach import forgive_leaks, make_certificates

for name in ("CUZK_LISTEN", "CUZK_STATUS_LISTEN"):
    os.environ.pop(name, None)


class Daemon:
    """with Daemon(cuzk) as d: the daemon on a Unix socket and an HTTP port of its own choice."""

    def __init__(self, cuzk, listen=None, **settings):
        self.cuzk, self.log = cuzk, cuzk.path("log")
        os.makedirs(cuzk.path("circom"), exist_ok=True)
        self.flags = ["--listen", listen or "unix:" + cuzk.path("sock"), "--status-listen", "127.0.0.1:0",
                      "--journal", cuzk.path("journal.db"), "--set", "srs.param_cache=" + cuzk.path("params"),
                      "--set", "circom.folder=" + cuzk.path("circom"), "--set", "srs.allow_test_keys=true"]
        for key, value in settings.items():
            self.flags += ["--set", "%s=%s" % (key.replace("__", "."), value)]

    def __enter__(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([self.cuzk.program, "serve"] + self.flags, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 10 * harness.SLOW
        while '"ready"' not in read(self.log).decode():
            assert self.process.poll() is None and time.monotonic() < deadline, read(self.log).decode()
            time.sleep(0.005)
        text = read(self.log).decode()
        self.port = int(text.split("port=")[1].split()[0])
        self.to = ["--connect", "unix:" + self.cuzk.path("sock"), "--status", "127.0.0.1:%d" % self.port]
        return self

    def __exit__(self, *args):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=20 * harness.SLOW)
        assert code == 0, "the daemon ended with %d: %s" % (code, read(self.log).decode())

    def http(self, method, path, body=None, headers={}):
        """Status and body, as JSON where it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20 * harness.SLOW)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, json.loads(data) if data[:1] == b"{" else data.decode()


def circuit(cuzk, name="multiplier2", curve="bn254"):
    """A circuit's key in the daemon's folder; names of the other files."""
    os.makedirs(cuzk.path("circom"), exist_ok=True)
    cuzk.write("circom/%s.zkey" % name, read(cuzk.circom(curve, name, "circuit.zkey")))
    return [cuzk.circom(curve, name, n) for n in ("witness.wtns", "public.json", "verification_key.json")]


def test_docs_name_every_option(cuzk):
    docs = read(os.path.join(harness.TOP, "docs", "cli.md")).decode()
    server = os.path.join(cuzk.build, "cuzk-server")
    table = harness.run(harness.EMULATOR + [server, "help"]).out.split("commands:")[1].split("options of")[0]
    heads = [line.split() for line in table.splitlines() if line.startswith("  ") and line[2] != " "]
    assert len(heads) > 15, table
    for command in ("serve", "config"):
        for line in cuzk.ok(command, "--help").out.splitlines():
            for word in line.split():
                assert not (line.startswith("  -") and word.startswith("--")) or "`" + word in docs, \
                    "docs/cli.md does not name %s of %s" % (word, command)
    for words in heads:
        name = [w for w in words[:2] if w.islower()]
        r = harness.run(harness.EMULATOR + [server, "help"] + name)
        if r.code != 0:
            r = harness.run(harness.EMULATOR + [server, "help", name[0]])
        assert r.code == 0 and "cuzk %s" % name[0] in docs, (words, r)
        for line in r.out.splitlines():
            for word in line.split():
                assert not (line.startswith("  -") and word.startswith("--")) or "`" + word in docs, \
                    "docs/cli.md does not name %s of %s" % (word, name)


def test_circom_by_every_way(cuzk):
    wtns, public, vkey = circuit(cuzk)
    with Daemon(cuzk) as d:
        assert cuzk.ok("circuits", "list", *d.to).out == "no circuit is registered\n"
        cuzk.fails(1, ["circuit \"mul\"", "NOT_FOUND"], "submit", "circom", "mul", wtns, *d.to)
        assert "registered (bn128, 1 constraints)" in cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to).out
        assert "was registered" in cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to).out
        assert cuzk.ok("circuits", "list", "--json", *d.to).json()["circuits"][0]["name"] == "mul"
        r = cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "one", "--json", *d.to).json()
        assert r["job_id"] == "one" and r["status"] == "completed", r
        cuzk.ok("verify", vkey, "public.json", "proof.json")
        first = read(cuzk.path("proof.json"))
        # the same id and witness again: the stored result, blinded as it was
        cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "one", *d.to)
        assert read(cuzk.path("proof.json")) == first
        cuzk.ok("await", "one", "--out", "p.json", "--public", "q.json", *d.to)
        assert read(cuzk.path("p.json")) == first and json.loads(read(cuzk.path("q.json"))) == json.loads(read(public))
        # prove --connect writes what prove writes
        key = cuzk.path("circom/multiplier2.zkey")
        assert cuzk.ok("prove", key, wtns, "a.json", "b.json", "--circuit", "mul", "--json", *d.to).json()["verified_here"]
        assert read(cuzk.path("b.json")) == read(cuzk.path("public.json"))
        cuzk.ok("verify", vkey, "b.json", "a.json")
        # HTTP
        status, answer = d.http("POST", "/circom/mul/prove", read(wtns), {"Content-Type": "application/octet-stream"})
        assert status == 200 and answer["status"] == "success", answer
        cuzk.write("h.json", answer["proof"])
        cuzk.write("hp.json", answer["pubData"])
        cuzk.ok("verify", vkey, "hp.json", "h.json")
        assert d.http("GET", "/circom")[1]["circuits"][0]["curve"] == "bn128"
        for path, body, code, text in (("/circom/none/prove", read(wtns), 404, "none"),
                                       ("/circom/mul/prove", b'{"a": 3}', 415, "no witness calculator"),
                                       ("/circom/mul/prove", read(wtns)[:-1], 400, "wtns"),
                                       ("/circom/mul/prove", b"wtns", 400, "")):
            status, answer = d.http("POST", path, body)
            assert status == code and answer["status"] == "failed" and text in answer["error"], (path, status, answer)


def test_a_witness_that_does_not_satisfy(cuzk):
    wtns, _, _ = circuit(cuzk)
    values = harness.wtns_values(read(wtns))
    bad = harness.make_wtns(harness.R["bn254"], [values[0], (values[1] + 1)] + values[2:])
    path = cuzk.write("bad.wtns", bad)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        r = cuzk.fails(1, "failed", "submit", "circom", "mul", path, *d.to)
        assert "proof.json" not in cuzk.names()
        status, answer = d.http("POST", "/circom/mul/prove", bad)
        assert status == 422 and answer["status"] == "failed", (status, answer)
        cuzk.fails(1, "circom: 4 of 4 jobs failed", "bench", "--server", "--jobs", "4", "--circom", "mul=" + path, *d.to)


def winning(cuzk):
    """Test parameters, made once for a build, and a Winning PoSt's vanilla proof; options of its request."""
    folder = os.path.join(cuzk.build, "daemon-params")
    cuzk.ok("params", "setup", "winning", "2KiB", "--folder", folder)
    os.symlink(folder, cuzk.path("params"))
    cuzk.ok("gen-vanilla", "winning", "w.json", "--sector-size", "2KiB", "--request", "w.req.json")
    return ["w.json", "--request", "w.req.json"]


def test_a_job_outlives_the_process_and_its_waiter_finds_it(cuzk):
    job = winning(cuzk)
    first = Daemon(cuzk).__enter__()
    to = ["--connect", "unix:" + cuzk.path("sock")]
    waiter = subprocess.Popen([cuzk.program, "prove", "winning", *job, *to, "--allow-test-key", "--request-id", "w"],
                              cwd=cuzk.scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, FIL_PROOFS_PARAMETER_CACHE=cuzk.path("params")))
    while "job accepted" not in read(first.log).decode():
        assert waiter.poll() is None, waiter.communicate()
        time.sleep(0.005)
    first.process.kill()
    first.process.wait()
    with Daemon(cuzk) as d:
        out, err = waiter.communicate(timeout=60 * harness.SLOW)
        assert waiter.returncode == 0 and b"job w: proved 1 partition" in out and b"verified here" in out, (out, err)
        assert "w" in cuzk.ok("await", "w", "--json", *d.to).json()["job_id"]
        env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("params")}
        cuzk.ok("verify", "winning", "proof.bin", "--request", "w.req.json", "--allow-test-key", env=env)
        # the same job again is answered from what is kept
        proof = read(cuzk.path("proof.bin"))
        cuzk.ok("submit", "winning", *job, *d.to, "--request-id", "w", "--wait")
        assert read(cuzk.path("proof.bin")) == proof


def test_status_residents_and_metrics(cuzk):
    wtns, _, _ = circuit(cuzk)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        assert "circom:mul: loaded in" in cuzk.ok("preload", "circom:mul", *d.to).out
        assert "was loaded" in cuzk.ok("preload", "circom:mul", *d.to).out
        cuzk.fails(1, "NOT_FOUND", "preload", "nothing-2k", *d.to)
        cuzk.fails(1, "FAILED_PRECONDITION", "preload", "winning-2k", *d.to)
        cuzk.ok("submit", "circom", "mul", wtns, "--request-id", "shown", *d.to)
        text = cuzk.ok("status", *d.to).out
        assert "proofs: 1 completed, 0 failed" in text and "shown" in text and "circom:mul" in text, text
        j = cuzk.ok("status", "--json", *d.to).json()
        assert j["completed"] == 1 and j["http"]["counters"]["total_completed"] == 1, j
        assert "cuzk_proofs_completed_total 1" in cuzk.ok("metrics", *d.to).out
        assert "evicted" in cuzk.ok("evict", "circom:mul", *d.to).out
        assert "was not loaded" in cuzk.ok("evict", "circom:mul", *d.to).out
        assert cuzk.ok("cancel", "shown", *d.to).out == "job shown: had ended already, nothing to cancel\n"
        cuzk.fails(1, "NOT_FOUND", "cancel", "unknown", *d.to)
        cuzk.fails(1, "NOT_FOUND", "await", "unknown", *d.to)
        cuzk.ok("queue", *d.to)


def test_tls_tokens_and_administration(cuzk):
    make_certificates(cuzk)
    cuzk.write("submit", "a-token-to-submit-with\n")
    cuzk.write("admin", "a-token-to-administer-with\n")
    forgive_leaks(cuzk)
    settings = {"tls__cert": cuzk.path("server.pem"), "tls__key": cuzk.path("server.key"),
                "auth__token_file": cuzk.path("submit"), "auth__admin_token_file": cuzk.path("admin")}
    with Daemon(cuzk, listen="127.0.0.1:0", **settings) as d:
        address = read(d.log).decode().split("address=127.0.0.1:")[1].split()[0]
        to = ["--connect", "https://127.0.0.1:" + address, "--tls-ca", "ca.pem", "--tls-name", "localhost"]
        cuzk.fails(1, "UNAUTHENTICATED: a token is needed", "status", *to)
        assert "daemon at https://" in cuzk.ok("status", *to, "--token-file", "submit").out
        cuzk.fails(1, "PERMISSION_DENIED", "evict", "circom:x", *to, "--token-file", "submit")
        assert "was not loaded" in cuzk.ok("evict", "circom:x", *to, "--token-file", "admin").out
        cuzk.fails(1, "(TLS: ", "status", "--connect", "https://127.0.0.1:" + address, "--token-file", "submit")


def test_bench(cuzk):
    wtns, _, _ = circuit(cuzk)
    with Daemon(cuzk) as d:
        cuzk.ok("circuits", "register", "mul", "multiplier2.zkey", *d.to)
        r = cuzk.ok("bench", "--server", "--jobs", "200", "--concurrency", "16", "--circom", "mul=" + wtns, "--json",
                    *d.to).json()
        assert r["ok"] and r["kinds"][0]["completed"] == 200 and 0.0001 < r["kinds"][0]["seconds_p50"] < 5, r
        assert cuzk.ok("status", "--json", *d.to).json()["completed"] == 200


if __name__ == "__main__":
    harness.main(globals())
