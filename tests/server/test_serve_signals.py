# SPDX-License-Identifier: MIT OR Apache-2.0
"""BC-111: SIGTERM and SIGINT with work in flight; BC-120: sockets; BC-123: who may do what."""
import os, signal, socket, subprocess, threading, time
import daemon, harness
from daemon import COMPLETED, FOREVER_US, SOON, Client, Daemon, null_proof, wait_until
import grpc


def running(d, text):
    return any(s == "prove" and t == text for s, _, t in d.trace())


def test_idle_with_open_calls(cuzk):
    """(a) Awaiting calls of jobs that go on too long, and an idle client that keeps its connection open."""
    d = Daemon(cuzk, test=True, config={"daemon.drain_time": "1s"})
    with d:
        idle = d.client()
        idle("GetStatus")
        d.c("SubmitProof", d.null("gate=never", "long"))
        wait_until("it to run", lambda: running(d, "gate=never"))
        calls = [d.c.start("AwaitProof", job_id="long") for _ in range(20)]
        # one that crosses gRPC's farewell would be CANCELLED
        wait_until("all calls to be there", lambda: d.metrics()["cuzk_rpc_calls"] >= 20)
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        codes = {c.code() for c in calls}  # waits for each
        assert codes == {grpc.StatusCode.UNAVAILABLE}, codes
        code = d.wait_end()
        assert code == 0 and 1 <= time.monotonic() - begin < SOON, (code, d.log())
        d.process = None
        for c in d.clients:
            c.close()
        d.clients = []
        # the job stays in the journal and goes on
        d.start()
        assert d.unfinished() == 1
        assert d.c("CancelProof", job_id="long").was_running


def test_running_and_queued(cuzk):
    """(b) One unit runs, (c) twenty jobs are queued: what runs may end, new work is refused, nothing is lost."""
    d = Daemon(cuzk, test=True, config={"gpus.gpu_workers_per_device": 1, "synthesis.threads": 1})
    with d:
        calls = {}
        for i in range(21):
            text = "gate=go n=%d" % i
            calls[text] = d.c.start("Prove", submit=d.null(text, "j%d" % i))
        wait_until("the first to run", lambda: d.trace())
        wait_until("all to be in", lambda: d.unfinished() == 21)
        other = d.client()
        other("GetStatus")
        assert d.get("/readyz")[0] == 200
        d.process.send_signal(signal.SIGTERM)
        wait_until("readiness to turn false", lambda: d.get("/readyz")[0] != 200)
        late = daemon.refused_at_the_end(d, other)
        d.open_gate("go")
        for text, call in calls.items():
            r = call.result().result
            assert r.status == COMPLETED and r.proof == null_proof(text.encode()), r
        assert d.wait_end() == 0
        d.process = None
        d.stop()
        d.start()
        r = d.c("AwaitProof", job_id="j7")
        assert r.status == COMPLETED and r.proof == null_proof(b"gate=go n=7")
        d.c.fails("NOT_FOUND", late, "AwaitProof", job_id=late)


def test_limit_passes(cuzk):
    """The limit passes with jobs left: they are abandoned to the journal, their units that were done are kept."""
    d = Daemon(cuzk, test=True, config={"gpus.gpu_workers_per_device": 1, "daemon.drain_time": "500ms"})
    with d:
        text = "gate=go@3 units=12"
        call = d.c.start("Prove", submit=d.null(text, "big"))
        wait_until("some units", lambda: len([1 for s, _, _ in d.trace() if s == "verify"]) >= 3)
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert call.code() == grpc.StatusCode.UNAVAILABLE, call.result()
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON
        d.process = None
        d.stop()
        proved = {u for s, u, _ in d.trace() if s == "verify"}
        at = len(d.trace())
        d.open_gate("go")
        d.start()
        r = d.prove(d.null(text, "big"))
        assert r.status == COMPLETED and r.proof == null_proof(text.encode(), 12)
        again = {u for s, u, _ in d.trace()[at:] if s == "verify"}
        assert len(again & proved) <= 1, (proved, again)  # one may have been cut off behind its verification


def test_while_loading(cuzk):
    """(d) During the load of a circuit."""
    d = Daemon(cuzk, test=True, config={"daemon.drain_time": "300ms"})
    with d:
        call = d.c.start("Prove", submit=d.null("circuit=null-slow", "x"))
        load = d.c.start("PreloadSRS", circuit_id="null-slow")
        wait_until("the load", lambda: any(s == "load" for s, _, _ in d.trace()))
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON
        assert call.code() == grpc.StatusCode.UNAVAILABLE
        assert load.code() in (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE)
        d.process = None
        d.stop()
        d.open_gate("null-slow")
        d.start()
        assert d.c("AwaitProof", job_id="x").status == COMPLETED


def test_second_signal(cuzk):
    """(e), (f) A second signal ends it at once; accepted jobs stay."""
    d = Daemon(cuzk, test=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        d.start()
        text = "prove_us=%d" % (FOREVER_US + number)
        call = d.c.start("Prove", submit=d.null(text, "long %d" % number))
        wait_until("it to run", lambda: running(d, text))
        d.process.send_signal(number)
        wait_until("the drain", lambda: "shutting down" in d.log())
        time.sleep(0.1)
        assert d.process.poll() is None
        begin = time.monotonic()
        d.process.send_signal(number)
        d.wait_end()
        assert time.monotonic() - begin < SOON
        assert call.code() == grpc.StatusCode.UNAVAILABLE
        d.process = None
        d.stop()
    with d:
        assert d.unfinished() == 2
        for number in (signal.SIGTERM, signal.SIGINT):
            assert d.c("CancelProof", job_id="long %d" % number).was_running


def test_sockets(cuzk):
    """BC-120"""
    d = Daemon(cuzk, test=True)
    with d:
        d.kill()
        assert os.path.exists(d.socket)
        d.start()  # a dead socket is replaced
        assert d.prove(d.null("")).status == COMPLETED
        second = Daemon(cuzk, test=True, name="second", listen=d.listen)
        second.spawn()
        assert second.wait_end() != 0 and d.socket in second.log(), second.log()
        assert d.prove(d.null("x=2")).status == COMPLETED  # the first is as it was, for new connections too
        with Client(d.target()) as c:
            assert c("GetStatus").total_proofs_completed == 2
    path = cuzk.write("file", "keep me")
    for name, listen, text in (("a", "unix://" + path, "socket"), ("b", "unix://" + cuzk.path("x" * 120), "107"),
                               ("e", "unix://" + cuzk.scratch, "socket")):
        other = Daemon(cuzk, test=True, name=name, listen=[listen])
        other.spawn()
        assert other.wait_end() != 0 and text in other.log(), other.log()
    assert harness.read(path) == b"keep me"
    with Daemon(cuzk, test=True, name="c", listen=["unix://" + cuzk.path("new/folder/s")],
                config={"daemon.socket_mode": 0o600}) as other:
        assert oct(os.stat(cuzk.path("new/folder/s")).st_mode & 0o777) == "0o600"
        assert other.prove(other.null("")).status == COMPLETED


def run_openssl(cuzk, *args):
    r = harness.run(["openssl"] + list(args), cwd=cuzk.scratch)
    assert r.code == 0, r


def test_listening_elsewhere(cuzk):
    """BC-123: what other machines reach needs TLS or an explicit word, which is warned about."""
    port = daemon.free_port()
    d = Daemon(cuzk, test=True, listen=["0.0.0.0:%d" % port])
    d.spawn()
    assert d.wait_end() != 0 and "allow_plaintext" in d.log() and "tls" in d.log(), d.log()
    d.config["daemon.allow_plaintext"] = True
    d.listen = ["127.0.0.1:%d" % port]
    d.start()
    assert "warn" in d.log() and "plaintext" in d.log(), d.log()
    d.stop()


def test_tls_and_rights(cuzk):
    """BC-123: TLS, client certificates, tokens; submitting and administration are told apart."""
    for name, subject in (("ca", "/CN=test ca"),):
        run_openssl(cuzk, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".pem",
                    "-days", "2", "-subj", subject)
    cuzk.write("san", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    for name in ("server", "user", "admin"):
        run_openssl(cuzk, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj",
                    "/CN=" + name)
        run_openssl(cuzk, "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                    "-out", name + ".pem", "-days", "2", "-extfile", "san")
    file = lambda n: harness.read(cuzk.path(n))
    port = daemon.free_port()
    cuzk.write("tokens", "secret-token-0123456789\nanother-token-0123\n")
    cuzk.write("admin-tokens", "admin-token-0123456789\n")
    config = {"tls.cert": cuzk.path("server.pem"), "tls.key": cuzk.path("server.key"), "tls.client_ca": cuzk.path("ca.pem"),
              "auth.admin_names": ["admin"], "auth.token_file": cuzk.path("tokens"),
              "auth.admin_token_file": cuzk.path("admin-tokens")}
    d = Daemon(cuzk, test=True, config=config)
    d.listen.append("127.0.0.1:%d" % port)
    with d:
        target = "localhost:%d" % port

        def client(name, token=None):
            credentials = grpc.ssl_channel_credentials(file("ca.pem"), file(name + ".key") if name else None,
                                                       file(name + ".pem") if name else None)
            metadata = [("authorization", "Bearer " + token)] if token else []
            return Client(target, credentials=credentials, metadata=metadata)

        def code(c, *args, **fields):
            with c:
                try:
                    c(*args, **fields)
                    return "OK"
                except grpc.RpcError as e:
                    return e.code().name
        assert code(Client(target), "GetStatus") == "UNAVAILABLE"  # plaintext
        assert code(client(None, "secret-token-0123456789"), "GetStatus") == "UNAVAILABLE"  # without a certificate
        assert code(client("user"), "Prove", submit=d.null("", "a")) == "UNAUTHENTICATED"
        assert code(client("user", "wrong-token-01234567"), "Prove", submit=d.null("", "a")) == "UNAUTHENTICATED"
        assert code(client("user", "secret-token-0123456789"), "Prove", submit=d.null("", "a")) == "OK"
        assert code(client("user", "secret-token-0123456789"), "EvictSRS", circuit_id="null-a") == "PERMISSION_DENIED"
        assert code(client("user", "secret-token-0123456789"), "CancelProof", job_id="a") == "PERMISSION_DENIED"
        assert code(client("user", "admin-token-0123456789"), "EvictSRS", circuit_id="null-a") == "OK"
        assert code(client("admin", "secret-token-0123456789"), "EvictSRS", circuit_id="null-a") == "OK"
        assert code(Client(d.target()), "GetStatus") == "OK"  # the socket is guarded by its permissions
        # tokens are read again on SIGHUP
        cuzk.write("tokens", "new-token-0123456789\n")
        d.process.send_signal(signal.SIGHUP)
        wait_until("the new token", lambda: code(client("user", "new-token-0123456789"), "GetStatus") == "OK")
        assert code(client("user", "secret-token-0123456789"), "GetStatus") == "UNAUTHENTICATED"
        assert "secret-token-0123456789" not in d.log() and "new-token-0123456789" not in d.log() and "admin-token-0123456789" not in d.log()


if __name__ == "__main__":
    harness.main(globals())
