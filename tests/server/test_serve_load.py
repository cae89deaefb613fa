# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon under load: floods, large messages, many calls, soak by count."""
import os, random, threading, time
import daemon, harness
from daemon import BOUND, COMPLETED, NIGHTLY, SANITIZED, SOON, Client, Daemon, MiB, healthy, null_proof, wait_until
import grpc


def test_flood(cuzk):
    """1,000 jobs at 64 concurrent, a tenth of them twice at once: each id gets exactly one result, its own."""
    with Daemon(cuzk, test=True, config={"logging.level": "warn"}) as d:
        jobs = [("f%d" % i, "n=%d units=%d prove_us=%d" % (i, 1 + i % 5, i % 7 * 100), 1 + i % 5) for i in range(1000)]
        todo = jobs + random.sample(jobs, 100)
        random.shuffle(todo)
        clients, lock, results = [d.client() for _ in range(4)], threading.Lock(), {}

        def work(i):
            while True:
                with lock:
                    if not todo:
                        return
                    id, text, units = todo.pop()
                r = clients[i % 4]("Prove", submit=d.null(text, id)).result
                assert r.status == COMPLETED and r.job_id == id and r.proof == null_proof(text.encode(), units), r
                with lock:
                    results.setdefault(id, []).append(r.proof)
        begin = time.monotonic()
        daemon.threads(64, work)
        seconds = time.monotonic() - begin
        assert len(results) == 1000 and sum(map(len, results.values())) == 1100
        proved = [(u, t) for s, u, t in d.trace() if s == "prove"]
        assert len(proved) == len(set(proved)) == sum(units for _, _, units in jobs), "a unit was proved twice"
        status = d.c("GetStatus")
        assert status.total_proofs_completed == 1000 and status.total_proofs_failed == 0, status
        assert d.unfinished() == 0
        print("%.0f calls a second through this client" % (1100 / seconds))


def test_counters_are_exact(cuzk):
    """pending + in progress is the number of unfinished jobs at every instant."""
    with Daemon(cuzk, test=True, config={"logging.level": "warn", "synthesis.threads": 1}) as d:
        n_in, stop, problems = [0], threading.Event(), []

        def look():
            with Client(d.target()) as c:
                while not stop.wait(0.001):
                    before = n_in[0]
                    status = c("GetStatus")
                    n = sum(q.pending + q.in_progress for q in status.queues) + status.total_proofs_completed
                    if not before <= n <= n_in[0] + 1:  # one may be on its way
                        problems.append((before, n, n_in[0]))
        looker = threading.Thread(target=look)
        looker.start()
        for i in range(300):
            d.c("SubmitProof", d.null("prove_us=%d n=%d" % (random.randrange(2000), i), "c%d" % i))
            n_in[0] += 1
        for i in range(300):
            assert d.c("AwaitProof", job_id="c%d" % i).status == COMPLETED
        stop.set()
        looker.join()
        assert not problems, problems[:5]
        assert d.unfinished() == 0


def test_large_messages(cuzk):
    """BC-109: up to 255 MiB pass, over socket and TCP; 300 MiB is refused with the limit, and several at once
    stay within the budget."""
    port = daemon.free_port()
    d = Daemon(cuzk, test=True, config={"memory.total_budget": "6GiB", "memory.intake": "3GiB", "logging.level": "warn"})
    if not NIGHTLY:
        d.config["journal.path"] = "none"  # which doubles what the disk has to take; it has tests of its own
    d.listen.append("127.0.0.1:%d" % port)
    with d:
        noise = os.urandom(MiB)
        with Client("127.0.0.1:%d" % port) as tcp:
            for n, c in ((3, d.c), (5, d.c), (64, tcp), (120, d.c), (255, tcp)) if NIGHTLY else ((5, d.c), (64, tcp), (255, d.c)):
                payload = b"n=%d\0" % n + noise * n
                r = c("Prove", submit=d.null(payload, "m%d" % n)).result
                assert r.status == COMPLETED and r.proof == null_proof(payload), n
            del payload
            for c in (d.c, tcp) if NIGHTLY else (tcp,):
                try:
                    c("Prove", submit=d.null(b"\0" + noise * 300))
                    raise AssertionError("300 MiB are taken")
                except grpc.RpcError as e:
                    assert e.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED), e
                    assert "268435456" in e.details().replace(",", "") or "256" in e.details(), e.details()
        r = d.prove(d.null(b"small"))
        assert r.status == COMPLETED
        base = d.resident_bytes()
        peak, stop = [0], threading.Event()

        def watch():
            while not stop.is_set():
                peak[0] = max(peak[0], d.resident_bytes())
                time.sleep(0.01)
        watcher = threading.Thread(target=watch)
        watcher.start()

        def send(i):
            with Client(d.target()) as c:
                for k in range(2 if NIGHTLY else 1):
                    m = d.null(b"prove_us=20000 n=%d.%d\0" % (i, k) + noise * 60, "b%d.%d" % (i, k))
                    assert c("Prove", submit=m).result.status == COMPLETED
        daemon.threads(8 if NIGHTLY else 4, send)
        stop.set()
        watcher.join()
        print("resident: %d MiB idle, %d MiB at most" % (base // MiB, peak[0] // MiB))
        assert peak[0] - base < 3072 * MiB  # the intake
        wait_until("memory to go back", lambda: d.resident_bytes() < base + 400 * MiB * BOUND)


def test_many_calls(cuzk):
    """Thousands of calls that wait on one connection, then all are answered."""
    with Daemon(cuzk, test=True, config={"logging.level": "warn"}) as d:
        d.c("SubmitProof", d.null("prove_us=1500000", "slow"))
        calls = [d.c.start("AwaitProof", job_id="slow") for _ in range(2500)]
        assert healthy(d) < SOON
        for c in calls:
            assert c.result().status == COMPLETED


def test_soak(cuzk):
    """Job after job: resident size stays flat. 3,000 jobs, 100,000 with CUZK_NIGHTLY. A thousand results are kept in
    memory: from then on the tables have their size."""
    n_jobs, warm = (100000, 1500) if NIGHTLY else (3000, 1500)
    with Daemon(cuzk, test=True, config={"logging.level": "warn"}) as d:
        lock, count, sizes = threading.Lock(), [0], []
        clients = [d.client() for _ in range(4)]

        def work(i):
            while True:
                with lock:
                    k, count[0] = count[0], count[0] + 1
                    if k >= n_jobs:
                        return
                    if k >= warm and k % 250 == 0:
                        sizes.append(d.resident_bytes())
                text = "soak n=%d" % k
                assert clients[i % 4]("Prove", submit=d.null(text, "s%d" % k)).result.proof == null_proof(text.encode())
        begin = time.monotonic()
        daemon.threads(32, work)
        growth = max(sizes[-3:]) / sizes[0] - 1
        print("%d jobs, %.0f a second; resident %.1f MiB after %d, %.1f MiB at the end (%+.1f %%)" %
              (n_jobs, n_jobs / (time.monotonic() - begin), sizes[0] / MiB, warm, sizes[-1] / MiB, growth * 100))
        assert growth < 0.05 or SANITIZED, sizes


if __name__ == "__main__":
    harness.main(globals())
