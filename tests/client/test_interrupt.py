# SPDX-License-Identifier: MIT OR Apache-2.0
"""SIGINT and SIGTERM while a command waits: it ends at once and says what goes on; jobs are never cancelled, files
never left behind. And a daemon that leaves and comes back while a job is waited for."""
import json, os, signal, subprocess, threading, time

from every_command import NO_PARAMETERS, every_command, good_answers
from fake_daemon import Daemon, Hang, completed, grpc, messages, unix
import harness


def start(cuzk, *line):
    return subprocess.Popen([cuzk.program, *map(str, line)], cwd=cuzk.scratch, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=dict(os.environ, **NO_PARAMETERS))


def end(process):
    out, err = process.communicate(timeout=60 * harness.SLOW)
    return process.returncode, out.decode(), err.decode()


def test_every_command(cuzk):
    called = threading.Semaphore(0)

    def hang(request):
        called.release()
        raise Hang()
    good = good_answers(cuzk)
    with Daemon(unix(cuzk), good) as d:
        before = cuzk.names()
        for i, c in enumerate(every_command(cuzk)):
            d.answers = dict(good, **{c.method: hang})
            p = start(cuzk, *c.line("--connect", unix(cuzk)))
            assert called.acquire(timeout=60 * harness.SLOW)
            p.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3])
            code, out, err = end(p)
            assert code == 1 and out == "" and err.startswith("cuzk ") and err.count("\n") == 1, (c.name, code, out, err)
            words = "interrupted" if c.waits or c.name == "bench" else "CANCELLED"
            assert words in err, (c.name, err)
            if c.waits:
                assert "goes on: cuzk await fetches its proof, cuzk cancel ends it" in err, err
            assert set(cuzk.names()) - {"request.json"} == set(before) - {"request.json"}, (c.name, cuzk.names())
            if c.name != "cancel":
                assert not d.of("CancelProof"), c.name
            while called.acquire(blocking=False):
                pass
            d.requests = [r for r in d.requests if r[0] != "CancelProof"]


def test_between_two_calls(cuzk):
    """What was not done is not called done: a signal after the first of three arguments."""
    process, ready = [], threading.Event()

    def answer(request):
        ready.wait(20)
        process[0].send_signal(signal.SIGINT)
        return messages()[0].CancelProofResponse(was_running=True)
    for more in ([], ["--json"]):
        ready.clear()
        del process[:]
        with Daemon(unix(cuzk), {"CancelProof": answer}) as d:
            process.append(start(cuzk, "cancel", "a", "b", "c", "--connect", unix(cuzk), *more))
            ready.set()
            code, out, err = end(process[0])
            assert code == 1 and len(d.of("CancelProof")) < 3, (code, out, err)
            assert "interrupted" in err or "CANCELLED" in err, err
            assert not more or json.loads(out)["ok"] is False, out


def test_bench_tells_what_was_sent(cuzk):
    called = threading.Semaphore(0)

    def hang(request):
        called.release()
        raise Hang()
    with Daemon(unix(cuzk), dict(good_answers(cuzk), ProveWitness=hang)):
        c = next(c for c in every_command(cuzk) if c.name == "bench")
        p = start(cuzk, *c.line("--connect", unix(cuzk), "--concurrency", 2))
        for _ in range(2):
            assert called.acquire(timeout=60 * harness.SLOW)
        p.send_signal(signal.SIGINT)
        code, out, err = end(p)
        assert code == 1 and "interrupted after 0 of 2 jobs; those that were sent go on" in err, (code, out, err)


def test_watch_ends_well(cuzk):
    """The signal is what ends a watch; a daemon that is gone ends it as a failure, unless somebody looks."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        p = start(cuzk, "status", "--watch", "--every", "0.01", "--json", "--connect", unix(cuzk))
        while len(d.requests) < 3:
            time.sleep(0.005)
        p.send_signal(signal.SIGTERM)
        code, out, err = end(p)
        assert code == 0 and err == "", (code, err)
        looks = [json.loads(line) for line in out.splitlines()]
        assert len(looks) >= 2 and all(look["completed"] == 3 for look in looks), looks
        p = start(cuzk, "status", "--watch", "--every", "0.01", "--connect", unix(cuzk))
        while len(d.requests) < 6:
            time.sleep(0.005)
    code, out, err = end(p)
    assert code == 1 and err.count("\n") == 1 and "daemon at" in out, (code, err)


def test_a_daemon_that_leaves(cuzk):
    """UNAVAILABLE by its own word while a job is waited for: the next one is asked; the wait ends well."""
    answers = [(grpc.StatusCode.UNAVAILABLE, "shutting down"), (grpc.StatusCode.UNAVAILABLE, "not yet")]
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        d.answers["AwaitProof"] = lambda r: answers.pop(0) if answers else completed(r.job_id)
        r = cuzk.ok("await", "j", "--connect", unix(cuzk), "--progress")
        assert r.err.count("the connection is lost, trying again") == 2 and len(d.of("AwaitProof")) == 3, r
        # within a limit of time only as long as that lasts
        d.answers["AwaitProof"] = (grpc.StatusCode.UNAVAILABLE, "shutting down")
        begin = time.monotonic()
        r = cuzk.fails(1, "UNAVAILABLE: shutting down", "await", "j", "--connect", unix(cuzk), "--timeout", "0.7")
        assert time.monotonic() - begin > 0.5, r
        # submissions believe it
        d.answers["SubmitProof"] = (grpc.StatusCode.UNAVAILABLE, "shutting down")
        c = every_command(cuzk)[0]
        cuzk.fails(1, "UNAVAILABLE: shutting down", *c.line("--connect", unix(cuzk)))
        assert len(d.of("SubmitProof")) == 1


def test_other_answers_end_a_wait(cuzk):
    """Nothing but a lost daemon is waited for."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        for code in ("NOT_FOUND", "INTERNAL", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "ABORTED", "UNKNOWN"):
            d.answers["AwaitProof"] = (getattr(grpc.StatusCode, code), "why")
            before = len(d.requests)
            cuzk.fails(1, code + ": why", "await", "j", "--connect", unix(cuzk))
            assert len(d.requests) == before + 1, (code, d.requests[before:])


if __name__ == "__main__":
    harness.main(globals())
