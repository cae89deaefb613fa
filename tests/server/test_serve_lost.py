# SPDX-License-Identifier: MIT OR Apache-2.0
"""A device that is lost under the daemon (a driver whose device is the host, tests/cuda/emulator): begun anew, or, where
the driver does not allow that, by executing the daemon again; what clients see of either."""
import os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon
from daemon import Client, Daemon, harness, read, wait_until

import grpc


def start(cuzk, fault, **config):
    """A daemon on that device with a circuit; the fault comes with the file that is returned."""
    trigger = cuzk.path("trigger")
    d = Daemon(cuzk, config=config, env={"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda"),
                                         "CUZK_EMULATED_FAULT": "%s@%s" % (fault, trigger)})
    shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), d.folder + "/circom/mul.zkey")
    return d, trigger


def witness(cuzk):
    return read(cuzk.circom("bn254", "multiplier2", "witness.wtns"))


def check(cuzk, answer):
    assert answer.status == daemon.COMPLETED, answer
    cuzk.write("proof.json", answer.proof_json.encode())
    cuzk.write("public.json", answer.public_json.encode())
    cuzk.ok("verify", cuzk.circom("bn254", "multiplier2", "verification_key.json"), "public.json", "proof.json")


def log(d):
    return read(d.log_path).decode()


def test_begun_anew(cuzk):
    """The client of the unit that lost the device gets its proof, and notices nothing."""
    d, trigger = start(cuzk, "lost")
    with d:
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        check(cuzk, d.c("ProveWitness", circuit="mul", witness=witness(cuzk), request_id="before"))
        memory = d.status()["devices"][0]["memory"]  # of its one key
        assert memory["key"] > 0 and memory["witness"] > 0 and memory["workspace"] > 0 and memory["staging"] == 0, memory
        pinned = d.status()["pinned"]
        assert pinned["used_bytes"] <= pinned["peak_bytes"] <= pinned["limit_bytes"], pinned
        cuzk.write("trigger", b"")
        check(cuzk, d.c("ProveWitness", circuit="mul", witness=witness(cuzk), request_id="meanwhile"))
        assert not os.path.exists(trigger)
        check(cuzk, d.c("ProveWitness", circuit="mul", witness=witness(cuzk), request_id="after"))
        device = d.status()["devices"][0]
        assert device["id"] == "cuda:0" and not device["out"] and device["faults"] == 0 and device["renewals"] == 1, device
        assert device["memory"] == memory, device  # put there again, once
        assert log(d).count("device was lost and begun anew") == 1, log(d)
        assert "CUDA_ERROR" in log(d), log(d)


def test_executed_again(cuzk):
    """The client's connection ends as UNAVAILABLE; it connects again to the same socket, and has its proof, which the
    journal's job gave. The process stays the same one, and removes its socket in the end."""
    d, trigger = start(cuzk, "dead")
    with d:
        pid, port = d.process.pid, d.http_port
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        cuzk.write("trigger", b"")
        d.c.fails("UNAVAILABLE", "", "ProveWitness", circuit="mul", witness=witness(cuzk), request_id="id")
        options = [("grpc.min_reconnect_backoff_ms", 300000)]  # how long a connection may take, too
        with Client("unix:" + d.socket, options) as again:  # waits in the socket until the new program accepts
            check(cuzk, again("ProveWitness", circuit="mul", witness=witness(cuzk), request_id="id", timeout=120))
        assert d.process.poll() is None and d.process.pid == pid
        assert "the daemon executes itself again" in log(d) and log(d).count("cuzk-daemon ready") == 2, log(d)
        device = wait_until("the HTTP port", lambda: d.status())["devices"][0]
        assert not device["out"] and device["renewals"] == 0, device
        assert not os.path.exists(trigger) and port == d.http_port
    assert not os.path.exists(d.socket)


def test_no_journal(cuzk):
    """Without a journal jobs would be lost: the daemon stays, and refuses new work as unavailable."""
    d, trigger = start(cuzk, "dead", **{"journal.path": "", "daemon.drain_time": "1s"})
    with d:
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        cuzk.write("trigger", b"")
        call = d.c.start("ProveWitness", circuit="mul", witness=witness(cuzk), request_id="id")
        wait_until("the device is out", lambda: d.status()["devices"][0]["out"])
        d.c.fails("UNAVAILABLE", "cuda:0", "ProveWitness", circuit="mul", witness=witness(cuzk), request_id="other")
        assert "there is no journal" in log(d) and log(d).count("cuzk-daemon ready") == 1, log(d)
        call.cancel()


if __name__ == "__main__":
    harness.main(globals())
