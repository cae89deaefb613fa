# SPDX-License-Identifier: MIT OR Apache-2.0
"""The end of the daemon with work in it (BC-111), and what it tells meanwhile: readiness, log, metrics, TIMELINE."""
import json, os, re, signal, time

import daemon
from daemon import harness, SOON, Daemon, Client, wait_until, COMPLETED, FAILED, grpc


def result_or_code(call):
    try:
        return call.result().result.status
    except grpc.RpcError as e:
        return e.code()


def running(d, n=1):
    wait_until("%d busy workers" % n, lambda: sum(w["state"] == "proving" for w in d.status()["gpu_workers"]) >= n)


def test_running_jobs_end(cuzk):
    """What runs and what is queued ends; readiness is false first; new work is refused; exit code 0."""
    with Daemon(cuzk, test=True, config={"gpus.gpu_workers_per_device": 1}) as d:
        calls = [d.c.start("Prove", submit=d.null("units=2 gate=go n=%d" % i, "job-%d" % i)) for i in range(4)]
        wait_until("4 jobs", lambda: d.unfinished() == 4)
        assert d.get("/readyz") == (200, "ready\n")
        second = Client(d.target())
        d.process.send_signal(signal.SIGTERM)
        assert wait_until("not ready", lambda: d.get("/readyz")[0] == 503) and d.get("/readyz")[1] == "shutting down\n"
        assert d.status()["draining"] is True and "cuzk_draining 1" in d.get("/metrics")[1]
        daemon.refused_at_the_end(d, second)
        d.open_gate("go")
        assert [c.result().result.status for c in calls] == [COMPLETED] * 4
        second.close()
        assert d.wait_end() == 0
        assert "all jobs have ended" in d.log(), d.log()
        d.process = None


def test_drain_limit(cuzk):
    """What does not end in time is told UNAVAILABLE, and is done by the next daemon."""
    with Daemon(cuzk, test=True, config={"daemon.drain_time": "300ms"}) as d:
        call = d.c.start("Prove", submit=d.null("units=2 gate=go", "slow"))
        running(d)
        begin = time.monotonic()
        d.process.send_signal(signal.SIGINT)
        assert result_or_code(call) == grpc.StatusCode.UNAVAILABLE
        assert d.wait_end() == 0
        assert time.monotonic() - begin < SOON
        assert "daemon.drain_time is over" in d.log(), d.log()
        d.stop()
        d.open_gate("go")
        d.start()
        assert d.prove(d.null("units=2 gate=go", "slow")).status == COMPLETED


def test_queue_over_a_restart(cuzk):
    """20 jobs queued, a short limit: each has one result in the end."""
    with Daemon(cuzk, test=True, config={"daemon.drain_time": "100ms", "gpus.gpu_workers_per_device": 1}) as d:
        for i in range(20):
            d.c("SubmitProof", d.null("prove_us=15000 n=%d" % i, "q-%d" % i))
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0
        d.stop()
        d.start()
        for i in range(20):
            r = d.c("AwaitProof", job_id="q-%d" % i, timeout_ms=60000)
            assert r.status == COMPLETED and r.proof == daemon.null_proof(b"prove_us=15000 n=%d" % i), (i, r)
        assert d.unfinished() == 0


def test_second_signal(cuzk):
    """At once, whatever runs; the job is done by the next daemon."""
    with Daemon(cuzk, test=True, config={"daemon.drain_time": "10m"}) as d:
        call = d.c.start("Prove", submit=d.null("gate=go", "twice"))
        running(d)
        d.process.send_signal(signal.SIGTERM)
        wait_until("draining", lambda: d.status()["draining"])
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON
        assert "exiting at once" in d.log(), d.log()
        assert result_or_code(call) == grpc.StatusCode.UNAVAILABLE
        d.stop()
        d.open_gate("go")
        d.start()
        assert d.prove(d.null("gate=go", "twice")).status == COMPLETED


def test_idle_clients(cuzk):
    """Open AwaitProof calls and idle connections do not hold it up."""
    with Daemon(cuzk, test=True, config={"daemon.drain_time": "200ms"}) as d:
        d.c("SubmitProof", d.null("gate=never", "long"))
        waits = [d.c.start("AwaitProof", job_id="long") for _ in range(5)]
        idle = [Client(d.target()) for _ in range(5)]
        for c in idle:
            c("GetStatus")
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON
        for w in waits:
            assert w.exception().code() == grpc.StatusCode.UNAVAILABLE
        for c in idle:
            c.close()
        d.process = None


def test_end_while_loading(cuzk):
    """Parameters that load for long do not hold it up beyond the limit."""
    config = {"daemon.drain_time": "200ms", "srs.preload": ["null-a"], "test.faults": ["resident~3600000"]}
    with Daemon(cuzk, test=True, config=config) as d:
        wait_until("loading", lambda: "loading parameters" in d.log())
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON, d.log()
        d.process = None


def test_end_while_a_client_loads(cuzk):
    """The same for a PreloadSRS call."""
    with Daemon(cuzk, test=True, config={"daemon.drain_time": "200ms", "test.faults": ["resident~3600000"]}) as d:
        call = d.c.start("PreloadSRS", circuit_id="null-a")
        wait_until("loading", lambda: "loading parameters" in d.log())
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON, d.log()
        assert call.exception().code() == grpc.StatusCode.UNAVAILABLE
        d.process = None


def test_end_while_nothing_listens(cuzk):
    """A stage that does not hear of the end does not hold it up either."""
    config = {"daemon.drain_time": "200ms", "test.faults": ["finish~3600000"]}
    with Daemon(cuzk, test=True, config=config) as d:
        call = d.c.start("Prove", submit=d.null("", "deaf"))
        wait_until("the last stage", lambda: d.status()["buffers"]["pending_handles"] == 1)
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        assert result_or_code(call) == grpc.StatusCode.UNAVAILABLE
        assert d.wait_end() == 0 and time.monotonic() - begin < SOON, d.log()
        d.stop()
        d.config["test.faults"] = []
        d.start()
        assert d.prove(d.null("", "deaf")).status == COMPLETED


def test_log_of_jobs(cuzk):
    """A few lines a job, each with its id, whatever the id holds; failures with their reason."""
    odd = "wdpost-1000-0-[1 2 3]\n\"\\ \u00e9"
    with Daemon(cuzk, test=True) as d:
        assert d.prove(d.null("", odd)).status == COMPLETED
        assert d.prove(d.null("fail=witness:E_INTERNAL", "bad")).status == FAILED
        wait_until("the lines", lambda: "job failed" in d.log())
        lines = d.log().splitlines()
        quoted = 'job="wdpost-1000-0-[1 2 3]\\n\\"\\\\ \u00e9"'
        assert sum(quoted in l and '"job accepted"' in l for l in lines) == 1, d.log()
        assert sum(quoted in l and '"job completed"' in l and "total_ms=" in l for l in lines) == 1, d.log()
        failed = [l for l in lines if '"job failed"' in l]
        assert len(failed) == 1 and "job=bad" in failed[0] and " warn " in failed[0] and "reason=" in failed[0], failed


def test_device_faults_are_told(cuzk):
    """A device that proves wrongly twice is taken out: an error in the log, /status and metrics say which and why."""
    with Daemon(cuzk, test=True, config={"test.faults": ["proof@0*2"]}) as d:
        d.prove(d.null("", "x"))
        wait_until("the device is out", lambda: d.status()["devices"][0]["out"])
        device = d.status()["devices"][0]
        assert device["faults"] >= 2 and device["reason"], device
        assert "partition is proved again" in d.log() and '"device is no longer used" device=cpu' in d.log(), d.log()
        m = d.metrics()
        assert m['cuzk_device_out{device="cpu"}'] == 1 and m["cuzk_partition_retries_total"] >= 1, m


def test_journal_faults_are_told(cuzk):
    """A disk that refuses: an error in the log and in metrics; when it takes writes again, that too."""
    # a commit of two records that fails is made anew as two: with three refusals one record at least
    # is refused, however acceptances and ends meet in commits
    with Daemon(cuzk, test=True, config={"test.faults": ["journal+1*3:E_FILE"]}) as d:
        for i in range(1000):
            if "takes writes again" in d.log():
                break
            try:
                d.prove(d.null("n=%d" % i, "j-%d" % i))
            except grpc.RpcError as e:
                assert e.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.FAILED_PRECONDITION), e
                time.sleep(0.01)
        errors = [l for l in d.log().splitlines() if " error " in l]
        assert len(errors) == 1 and "new work is refused" in errors[0], d.log()
        assert any(" info " in l and "takes writes again" in l for l in d.log().splitlines()), d.log()
        m = d.metrics()
        assert m["cuzk_journal_errors_total"] == 1 and m["cuzk_journal_failed"] == 0, m


def test_damaged_journal_is_told(cuzk):
    """BC-117: log, status and metrics say it; what was salvaged goes on, in a file that nobody else reads."""
    with Daemon(cuzk, test=True) as d:
        for i in range(4):
            d.c("SubmitProof", d.null("prove_us=300000 n=%d" % i, "s-%d" % i))
        d.kill()
        for name in os.listdir(d.folder):
            if name.startswith("journal.db") and "shm" not in name and "lock" not in name:
                data = bytearray(daemon.read(os.path.join(d.folder, name)))
                if name == "journal.db":
                    data[:200] = bytes(min(200, len(data)))
                else:  # the log, which has copies of pages, from a third of it on
                    third = len(data) // 3
                    data[third:third + 3000] = bytes(b ^ 0x5a for b in data[third:third + 3000])
                with open(os.path.join(d.folder, name), "wb") as f:
                    f.write(data)
                os.chmod(os.path.join(d.folder, name), 0o644)
        d.start()
        assert "the journal was damaged" in d.log(), d.log()
        assert "the journal was open to others" in d.log(), d.log()
        journal, m = d.status()["journal"], d.metrics()
        assert journal["was_damaged"] is True and m["cuzk_journal_damaged"] == 1, (journal, m)
        assert journal["salvaged_jobs"] == m["cuzk_journal_salvaged_jobs"], (journal, m)
        for name in os.listdir(d.folder):
            mode = os.stat(os.path.join(d.folder, name)).st_mode & 0o777
            assert not name.startswith("journal.db") or mode & 0o077 == 0, (name, oct(mode))


def test_counts(cuzk):
    """Metrics of many jobs: exact, and as many series as before."""
    with Daemon(cuzk, test=True) as d:
        before = len(d.metrics())
        daemon.threads(4, lambda t: [d.c("Prove", submit=d.null("units=2 n=%d-%d" % (t, i), "count-%d-%d" % (t, i)))
                                     for i in range(25)])
        for i in range(5):
            assert d.prove(d.null("fail=prove n=%d" % i, "f-%d" % i)).status == FAILED
        m = d.metrics()
        kind = '{proof_kind="null"}'
        assert m["cuzk_jobs_accepted_total" + kind] == 105 and m["cuzk_jobs_completed_total" + kind] == 100, m
        assert m["cuzk_jobs_failed_total" + kind] == 5 and m["cuzk_proofs_completed_total"] == 100, m
        assert m["cuzk_partitions_done_total" + kind] == 200 and m["cuzk_job_seconds_count" + kind] == 105, m
        assert m['cuzk_stage_seconds_count{stage="verify",proof_kind="null"}'] == 200, m
        assert m["cuzk_jobs_pending" + kind] + m["cuzk_jobs_in_progress" + kind] == 0
        assert len(m) < before + 200, "series of metrics grew from %d to %d" % (before, len(m))
        text = d.c("GetMetrics").prometheus_text
        assert [l for l in text.splitlines() if l.startswith("#")] == \
            [l for l in d.get("/metrics")[1].splitlines() if l.startswith("#")]


def test_timeline_lines(cuzk):
    with Daemon(cuzk, test=True, config={"logging.timeline": True, "logging.level": "error"}) as d:
        d.prove(d.null("units=1 witness_us=20000 prove_us=30000", "t"))
        lines = [l for l in d.log().splitlines() if l.startswith("TIMELINE,")]
        events = [l.split(",")[2] for l in lines]
        assert events == ["SYNTH_START", "SYNTH_END", "GPU_QUEUE", "GPU_PICKUP", "GPU_START", "GPU_END"], lines
        assert all(l.split(",")[3] == "t" for l in lines), lines
        assert int(re.search(r"synth_ms=(\d+)", lines[1]).group(1)) >= 20, lines
        assert int(re.search(r"gpu_ms=(\d+)", lines[5]).group(1)) >= 30, lines
        times = [int(l.split(",")[1]) for l in lines]
        assert times == sorted(times), lines


def test_status_is_quick_under_load(cuzk):
    """BC-108: /status is answered while hundreds of jobs are queued and parameters load."""
    with Daemon(cuzk, test=True, config={"gpus.gpu_workers_per_device": 1}) as d:
        daemon.threads(4, lambda t: [d.c("SubmitProof", d.null("circuit=null-slow n=%d-%d" % (t, i), "s-%d-%d" % (t, i)))
                                     for i in range(100)])
        times = []
        for _ in range(50):
            begin = time.monotonic()
            s = d.status()
            times.append(time.monotonic() - begin)
            assert sum(q["pending"] + q["in_progress"] for q in s["queues"]) == 400, s
            assert len(s["queued"]) <= 256 and len(s["pipelines"]) <= 256
        print("/status takes %.1f ms" % (sorted(times)[25] * 1000))
        d.open_gate("null-slow")
        wait_until("all done", lambda: d.unfinished() == 0)


if __name__ == "__main__":
    harness.main(globals())
