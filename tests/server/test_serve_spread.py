# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon with three cards (a driver whose devices are the host, tests/cuda/emulator): a circuit that is loaded by name is on
all of them, read once, and /status, the log and the recording tell how it came to each."""
import os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon
from daemon import Daemon, harness, read


def start(cuzk, **env):
    d = Daemon(cuzk, env={"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda"), "CUZK_EMULATED_DEVICES": "3", **env})
    shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), d.folder + "/circom/mul.zkey")
    return d


def load(cuzk, d):
    """By name; returns what /status tells of each device."""
    d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
    d.c("PreloadSRS", circuit_id="circom:mul")
    told = []
    for n, device in enumerate(d.status()["devices"]):
        assert device["id"] == "cuda:%d" % n and len(device["residents"]) == 1, device
        one = device["residents"][0]
        assert one["circuit_id"] == "circom:mul" and one["bytes"] > 0 and one["seconds"] > 0 and one["gb_per_second"] >= 0, one
        told.append(one)
    assert len(told) == 3
    return told


def prove(cuzk, d, n):
    for i in range(n):
        answer = d.c("ProveWitness", circuit="mul", witness=read(cuzk.circom("bn254", "multiplier2", "witness.wtns")), request_id="id-%d" % i)
        assert answer.status == daemon.COMPLETED, answer
        cuzk.write("proof.json", answer.proof_json.encode())
        cuzk.write("public.json", answer.public_json.encode())
        cuzk.ok("verify", cuzk.circom("bn254", "multiplier2", "verification_key.json"), "public.json", "proof.json")


def test_peers(cuzk):
    """One from the file, the others from a card that had it."""
    with start(cuzk) as d:
        told = load(cuzk, d)
        sources = sorted(one["from"].split(" ")[0] for one in told)
        assert sources == ["file", "peer", "peer"], told
        assert all((one["read_bytes"] > 0) == (one["from"] == "file") for one in told), told
        text = read(d.log_path).decode()
        assert text.count("circom:mul: ") == 3 and text.count("from peer cuda:") == 2, text
        prove(cuzk, d, 3)
        status = cuzk.ok("status", "--connect", "unix:" + d.socket, "--status", "127.0.0.1:%d" % d.http_port).out
        assert status.count("peer cuda:") == 2, status
        listed = cuzk.ok("devices", "--server", "--json", "--connect", "unix:" + d.socket).json()["devices"]
        for device, one in zip(listed, told):
            assert len(device["residents"]) == 1, device
            here = device["residents"][0]
            assert here.pop("load_ms") == int(one["seconds"] * 1000 + 1e-9), (here, one)
            assert here == {k: one[k] for k in ("circuit_id", "from", "bytes", "read_bytes")}, (here, one)
        text = cuzk.ok("devices", "--server", "--connect", "unix:" + d.socket).out
        assert text.count(" from peer cuda:") == 2 and text.count("    circom:mul: ") == 3, text


def test_no_peers(cuzk):
    """Each from the host, which is read once for all of them."""
    with start(cuzk) as d:
        alone = sum(one["read_bytes"] for one in load(cuzk, d))  # by the one that has no peer
    with start(cuzk, CUZK_EMULATED_PEERS="none") as d:
        told = load(cuzk, d)
        assert all(one["from"] == "file" for one in told), told
        assert alone > 0 and sum(one["read_bytes"] for one in told) == alone, (alone, told)
        prove(cuzk, d, 3)


if __name__ == "__main__":
    harness.main(globals())
