# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices that come and go under a running daemon: `cuzk devices drain` and `add`, and one of two that is lost under
load (the empty work's device null:1, beside the processor)."""
import os, signal, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import COMPLETED, Client, Daemon, harness, null_proof, read, wait_until


TWO = {"CUZK_TEST_DEVICES": "2"}
OPENING = 5  # DeviceInfo.State


def command(cuzk, d, *args):
    return cuzk.ok("devices", *args, "--json", "--connect", "unix://" + d.socket).json()


def device(d, id):
    return next(x for x in d.status()["devices"] if x["id"] == id)


def start_jobs(d, name, n, text):
    return [d.c.start("Prove", submit=d.null("%s n=%d" % (text, i), "%s-%d" % (name, i))) for i in range(n)]


def check_jobs(jobs, n_units, text):
    for i, job in enumerate(jobs):
        result = job.result().result
        assert result.status == COMPLETED, result
        assert result.proof == null_proof(("%s n=%d" % (text, i)).encode(), n_units), result.job_id


def test_drain_and_add(cuzk):
    with Daemon(cuzk, test=True, env=TWO) as d:
        listed = command(cuzk, d, "--server")["devices"]
        assert [(x["id"], x["state"]) for x in listed] == [("cpu", "used"), ("null:1", "used")], listed
        held = [d.c.start("Prove", submit=d.null("gate=open held=%d" % i, "held-%d" % i)) for i in range(4)]
        wait_until("both are busy", lambda: all(x["partitions"] == 2 for x in command(cuzk, d, "--server")["devices"]))
        answer = command(cuzk, d, "drain", "1", "--no-wait")
        assert (answer["id"], answer["was"], answer["state"]) == ("null:1", "used", "draining"), answer
        told = device(d, "null:1")
        assert told["state"] == "draining" and told["out"] and told["reason"] == "as asked", told
        assert device(d, "cpu")["state"] == "used"
        failed = cuzk("devices", "drain", "1", "--timeout", "3", "--connect", "unix://" + d.socket)
        assert failed.code == 1 and "still being drained: 2 partitions run there" in failed.err, failed
        d.open_gate("open")
        answer = command(cuzk, d, "drain", "null:1")  # waits
        assert answer["state"] == "drained", answer
        assert [h.result().result.status for h in held] == [COMPLETED] * 4
        assert command(cuzk, d, "drain", "null:1")["was"] == "drained"
        check_jobs(start_jobs(d, "without", 10, "units=2"), 2, "units=2")
        m = d.metrics()
        assert m['cuzk_device_state{device="null:1",state="drained"}'] == 1, m
        assert m['cuzk_device_state{device="null:1",state="used"}'] == 0, m
        assert m['cuzk_device_out{device="null:1"}'] == 1 and m['cuzk_device_out{device="cpu"}'] == 0, m
        assert "device null:1 is drained: as asked" in cuzk.ok(
            "status", "--connect", "unix://" + d.socket, "--status", "127.0.0.1:%d" % d.http_port).out
        answer = command(cuzk, d, "add", "1")
        assert (answer["was"], answer["state"]) == ("drained", "used"), answer
        assert command(cuzk, d, "add", "1")["was"] == "used"
        assert not device(d, "null:1")["out"]
        for words in (("drain", "2"), ("add", "cuda:0")):
            failed = cuzk("devices", *words, "--connect", "unix://" + d.socket)
            assert failed.code == 1 and "there are cpu, null:1" in failed.err, failed
        text = read(d.log_path).decode()
        for line in ('"device is being drained" device=null:1', '"device is drained" device=null:1',
                     '"device is used again" device=null:1'):
            assert text.count(line) == 1, (line, text)


def test_last_one(cuzk):
    """What was accepted waits and is proved when a device is added, even by the next process; new work is refused."""
    d = Daemon(cuzk, test=True)
    with d:
        held = d.c.start("Prove", submit=d.null("units=5 gate=open", "held"))
        wait_until("it runs", lambda: command(cuzk, d, "--server")["devices"][0]["partitions"] > 0)
        assert command(cuzk, d, "drain", "cpu", "--no-wait")["state"] == "draining"
        d.open_gate("open")
        assert command(cuzk, d, "drain", "cpu")["state"] == "drained"
        d.c.fails("UNAVAILABLE", "no device is left to prove on: cpu is drained (as asked)", "Prove",
                  submit=d.null("", "refused"))
        waits = wait_until("it waits", lambda: [j for j in d.status()["pipelines"] if j["waits_for"]])[0]["waits_for"]
        assert waits == {"reason": "device", "text": "a device: none is used"}, waits
        assert not held.done()
        command(cuzk, d, "add", "cpu")
        result = held.result().result
        assert result.status == COMPLETED and result.proof == null_proof(b"units=5 gate=open", 5)


def test_end_with_last_one_drained(cuzk):
    """Where no device can come by itself the end does not wait for daemon.drain_time; the next start proves the job."""
    d = Daemon(cuzk, test=True, config={"daemon.drain_time": "1h"})
    with d:
        held = d.c.start("Prove", submit=d.null("units=5 gate=open", "held"))
        wait_until("it runs", lambda: command(cuzk, d, "--server")["devices"][0]["partitions"] > 0)
        command(cuzk, d, "drain", "cpu", "--no-wait")
        d.open_gate("open")
        command(cuzk, d, "drain", "cpu")
        d.process.send_signal(signal.SIGTERM)
        assert d.wait_end() == 0 and "no device is left to prove on" in d.log(), d.log()
        assert held.exception() is not None  # the server ended
        d.stop()
        d.start()
        result = d.c("AwaitProof", job_id="held", timeout_ms=60000)
        assert result.status == COMPLETED and result.proof == null_proof(b"units=5 gate=open", 5), result


def test_lost_under_load(cuzk):
    """One of two is lost under load and cannot be begun anew at first: every job is proved rightly, the other device
    never stops, and the lost one comes back by itself."""
    faults = ["prove@1+3*1:E_DEVICE_LOST", "open@1*2:E_DEVICE"]
    with Daemon(cuzk, test=True, env=TWO, config={"test.faults": faults}) as d:
        text = "units=3 prove_us=2000"
        check_jobs(start_jobs(d, "load", 60, text), 3, text)
        back = wait_until("it is back", lambda: device(d, "null:1")["renewals"] == 1 and device(d, "null:1"))
        assert back["state"] == "used" and not back["out"] and back["faults"] == 0, back
        assert device(d, "cpu")["state"] == "used" and device(d, "cpu")["renewals"] == 0
        assert d.c("GetStatus").total_proofs_failed == 0
        renewed = '"device was lost and begun anew" device=null:1'
        text = wait_until("it is told", lambda: (lambda log: renewed in log and log)(read(d.log_path).decode()))
        for line in ('"device is lost and will be begun anew" device=null:1', '"device is no longer used" device=null:1',
                     '"device could not be opened" device=null:1', renewed):
            assert text.count(line) == 1, (line, text)


def test_add_takes_long(cuzk):
    """A driver that hangs while a device is opened keeps no thread of the server: any number of calls that add it, and
    those that come after, are answered meanwhile. Whoever waits hears why it was not opened."""
    with Daemon(cuzk, test=True, env=TWO, config={"test.faults": ["open@1*1~6000:E_DEVICE"]}) as d:
        command(cuzk, d, "drain", "1")
        answer = command(cuzk, d, "add", "1", "--no-wait")
        assert (answer["was"], answer["state"]) == ("drained", "opening"), answer
        for _ in range(8):  # more than there are threads for calls that block
            assert d.c("AddDevice", device="1").was == OPENING
        assert not d.c("PreloadSRS", circuit_id="null-a").already_loaded
        failed = cuzk("devices", "add", "1", "--timeout", "0.2", "--connect", "unix://" + d.socket)
        assert failed.code == 1 and "device null:1 is still being opened and tested" in failed.err, failed
        failed = cuzk("devices", "add", "1", "--connect", "unix://" + d.socket)
        assert failed.code == 1 and ("device null:1 is not used: it is drained (not opened: a fault was asked for at open)"
                                     in failed.err), failed
        assert command(cuzk, d, "add", "1")["state"] == "used"


def test_lost_and_added(cuzk):
    """An operator need not wait for the next try."""
    faults = ["prove@1*1:E_DEVICE_LOST", "open@1*7:E_DEVICE"]
    with Daemon(cuzk, test=True, env=TWO, config={"test.faults": faults}) as d:
        check_jobs(start_jobs(d, "load", 20, "units=2 prove_us=1000"), 2, "units=2 prove_us=1000")
        lost = wait_until("it is lost", lambda: device(d, "null:1")["out"] and device(d, "null:1"))
        assert lost["state"] == "lost" and "a fault was asked for at open" in lost["reason"], lost
        n_tries = 0
        while True:
            answer = cuzk("devices", "add", "1", "--connect", "unix://" + d.socket)
            if answer.code == 0:
                break
            assert "device null:1 is not used" in answer.err and "a fault was asked for" in answer.err, answer
            n_tries += 1
        assert n_tries <= 6 and device(d, "null:1")["state"] == "used"
        d.c.fails("NOT_FOUND", "there are cpu, null:1", "AddDevice", device="")


def test_lost_while_another_is_opened(cuzk):
    """The last device that is used is lost while an operator has another one opened: where that fails, too, the daemon
    executes itself again, and the next process proves what was accepted."""
    faults = ["prove@1*1:E_DEVICE_LOST", "open@1*1:E_DEVICE", "open@1~6000:E_DEVICE",
              "prove@0+40*1:E_DEVICE_LOST", "open@0:E_DEVICE"]
    with Daemon(cuzk, test=True, env=TWO, config={"test.faults": faults}) as d:
        n = 0  # units, all of them proved by the processor
        while not device(d, "null:1")["out"]:
            check_jobs(start_jobs(d, "before-%d" % n, 1, "units=2 prove_us=1000"), 2, "units=2 prove_us=1000")
            n += 2
        assert n <= 40, n
        command(cuzk, d, "add", "1", "--no-wait")
        held = d.c.start("Prove", submit=d.null("units=%d last=1" % (41 - n), "held"))
        wait_until("it is executed again", lambda: "the daemon executes itself again" in read(d.log_path).decode())
        assert held.exception() is not None  # its connection ended
        options = [("grpc.min_reconnect_backoff_ms", 300000)]  # how long a connection may take, too
        with Client("unix:" + d.socket, options) as again:  # waits in the socket until the new program accepts
            result = again("AwaitProof", job_id="held", timeout_ms=60000)
        assert result.status == COMPLETED and result.proof == null_proof(b"units=%d last=1" % (41 - n), 41 - n), result
        assert device(d, "cpu")["state"] == "used"


if __name__ == "__main__":
    harness.main(globals())
