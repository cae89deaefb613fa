# SPDX-License-Identifier: MIT OR Apache-2.0
"""Connections that end at any point, and ends that are no daemon: every command says so in one line, with the address,
and in time."""
import os

from every_command import NO_PARAMETERS, check_failure, every_command, good_answers
from fake_daemon import Daemon, Hang, messages, unix
from hostile import RawServer, answer_with, forward, http
import harness


def quick(cuzk):
    """Commands that ask once and do not look for a lost daemon again."""
    asks_again = ("SubmitProof", "AwaitProof", "ProveWitness")
    return [c for c in every_command(cuzk) if c.method not in asks_again]


def test_every_point(cuzk):
    """The daemon's answer is cut after every number of bytes up to its end; one command, the others at some."""
    with Daemon(unix(cuzk), good_answers(cuzk)):
        front = cuzk.path("front")

        def ends(c, limit):
            if os.path.exists(front):
                os.remove(front)
            with RawServer(forward(cuzk.path("sock"), limit), front):
                return cuzk(*c.line("--connect", "unix:" + front, "--timeout", 50))
        commands = quick(cuzk)
        metrics = next(c for c in commands if c.name == "metrics")
        whole = next(n for n in range(1000, 0, -50) if ends(metrics, n).code != 0) + 50
        outcomes = []
        for n in list(range(0, 60, 3)) + list(range(60, whole, 11)):
            r = ends(metrics, n)
            outcomes.append(r.code)
            if r.code != 0:
                check_failure(r, "unix:" + front)
                assert r.out == "", r
            else:
                assert r.out == "a 1\n", r
        # where the answer ends varies a little: gRPC's own frames come between as time passes
        assert outcomes.count(1) > 20 and not any(o == 0 for o in outcomes[:20]), outcomes
        for c in commands:
            for n in (0, 40, 90):
                r = ends(c, n)
                assert r.code in (0, 1), r
                if r.code == 1 and c.name != "bench":  # which counts its failures
                    check_failure(r, "unix:" + front)


def test_changed_bytes(cuzk):
    """Frames of HTTP/2 with wrong bytes: a failure, not a wrong result and no crash."""
    with Daemon(unix(cuzk), good_answers(cuzk)):
        front = cuzk.path("front")
        metrics = next(c for c in quick(cuzk) if c.name == "metrics")
        for at in (0, 3, 4, 8, 20, 50, 100):
            def flip(data, passed, at=at):
                data = bytearray(data)
                if passed <= at < passed + len(data):
                    data[at - passed] ^= 0x55
                return bytes(data)
            if os.path.exists(front):
                os.remove(front)
            with RawServer(forward(cuzk.path("sock"), None, flip), front):
                r = cuzk(*metrics.line("--connect", "unix:" + front, "--timeout", 1))
            assert r.code in (0, 1) and (r.code == 0) == (r.out == "a 1\n"), (at, r)


def test_ends_that_are_no_daemon(cuzk):
    """Closed at once, silent, another protocol: with each command, within its time limit."""
    def silent(connection, n):
        while connection.recv(65536):
            pass

    def garbage(connection, n):
        connection.sendall(b"\x00\xff" * 500)
        silent(connection, n)
    for name, talk, text in (("closed", lambda connection, n: None, "closed at once"), ("silent", silent, "no answer in time"),
                             ("garbage", garbage, ""), ("http", answer_with(http(b"{}")), "")):
        path = cuzk.path(name)
        with RawServer(talk, path):
            for c in quick(cuzk)[::2] if name == "silent" else every_command(cuzk)[::3]:
                r = cuzk(*c.line("--connect", "unix:" + path, "--timeout", 0.3), env=NO_PARAMETERS)
                assert r.code == 1 and "unix:" + path in r.err and text in r.err, (name, c.name, r)
                assert not set(c.writes) & set(cuzk.names()), (c.name, cuzk.names())


def test_a_submission_whose_answer_is_lost(cuzk):
    """The connection ends when the daemon has the job: the same id is asked for again, and the job is one."""
    good, lost = good_answers(cuzk), []
    front = cuzk.path("front")

    def talk(connection, n):
        forward(cuzk.path("sock"), 60 if n == 0 else None)(connection, n)
        lost.append(n)
    with Daemon(unix(cuzk), good) as d, RawServer(talk, front):
        for c in every_command(cuzk):
            if c.name == "submit winning":
                del lost[:]
                r = cuzk(*c.line("--connect", "unix:" + front), env=NO_PARAMETERS)
                assert r.code == 0, (c.name, r)
        ids = {r.request_id for r in d.of("SubmitProof")}
        assert len(ids) <= 2 and all(len(i) > 20 for i in ids), ids


def test_time_limits(cuzk):
    """--timeout ends every command. A wait hands it to the daemon, whose answer then is that the job goes on."""
    def hang(request):
        raise Hang()
    proving, _ = messages()
    good = good_answers(cuzk)
    with Daemon(unix(cuzk), good) as d:
        for c in every_command(cuzk):
            timeout = proving.AwaitProofResponse(job_id="j", status=4)
            seconds = 10 if c.waits else 0.05  # a submission before it is answered
            d.answers = dict(good, **{c.method: timeout if c.waits else hang})
            r = cuzk(*c.line("--connect", unix(cuzk), "--timeout", seconds), env=NO_PARAMETERS)
            text = "not done in time; it goes on" if c.waits else "no answer in time; "
            assert r.code == 1 and text in r.err, (c.name, r)
            assert not set(c.writes) & set(cuzk.names()), (c.name, cuzk.names())
        limits = [r.timeout_ms for r in d.of("AwaitProof")]
        assert len(limits) == 3 and all(1 <= ms <= 10000 for ms in limits), limits
        assert len(d.of("CancelProof")) <= 1, d.of("CancelProof")  # the command's: no job is cancelled by this


if __name__ == "__main__":
    harness.main(globals())
