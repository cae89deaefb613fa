# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon that is started while a card of gpus.devices is dead (a driver whose devices are the host, tests/cuda/emulator):
it goes on with the others, and takes the card when it is there; it refuses where none is."""
import os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon
from daemon import Daemon, harness, read, wait_until


def environment(cuzk, **more):
    return {"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda"), "CUZK_EMULATED_DEVICES": "2", **more}


def prove(cuzk, d, name, n):
    for i in range(n):
        answer = d.c("ProveWitness", circuit="mul", witness=read(cuzk.circom("bn254", "multiplier2", "witness.wtns")),
                     request_id="%s-%d" % (name, i))
        assert answer.status == daemon.COMPLETED, answer
        cuzk.write("proof.json", answer.proof_json.encode())
        cuzk.write("public.json", answer.public_json.encode())
        cuzk.ok("verify", cuzk.circom("bn254", "multiplier2", "verification_key.json"), "public.json", "proof.json")


def command(cuzk, d, *args):
    return cuzk("devices", *args, "--connect", "unix://" + d.socket)


def start(cuzk, devices, **more):
    d = Daemon(cuzk, config={"gpus.devices": devices}, env=environment(cuzk, **more))
    shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), d.folder + "/circom/mul.zkey")
    return d


def test_broken_at_the_start(cuzk):
    """The second of two cannot be opened: jobs are proved on the first; then it can, and is added."""
    cuzk.write("broken", b"")
    with start(cuzk, ["0", "1"], CUZK_EMULATED_BROKEN=cuzk.path("broken")) as d:
        first, second = d.status()["devices"]
        assert (first["id"], first["state"]) == ("cuda:0", "used"), first
        assert (second["id"], second["state"], second["out"]) == ("cuda:1", "lost", True), second
        assert "CUDA_ERROR" in second["reason"], second
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        prove(cuzk, d, "without", 2)
        failed = command(cuzk, d, "add", "1")
        assert failed.code == 1 and "device cuda:1 is not used" in failed.err and "CUDA_ERROR" in failed.err, failed
        text = read(d.log_path).decode()
        assert '"device could not be opened" device=cuda:1' in text and "CUDA_ERROR" in text, text
        assert "cuzk-daemon ready" in text
        os.remove(cuzk.path("broken"))
        assert command(cuzk, d, "add", "1").code == 0  # or it came by itself meanwhile
        assert d.status()["devices"][1]["state"] == "used"
        assert command(cuzk, d, "drain", "0").code == 0
        prove(cuzk, d, "there", 2)
        assert d.status()["devices"][1]["residents"], d.status()


def test_it_comes_by_itself(cuzk):
    cuzk.write("broken", b"")
    with start(cuzk, ["0", "1"], CUZK_EMULATED_BROKEN=cuzk.path("broken")) as d:
        assert d.status()["devices"][1]["state"] == "lost"
        os.remove(cuzk.path("broken"))
        wait_until("it is used", lambda: d.status()["devices"][1]["state"] == "used")


def test_not_there(cuzk):
    """A number that no card has is told, beside a card and beside the processor."""
    for devices in (["0", "7"], ["cpu", "7"]):
        with start(cuzk, devices) as d:
            _, missing = d.status()["devices"]
            assert (missing["id"], missing["state"]) == ("cuda:7", "lost"), missing
            assert "it is not there: 2 cards were found" in missing["reason"] or "not begun anew" in missing["reason"], missing
            d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
            prove(cuzk, d, "beside-%s" % devices[0], 1)


def test_nobody_named_cards(cuzk):
    """BC-060: without gpus.devices the daemon goes on with what can be used, and says why it is not more."""
    broken = cuzk.write("broken", b"")
    none = "no card can be used: the CPU proves"
    for name, fault, says, reason, used in (
            ("none", {"CUZK_EMULATED_FAULT": "none"}, none, "CUDA_ERROR_NO_DEVICE", ["cpu"]),
            ("image", {"CUZK_EMULATED_FAULT": "image"}, none, "cuda:0: ", ["cpu"]),
            ("one", {"CUZK_EMULATED_BROKEN": broken}, "not all cards can be used", "cuda:1: ", ["cuda:0"]),
            ("both", {}, None, None, ["cuda:0", "cuda:1"])):
        d = Daemon(cuzk, name=name, env=environment(cuzk, **fault))
        shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), d.folder + "/circom/mul.zkey")
        with d:
            assert [x["id"] for x in d.status()["devices"]] == used, d.status()["devices"]
            lines = [l for l in read(d.log_path).decode().splitlines() if " warn " in l and "card" in l]
            assert len(lines) == (says is not None), lines
            assert says is None or says in lines[0] and reason in lines[0], lines
            assert d.c("RegisterCircuit", name="mul", zkey_path="mul.zkey")
            prove(cuzk, d, name, 1)
            busy = {k for k, v in d.metrics().items() if k.startswith("cuzk_device_busy_seconds_total") and v > 0}
            assert busy and busy <= {'cuzk_device_busy_seconds_total{device="%s"}' % x for x in used}, busy
    with Daemon(cuzk, name="meant", config={"gpus.devices": ["cpu"]}, env=environment(cuzk, CUZK_EMULATED_FAULT="none")) as d:
        assert "card" not in read(d.log_path).decode(), d.log()


def refused(cuzk, devices):
    """What a daemon says that does not start."""
    d = Daemon(cuzk, config={"gpus.devices": devices}, env=environment(cuzk)).spawn()
    assert d.wait_end() != 0
    return d.log()


def test_none_is_there(cuzk):
    text = refused(cuzk, ["7", "8"])
    for id in ("7", "8"):
        assert 'device "cuda:%s": it is not there: 2 cards were found' % id in text.replace('\\"', '"'), text
    text = refused(cuzk, ["0", "gpu1"])
    assert "is no device: expected the number of a GPU" in text and "gpu1" in text, text


if __name__ == "__main__":
    harness.main(globals())
