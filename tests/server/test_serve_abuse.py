# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon under abuse: connections that misbehave, read nothing, send nothing, or are too many."""
import os, resource, struct, time
import daemon, harness, http2
from daemon import BOUND, NIGHTLY, SANITIZED, SOON, Client, Daemon, MiB, healthy, null_proof, wait_until
import grpc


def served(d):
    """The time of a few calls; None: they are refused or not heard, since too many are open."""
    try:
        with Client(d.target()) as c:
            c("GetStatus", timeout=10)
        return healthy(d, 5)
    except grpc.RpcError as e:
        assert e.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED), e


def test_http2_abuse(cuzk):
    """Noise, other protocols, floods of every frame, headers without end: memory stays bounded, others are served."""
    with Daemon(cuzk, test=True, config={"logging.level": "error", "journal.path": "none"}) as d:
        healthy(d, 200)
        base = d.resident_bytes()
        h = http2
        hello = h.PREFACE + h.settings()
        long = h.header(b"x-long", b"a" * 16000)
        n_streams = 10000 if NIGHTLY else 1000  # three times this: more calls than there is room for, or fewer
        attacks = {
            "noise": os.urandom(100000),
            "http 1": b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n" * 100,
            "preface only": h.PREFACE,
            "half a frame": hello + h.frame(h.HEADERS, h.END_HEADERS, 1, h.call_headers(b"/"))[:20],
            "settings": hello + h.settings(window=1) * 20000,
            "pings": hello + h.frame(h.PING, 0, 0, b"12345678") * 50000,
            "rapid reset": hello + b"".join(
                h.frame(h.HEADERS, h.END_HEADERS, s, h.call_headers(b"/cuzk.v1.ProvingEngine/GetStatus")) +
                h.frame(h.RST_STREAM, 0, s, b"\0\0\0\x08") for s in range(1, 20001, 2)),
            "streams": hello + b"".join(
                h.frame(h.HEADERS, h.END_HEADERS, s, h.call_headers(b"/cuzk.v1.ProvingEngine/AwaitProof"))
                for s in range(1, 2 * n_streams, 2)),
            "continuations": hello + h.frame(h.HEADERS, 0, 1, h.call_headers(b"/x")) +
                             h.frame(h.CONTINUATION, 0, 1, long) * 2000,
            "long headers": hello + b"".join(h.frame(h.HEADERS, h.END_HEADERS, s, h.call_headers(b"/x") + long)
                                             for s in range(1, 2001, 2)),
            "frame of 16 MB": hello + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + b"x" * 1000000,
            "data without stream": hello + h.frame(h.DATA, 0, 5, b"x" * 1000) * 100,
            "window": hello + h.frame(h.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 10,
            "goaway": hello + h.frame(h.GOAWAY, 0, 0, b"\0" * 8) * 1000,
            "wrong length": hello + h.frame(h.HEADERS, h.END_HEADERS, 1, h.call_headers(b"/cuzk.v1.ProvingEngine/Prove")) +
                            h.frame(h.DATA, h.END_STREAM, 1, b"\0\xff\xff\xff\xff1234"),
            "compressed": hello + h.frame(h.HEADERS, h.END_HEADERS, 1, h.call_headers(
                b"/cuzk.v1.ProvingEngine/Prove", [(b"grpc-encoding", b"gzip")])) +
                          h.frame(h.DATA, h.END_STREAM, 1, b"\1\0\0\0\4abcd"),
        }
        def attack():
            open_ones = []
            for name, data in attacks.items():
                for _ in range(3):
                    s = h.connect(d.target())
                    s.settimeout(0.2)
                    try:
                        s.sendall(data)
                    except OSError:
                        pass  # it was thrown out, or nobody reads any more: as it should be
                    open_ones.append(s)
                # silent calls make place for others after a while
                took = wait_until("others to be served after " + name, lambda: served(d))
                assert took < SOON, "after %s others wait %.1f s" % (name, took)
                assert d.process.poll() is None, "%s ends the daemon" % name
                grown = d.resident_bytes() - base
                assert grown < 1000 * MiB * BOUND, "%s: %d MiB more" % (name, grown // MiB)  # 20,000 calls of 30 KB, and what ends
            for s in open_ones:
                s.close()
            wait_until("the calls to be gone", lambda: d.metrics()["cuzk_rpc_calls"] < 5)
            healthy(d)
        attack()
        attack()
        twice = d.resident_bytes()
        attack()
        print("resident %d MiB, %d after attacks, %d after more of them" %
              (base // MiB, twice // MiB, d.resident_bytes() // MiB))
        # what is left is what the allocator keeps
        wait_until("memory to go back", lambda: d.resident_bytes() - twice < 100 * MiB * BOUND)
        silent = [h.connect(d.target()) for _ in range(3)]
        for s in silent:
            s.sendall(attacks["streams"])
        # they stay: the daemon ends all the same


def test_slow_readers(cuzk):
    """Clients that ask for a lot and read nothing, and clients that send a large message byte by byte."""
    with Daemon(cuzk, test=True, config={"logging.level": "error", "journal.path": "none", "rpc.receive_time": "1s",
                                         "memory.total_budget": "64GiB", "memory.intake": "16GiB"}) as d:
        healthy(d, 200)
        base = d.resident_bytes()
        sockets = []
        for _ in range(20):
            s = http2.open_connection(d.target(), window=0)
            s.settimeout(0.1)
            try:
                for stream in range(1, 2001, 2):
                    s.sendall(http2.call(stream, b"/cuzk.v1.ProvingEngine/GetMetrics", b""))
            except OSError:
                pass
            sockets.append(s)
        assert healthy(d) < SOON
        for _ in range(40 if NIGHTLY else 20):  # 200 MiB are announced, little comes
            s = http2.open_connection(d.target())
            s.sendall(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers(b"/cuzk.v1.ProvingEngine/Prove")) +
                      http2.frame(http2.DATA, 0, 1, b"\0" + struct.pack(">I", 200 * MiB) + b"x" * 1000))
            sockets.append(s)
        grown = d.resident_bytes() - base
        print("%d MiB for all of them" % (grown // MiB))
        assert grown < 500 * MiB * BOUND
        assert healthy(d) < SOON
        payload = b"\0" + os.urandom(MiB) * 20
        assert d.c("Prove", submit=d.null(payload)).result.proof == null_proof(payload)
        for s in sockets:
            s.close()
        assert healthy(d) < SOON


def test_slow_senders(cuzk):
    """A budget with memory for one message, and 40 connections that announce 200 MiB and fall silent: they do not take
    20 s each, a quarter of an hour in all, before others have their turn."""
    with Daemon(cuzk, test=True, config={"logging.level": "error", "journal.path": "none", "memory.total_budget": "4GiB"}) as d:
        healthy(d)
        sockets = []
        for _ in range(40):
            s = http2.open_connection(d.target())
            s.sendall(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers(b"/cuzk.v1.ProvingEngine/Prove")) +
                      http2.frame(http2.DATA, 0, 1, b"\0" + struct.pack(">I", 200 * MiB) + b"x" * 1000))
            sockets.append(s)
        wait_until("the calls to be open", lambda: d.metrics()["cuzk_rpc_calls"] >= 40)
        begin = time.monotonic()
        with Client(d.target()) as c:
            for i in range(3):
                text = "behind slow ones %d" % i
                assert c("Prove", submit=d.null(text)).result.proof == null_proof(text.encode())
        print("3 calls took %.1f s" % (time.monotonic() - begin))
        assert time.monotonic() - begin < 2 * SOON
        for s in sockets:
            s.close()
        assert healthy(d) < SOON


def test_many_connections(cuzk):
    """10,000 connections, or as many as this system allows: bounded memory, old and new clients are served."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    n = min(10000, hard - 500, 2000 if SANITIZED else 10000)
    with Daemon(cuzk, test=True, config={"logging.level": "error", "journal.path": "none",
                                         "rpc.max_connections": 20000}) as d:
        healthy(d, 100)
        base = d.resident_bytes()
        sockets = [http2.open_connection(d.target()) for _ in range(n)]
        time.sleep(0.3)
        assert healthy(d) < SOON
        grown = d.resident_bytes() - base
        print("%d connections: %.1f KiB each" % (n, grown / n / 1024))
        assert grown < n * 100 * 1024 * BOUND
        for s in sockets:
            s.close()
        assert healthy(d) < SOON
    with Daemon(cuzk, test=True, name="few", config={"logging.level": "error", "rpc.max_connections": 50}) as d:
        first = d.client()
        first("GetStatus")
        sockets = []
        for _ in range(300):
            try:
                sockets.append(http2.open_connection(d.target()))
            except OSError:
                pass
        assert first("GetStatus") is not None  # who is in stays in
        for s in sockets:
            s.close()

        def has_room():
            try:
                return healthy(d, 1) >= 0
            except grpc.RpcError:
                return False
        wait_until("room for a new one", has_room)


if __name__ == "__main__":
    harness.main(globals())
